//! Tests of engine faults: the engine loses the game for the right reason, the run continues to its
//! end, and no process remains. [`matrix`] plays the table of all faults; the tests below cover the
//! rest.

mod matrix;

use std::fs;
use std::time::{Duration, Instant};

use crate::records::latency;
use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::{expect_next, line_with};

/// Returns a pair between an engine that fails (`A`) and an engine that does not (`B`).
fn pair<'a>(bench: &'a Bench, misdeed: &str) -> Plan<'a> {
    Plan::new(bench, "match", 1)
        .puppet("A", &format!("--seed 1 --mode {misdeed}"))
        .puppet("B", "--seed 2")
        // The timeouts are long for a puppet, but short enough to keep the test fast.
        .set("deadlines ready", 5)
        .set("deadlines move", 5)
        .set("deadlines stop", 1)
}

/// Asserts that A has lost both games for `reason`, which makes the run invalid, and that its
/// opponent has won them.
#[track_caller]
fn assert_lost(bench: &Bench, plan: Plan<'_>, reason: &str) -> RunOutput {
    let played = plan.expect_output(6);
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
fn loses_by(misdeed: &str, reason: &str) -> RunOutput {
    let bench = Bench::new();
    assert_lost(&bench, pair(&bench, misdeed), reason)
}

#[test]
fn an_illegal_move_loses() {
    let played = loses_by("illegal-move --after 3", "illegal_move");
    // In the first game A is White, and each side makes two moves before the illegal move.
    assert_eq!(played.games()[0].moves.len(), 4, "the illegal move is not part of the game");
}

#[test]
fn faults_within_the_limit_leave_the_run_valid() {
    let bench = Bench::new();
    let played = pair(&bench, "crash --after 3").set("fault-limit", 1).expect_output(0);
    assert_eq!(played.report.ended_by("crash"), 2);
}

#[test]
fn each_failing_engine_loses_its_own_game() {
    let bench = Bench::new();
    // White reaches its third move first, and each engine is White once.
    let played = Plan::new(&bench, "match", 1)
        .puppet("A", "--mode crash --after 3 --seed 1")
        .puppet("B", "--mode illegal-move --after 3 --seed 2")
        .expect_output(6);
    let report = &played.report;
    assert_eq!((report.ended_by("crash"), report.ended_by("illegal_move")), (1, 1), "{report:#?}");
    assert_eq!((report.wins, report.losses), (1, 1), "{report:#?}");
    assert_eq!(played.games()[0].half_points("B"), 2);
    assert_eq!(played.games()[1].half_points("A"), 2);
    bench.wait_until_quiet();
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
    expect_next(&finished.stderr);
}

#[test]
fn faults_describe_their_cause() {
    for misdeed in ["crash", "exit-in-game", "illegal-move", "disconnect"] {
        let bench = Bench::new();
        let run = pair(&bench, &format!("{misdeed} --after 3")).switch("verbose").run();
        let run = run.expect_code(6);
        // The cause is reported when the game ends, before the line of its pair.
        let pair = run.stderr.find(" 1.1: ").expect("the line of a game");
        for game in [" 1.1 (A v B)", " 1.2 (B v A)"] {
            expect_next(line_with(&run.stderr[..pair], game));
        }
    }
}

#[test]
fn a_run_with_too_many_faults_ends_immediately() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 400).puppet("A", "--mode crash --after 3");
    let run = plan.puppet("B", "--seed 2").run().expect_code(6);
    expect_next(&run.stderr);
    let results = bench.path("results").display().to_string();
    let comment = ["report", "latest", "--format", "comment", "--results", &results];
    let comment = bench.arbiter(comment).finish().expect_code(0).stdout;
    expect_next(&comment);
}

#[test]
fn a_forfeit_waits_for_the_margin_and_is_reported_in_time() {
    // The margin, plus the usual overhead.
    let limit = Duration::from_millis(50 + 100);
    let bench = Bench::new();
    // The engine would think for a minute.
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--mode slow --delay-ms 60000");
    let plan = plan.puppet("B", "--seed 2").set("each", "tc=0.2,timemargin=50");
    let report = plan.run().expect_code(6).json();
    assert_eq!(report["terminations"]["time_forfeit"], 2, "{report:#}");
    let late = latency(&report, "A", "overrun").expect("it was late");
    let late = Duration::from_micros(late["max_us"].as_u64().expect("a time"));
    assert!(late < limit, "{late:?}");
}

#[test]
fn an_engine_that_ignores_stop_loses_after_the_timeout() {
    let report = |stop_deadline: f64| {
        let bench = Bench::new();
        let late = "--mode late-bestmove --delay-ms 700";
        let plan = Plan::new(&bench, "match", 1).puppet("A", late).puppet("B", "--seed 2");
        let plan = plan.set("each", "tc=0.2,timemargin=50").set("deadlines stop", stop_deadline);
        plan.run().expect_code(6).json()
    };
    let outcome = report(5.0);
    assert_eq!(outcome["terminations"]["time_forfeit"], 2, "{outcome:#}");
    let late = latency(&outcome, "A", "overrun").expect("it was late");
    assert!((600_000..5_000_000).contains(&late["max_us"].as_u64().expect("a time")), "{late}");
    let given_up = report(0.3);
    assert_eq!(given_up["terminations"]["stall"], 2, "{given_up:#}");
}

#[test]
fn an_engine_deaf_to_quit_is_gone_in_time() {
    let limit = Duration::from_secs(1);
    // Returns the duration of a run, and the number of processes of its engine A.
    let run = |deaf: &str| {
        let bench = Bench::new();
        let logged = format!("--seed 1 {deaf} {}", bench.logs());
        let plan = Plan::new(&bench, "match", 1).puppet("A", &logged).puppet("B", "--seed 2");
        let start = Instant::now();
        plan.run().expect_code(0);
        let took = start.elapsed();
        bench.wait_until_quiet();
        let processes = fs::read_dir(bench.path("logs")).expect("the logs can be listed").count();
        (took, u32::try_from(processes).expect("they are few"))
    };
    let (usual, _) = run("");
    let (took, processes) = run("--mode ignore-quit --ignore-term");
    // One process was tested before the run, one has played, and the run waited for both.
    assert!(processes >= 2, "{processes}");
    let each = took.saturating_sub(usual) / processes;
    assert!(each < limit, "{each:?}");
}
