//! Tests of engines that are late, exit or cannot be started, reported in the wording of the other
//! programs.

use super::{compat, duel, lines};
use crate::support::bench::{Bench, Finished};
use crate::support::programs;

/// Plays a match against an engine that answers `go` with a line of shell script.
fn against_shell(bench: &Bench, program: &str, go: &str, more: &str) -> Finished {
    let script = crate::load::engine(bench, "A", "", go);
    let path = script.split("args=").nth(1).expect("it is a script").trim_matches('"').to_owned();
    let puppet = programs::puppet().display().to_string();
    let args = format!("args=--seed 2 --marker {}", bench.marker());
    let engines =
        ["compat", program, "-engine", "cmd=sh", "name=A", &format!("args={path}"), "-engine"]
            .map(str::to_owned);
    let second = [format!("cmd={puppet}"), "name=B".to_owned(), args];
    let more = more.split_whitespace().map(str::to_owned);
    bench.arbiter(engines.into_iter().chain(second).chain(more)).finish()
}

#[test]
fn a_late_engine_loses_on_time_and_the_run_continues() {
    let more = "-each tc=0.3 -rounds 1 -games 2 -pgnout file=games.pgn";
    for go in
        ["sleep 4; echo bestmove e2e4", "", "sleep 1; echo bestmove a1a1", "sleep 1; echo bestmove"]
    {
        for program in ["fastchess", "cutechess"] {
            let bench = Bench::new();
            let finished = against_shell(&bench, program, go, more).expect_code(0);
            let ended = lines(&finished, "Finished game ");
            assert_eq!(ended.len(), 2, "{finished:#?}");
            assert!(ended.iter().all(|line| line.contains(" loses on time")), "{finished:#?}");
            let crashes = finished.stdout.contains("  Timeouts: 2\n  Crashed: 0\n");
            assert_eq!(crashes, program == "fastchess", "{finished:#?}");
            assert_eq!(
                bench.read("games.pgn").matches("[Termination \"time forfeit\"]").count(),
                2
            );
        }
    }
}

#[test]
fn a_crash_is_reported_before_its_game_ends() {
    let bench = Bench::new();
    let crash = ["--mode crash", "--seed 2"];
    let more = "-each nodes=1 -rounds 1";
    let finished = duel(&bench, "fastchess", crash, &format!("{more} -recover")).expect_code(0);
    let each = "Warning; Engine A is not responsive\nFinished game ";
    assert_eq!(finished.stdout.matches(each).count(), 2, "{finished:#?}");
    let finished = duel(&bench, "fastchess", crash, more);
    let first = "option set for engine, stopping tournament.\nFinished game 1 ";
    assert!(finished.stdout.contains(first), "{finished:#?}");
    assert!(!finished.stdout.contains("not responsive"), "{finished:#?}");
}

#[test]
fn a_start_failure_ends_the_run_with_the_original_output() {
    let bench = Bench::new();
    let more = "-each nodes=1 -rounds 2 -openings file=book.epd format=epd -pgnout file=games.pgn \
                -log file=x.log level=info";
    let absent = ["--mode exit-at-start", "--seed 2"];
    let finished = duel(&bench, "fastchess", absent, more).expect_code(1);
    let lines: Vec<&str> = finished.stdout.lines().collect();
    assert_eq!(
        lines[..2],
        [
            "Started game 1 of 4 (A vs B)",
            "Fatal; A engine startup failure: \"Engine didn't respond to uciok after startup\"",
        ]
    );
    assert!(lines[2].starts_with("Tournament was interrupted. To resume the tournament, run: "));
    assert_eq!(lines[3], "Finished match");
    assert_eq!(bench.read("games.pgn"), "");
    assert!(bench.read("x.log").contains("[FATAL ]"), "{}", bench.read("x.log"));
    let saved: serde_json::Value = serde_json::from_str(&bench.read("config.json")).expect("JSON");
    assert_eq!(saved["rounds"], 2);
    // The command in the message works.
    let again = bench.arbiter(["compat", "fastchess", "-config", "file=config.json"]).finish();
    assert!(again.expect_code(1).stdout.contains("Fatal; A engine startup failure"));
}

#[test]
fn options_without_effect_are_silent_and_others_logged_and_saved() {
    let bench = Bench::new();
    let more = "-each nodes=1 trust option.Nope=1 -rounds 1 -testEnv -show-latency -check-mate-pvs \
                -openings file=book.epd format=epd -log file=x.log level=info -srand 5";
    let finished = compat(&bench, "fastchess", more).expect_code(0);
    assert_eq!(finished.stderr, "");
    let log = bench.read("x.log");
    let messages: Vec<&str> = log.lines().filter_map(|line| line.split(" --- ").nth(1)).collect();
    assert_eq!(
        messages[..4],
        [
            "fastchess alpha 1.8.2 20260729-74deac23",
            "Setting seed to: 5",
            "Warning; A doesn't have option Nope",
            "Warning; B doesn't have option Nope",
        ]
    );
    let saved: serde_json::Value = serde_json::from_str(&bench.read("config.json")).expect("JSON");
    assert_eq!(saved["check_mate_pvs"], true);
    let finished = bench
        .arbiter(["compat", "fastchess", "-config", "file=config.json", "discard=true"])
        .finish();
    assert!(finished.stdout.starts_with("Discarding config file\n"), "{finished:#?}");
    let more = "-each nodes=1 -rounds 1 -openings file=none.epd";
    let finished = compat(&bench, "fastchess", more).expect_code(1);
    assert!(finished.stderr.contains("-openings file=none.epd: "), "{finished:#?}");
    assert!(!finished.stderr.contains("bundled"), "{finished:#?}");
    let more = "-each nodes=1 -games 1 -openings file=book.epd format=epd order=random";
    let finished = compat(&bench, "cutechess", more).expect_code(0);
    assert!(finished.stdout.starts_with("Indexing opening suite...\n"), "{finished:#?}");
}
