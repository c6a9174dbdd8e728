//! Every way an engine can fail: the engine loses the game for the right reason,
//! the run goes on to its end, and no process stays behind.

use crate::support::bench::Bench;
use crate::support::plan::{Plan, Played};

/// A pair between an engine that fails (`A`) and one that does not (`B`).
fn pair<'a>(bench: &'a Bench, misdeed: &str) -> Plan<'a> {
    Plan::new(bench, "match", 1)
        .puppet("A", &format!("--seed 1 --mode {misdeed}"))
        .puppet("B", "--seed 2")
        // Long for a puppet, short for whoever waits for the test.
        .set("ready-deadline", 5)
        .set("move-deadline", 5)
        .set("stop-deadline", 1)
}

/// A has lost both games for `reason`, which makes the run invalid, and its
/// opponent has won them.
#[track_caller]
fn assert_lost(bench: &Bench, plan: Plan<'_>, reason: &str) -> Played {
    let played = plan.played(6);
    let report = &played.report;
    assert_eq!((report.games, report.losses), (2, 2), "{report:#?}");
    assert_eq!(report.ended_by(reason), 2, "{report:#?}");
    for game in played.games() {
        assert_eq!(game.half_points("B"), 2);
    }
    bench.wait_until_quiet();
    played
}

#[track_caller]
fn loses_by(misdeed: &str, reason: &str) -> Played {
    let bench = Bench::new();
    assert_lost(&bench, pair(&bench, misdeed), reason)
}

#[track_caller]
fn loses_on_the_clock(misdeed: &str) -> Played {
    let bench = Bench::new();
    assert_lost(&bench, pair(&bench, misdeed).set("each", "tc=2+0.1"), "time_forfeit")
}

/// The misdeed makes no difference to the moves, the results or the exit code.
#[track_caller]
fn does_no_harm(misdeed: &str) {
    let play = |misdeed: &str| {
        let bench = Bench::new();
        let played = pair(&bench, misdeed).played(0);
        bench.wait_until_quiet();
        played
    };
    let (with, without) = (play(misdeed), play("good"));
    assert_eq!(with.report, without.report);
    assert_eq!(with.moves(), without.moves());
}

#[test]
fn an_illegal_move_loses() {
    let played = loses_by("illegal-move --after 3", "illegal_move");
    // Two moves each before it in the first game, and White is A.
    assert_eq!(played.games()[0].moves.len(), 4, "the illegal move is not part of the game");
}

#[test]
fn a_null_move_is_an_illegal_move() {
    loses_by("null-move --after 3", "illegal_move");
}

#[test]
fn a_word_that_is_no_move_loses() {
    loses_by("garbage-bestmove --after 3", "unparseable_move");
}

#[test]
fn a_crash_loses() {
    loses_by("crash --after 3", "crash");
}

#[test]
fn a_crash_on_the_first_move_loses() {
    loses_by("crash", "crash");
}

#[test]
fn a_closed_pipe_loses() {
    loses_by("disconnect --after 3", "disconnect");
}

#[test]
fn a_closed_pipe_loses_though_the_process_ignores_being_told_to_end() {
    loses_by("disconnect --after 3 --ignore-term", "disconnect");
}

#[test]
fn a_hang_loses() {
    loses_by("hang --after 3", "stall");
}

#[test]
fn a_hang_that_only_a_kill_ends_loses() {
    loses_by("hang --after 3 --ignore-term", "stall");
}

#[test]
fn thinking_on_after_stop_loses() {
    loses_by("no-bestmove-answer-stop --after 3", "stall");
}

#[test]
fn talking_without_ever_moving_loses() {
    loses_by("flood-forever --after 3", "stall");
}

#[test]
fn not_being_ready_for_a_game_loses_it() {
    loses_by("no-readyok --in-game 1", "stall");
}

#[test]
fn a_slow_move_loses_on_the_clock() {
    loses_on_the_clock("slow --after 3 --delay-ms 10000");
}

#[test]
fn a_move_that_comes_after_the_flag_fell_loses_and_spoils_no_later_game() {
    loses_on_the_clock("late-bestmove --after 3");
}

#[test]
fn a_slow_move_without_a_clock_is_only_slow() {
    does_no_harm("slow --delay-ms 5");
}

#[test]
fn noise_does_no_harm() {
    for mode in ["flood", "stderr-noise", "nul-bytes", "huge-line", "lying-score"] {
        does_no_harm(&format!("{mode} --after 3"));
    }
}

#[test]
fn a_move_in_pieces_is_a_move() {
    does_no_harm("partial-line --delay-ms 1");
}

#[test]
fn an_engine_that_will_not_leave_is_made_to() {
    does_no_harm("ignore-quit");
    does_no_harm("ignore-quit --ignore-term");
}

#[test]
fn what_an_engine_has_started_leaves_with_it() {
    does_no_harm("spawn-grandchild --after 3");
}

#[test]
fn faults_within_the_limit_leave_the_run_valid() {
    let bench = Bench::new();
    let played = pair(&bench, "crash --after 3").set("fault-limit", 1).played(0);
    assert_eq!(played.report.ended_by("crash"), 2);
}

#[test]
fn both_engines_may_fail_and_each_loses_its_own_game() {
    let bench = Bench::new();
    // White comes to its third move first, and each is White once.
    let played = Plan::new(&bench, "match", 1)
        .puppet("A", "--mode crash --after 3 --seed 1")
        .puppet("B", "--mode illegal-move --after 3 --seed 2")
        .played(6);
    let report = &played.report;
    assert_eq!((report.ended_by("crash"), report.ended_by("illegal_move")), (1, 1), "{report:#?}");
    assert_eq!((report.wins, report.losses), (1, 1), "{report:#?}");
    assert_eq!(played.games()[0].half_points("B"), 2);
    assert_eq!(played.games()[1].half_points("A"), 2);
    bench.wait_until_quiet();
}

#[test]
fn an_answer_given_twice_does_no_harm() {
    does_no_harm("double-bestmove");
}

#[test]
fn options_without_end_are_refused() {
    let bench = Bench::new();
    let line = "option name X type button";
    let script = bench.write("endless.sh", format!("#!/bin/sh\nexec yes '{line}'\n"));
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&script, mode).expect("a file of ours");
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1");
    let finished = plan.engine(format!("name=B,cmd={}", script.display())).run().expect_code(3);
    assert!(finished.stderr.contains("options"), "{finished:#?}");
}
