//! Tests of stored transcripts of games, from which `arbiter replay` gets the same result.

use crate::support::bench::{Bench, Finished};
use crate::support::plan::Plan;
use crate::support::snapshot::{expect_next, without_figures};

fn replay(bench: &Bench, args: &[&str]) -> Finished {
    let results = bench.path("results").display().to_string();
    let args = ["replay", "--results", &results].into_iter().chain(args.iter().copied());
    bench.arbiter(args).finish()
}

/// Returns the rounds of the games whose transcripts are stored.
fn transcribed_games(bench: &Bench) -> Vec<String> {
    let listed = replay(bench, &["run"]).expect_code(0).stdout;
    let rounds = listed.lines().filter_map(|line| line.split_once("  "));
    rounds.map(|(round, _)| round.to_owned()).collect()
}

/// Replays all stored games, and asserts that there are `count` games, whose replays give the
/// stored results.
#[track_caller]
fn check(bench: &Bench, count: usize) {
    let rounds = transcribed_games(bench);
    assert_eq!(rounds.len(), count, "{rounds:?}");
    for round in rounds {
        replay(bench, &["run", &round]).expect_code(0);
    }
}

#[test]
fn abnormal_transcripts_are_stored_and_replay_alike() {
    for (mode, each) in [
        ("--mode exit-in-game", "nodes=1"),
        ("--mode disconnect", "nodes=1"),
        ("--mode same-square", "nodes=1"),
        ("--mode blank-bestmove", "nodes=1"),
        ("--mode hang", "tc=0.2"),
        ("--mode slow --delay-ms 900", "tc=0.5"),
        ("--mode late-bestmove", "tc=0.5"),
        ("--mode endless-line", "st=0.3"),
    ] {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 1).puppet("A", &format!("--seed 1 {mode}"));
        let plan = plan.puppet("B", "--seed 2").set("each", each).set("deadlines stop", 0.3);
        let ended = plan.run().expect_code(6);
        assert_eq!(ended.json()["games"], 2, "{mode}");
        check(&bench, 2);
    }
}

#[test]
fn ordinary_transcripts_are_stored_on_request() {
    let played = |transcripts: &str| {
        let bench = Bench::new();
        let plan = Plan::new(&bench, "match", 2).puppet("A", "--seed 1").puppet("B", "--seed 2");
        plan.set("transcripts", transcripts).expect_output(0);
        bench
    };
    let bench = played("abnormal");
    assert_eq!(transcribed_games(&bench), Vec::<String>::new());
    replay(&bench, &["run", "1.1"]).expect_error(3);
    assert_eq!(transcribed_games(&played("none")), Vec::<String>::new());
    let bench = played("all");
    assert_eq!(transcribed_games(&bench), ["1.1", "1.2", "2.1", "2.2"]);
    check(&bench, 4);
    let shown = replay(&bench, &["run", "1.2"]).stdout;
    expect_next(shown.lines().next().expect("a heading"));
    for part in ["A <- isready", "B -> bestmove "] {
        assert!(shown.contains(part), "no {part} in {shown}");
    }
}

#[test]
fn pondering_and_xboard_engines_are_replayed() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 2)
        .puppet_with("A", "--seed 1", ",ponder=true,tc=60+1")
        .puppet_with("B", "--seed 1 --proto xboard", ",proto=xboard,tc=60")
        .set("transcripts", "all")
        .set("max-moves", 40);
    plan.expect_output(0);
    check(&bench, 4);
}

#[test]
fn edited_transcripts_are_rejected() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1 --mode same-square");
    plan.puppet("B", "--seed 2").run().expect_code(6);
    let raw = replay(&bench, &["run", "1.1", "--raw"]).expect_code(0).stdout;
    let file = bench.write("game.txt", &raw);
    let name = file.to_str().expect("the name is ours");
    let by_file_name = replay(&bench, &[name]).expect_code(0);
    assert_eq!(by_file_name.stdout, replay(&bench, &["run", "1.1"]).stdout);
    let at = raw.find("bestmove a1a1").expect("it was said");
    bench.write("game.txt", format!("{}bestmove 0000{}", &raw[..at], &raw[at + 13..]));
    let differs = replay(&bench, &[name]).expect_code(1).stdout;
    expect_next(differs.lines().last().expect("an end"));
    let line = raw[..at].rfind('\n').expect("there are lines before it");
    bench.write("game.txt", &raw[..=line]);
    let short = replay(&bench, &[name]).expect_code(1).stdout;
    expect_next(short.lines().last().expect("an end"));
    bench.write("game.txt", "1. e4 e5\n");
    replay(&bench, &[name]).expect_error(3);
    replay(&bench, &["nobody", "1.1"]).expect_error(3);
    replay(&bench, &["run", "one"]).expect_error(3);
}

#[test]
fn floods_are_truncated_with_a_notice() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1 --mode flood-forever");
    let plan = plan.puppet("B", "--seed 2").set("each", "st=0.5").set("deadlines stop", 0.3);
    plan.run().expect_code(6);
    let size = std::fs::metadata(bench.path("results/arbiter.db")).expect("it is there").len();
    assert!(size < 2_000_000, "{size}");
    let raw = replay(&bench, &["run", "1.1", "--raw"]).expect_code(0).stdout;
    assert!(raw.len() < 2_000_000, "{}", raw.len());
    let shown = replay(&bench, &["run", "1.1"]).expect_code(1).stdout;
    expect_next(&without_figures(shown.lines().last().expect("an end")));
}

#[test]
fn start_failures_have_a_transcript() {
    let bench = Bench::new();
    let plan = Plan::new(&bench, "match", 1).puppet("A", "--seed 1 --mode no-readyok --in-game 2");
    plan.puppet("B", "--seed 2").set("deadlines ready", 0.5).run().expect_code(6);
    check(&bench, 1);
}
