//! Tests of Ctrl-C: once to finish the games in progress, again to exit immediately.

use std::time::Duration;

use rustix::process::Signal;

use crate::resume::{resume, slow, uninterrupted, wait_for_pairs};
use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::{expect_next, without_figures};
use crate::support::{store, wait_for};

#[test]
fn one_signal_finishes_games_in_flight() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    let before = wait_for_pairs(&bench, 2);
    running.signal(Signal::INT);
    let finished = running.finish().expect_code(130);
    expect_next(&without_figures(&finished.stderr));
    bench.wait_until_quiet();
    store::assert_consistent(&bench.path("results"));
    let after = store::pairs(&bench.path("results")).len();
    assert!(after > before, "the pairs in flight are lost: {before}, then {after}");
    assert!(after <= before + 4, "it went on playing: {before}, then {after}");

    let finished = resume(&bench).finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

/// Returns a run whose games do not end during a test.
fn endless(bench: &Bench) -> Plan<'_> {
    let logs = bench.path("logs");
    std::fs::create_dir(&logs).expect("a folder can be made");
    let args =
        |seed: u32| format!("--mode slow --delay-ms 300000 --seed {seed} --log {}", logs.display());
    Plan::new(bench, "match", 4).puppet("A", &args(1)).puppet("B", &args(2)).set("concurrency", 2)
}

/// Waits until an engine thinks.
fn wait_for_search(bench: &Bench) {
    wait_for("an engine thinks", || {
        let entries = std::fs::read_dir(bench.path("logs")).expect("the folder can be listed");
        let thinks = entries
            .filter_map(|entry| std::fs::read_to_string(entry.ok()?.path()).ok())
            .any(|log| log.lines().any(|line| line.starts_with("go")));
        thinks.then_some(())
    });
}

#[test]
fn one_signal_waits_for_a_long_game_and_a_second_stops_immediately() {
    let bench = Bench::new();
    let mut running = endless(&bench).start();
    wait_for_search(&bench);
    running.signal(Signal::INT);
    // A test cannot wait for an event that must not happen, so it watches for a while.
    std::thread::sleep(Duration::from_secs(2));
    assert!(!running.has_ended(), "one interrupt must not stop a game");
    running.signal(Signal::INT);
    running.finish().expect_code(130);
    bench.wait_until_quiet();
    store::assert_consistent(&bench.path("results"));
    assert!(store::pairs(&bench.path("results")).is_empty(), "a pair that was not played");
}

#[test]
fn a_signal_decides_the_exit_code_before_and_after_a_command() {
    let ctl = |bench: &Bench, command: &str| {
        let results = bench.path("results").display().to_string();
        bench.arbiter(["ctl", "--results", &results, "run", command]).finish().expect_code(0);
    };
    for is_first in [true, false] {
        let bench = Bench::new();
        let running = endless(&bench).start();
        wait_for_search(&bench);
        if is_first {
            running.signal(Signal::INT);
            ctl(&bench, "stop");
        } else {
            ctl(&bench, "drain");
            running.signal(Signal::INT);
        }
        running.finish().expect_code(130);
        bench.wait_until_quiet();
    }
}

#[test]
fn sigterm_is_obeyed_and_distinguished_from_sigint() {
    let bench = Bench::new();
    let running = slow(&bench).start();
    wait_for_pairs(&bench, 1);
    running.signal(Signal::TERM);
    running.finish().expect_code(143);
    bench.wait_until_quiet();
    store::assert_consistent(&bench.path("results"));
}

#[test]
fn an_ignored_hang_up_signal_stays_ignored() {
    let bench = Bench::new();
    let running = slow(&bench).start_by(r#"trap '' HUP; exec "$0" "$@""#);
    wait_for_pairs(&bench, 1);
    running.signal(Signal::HUP);
    let finished = running.finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
}

#[test]
fn a_closed_terminal_does_not_end_a_run() {
    let bench = Bench::new();
    let finished = slow(&bench).start_by(r#"exec "$0" "$@" 2>/dev/full"#).finish().expect_code(0);
    assert_eq!(RunOutput::read(&bench, &finished), uninterrupted());
    // If the result cannot be written, the exit code is different.
    let bench = Bench::new();
    let finished = slow(&bench).start_by(r#"exec "$0" "$@" >/dev/full"#).finish();
    assert_eq!(finished.code, Some(7), "{finished:#?}");
}
