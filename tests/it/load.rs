//! Tests that the cause of lost time is found: the engine, the machine, or an Arbiter process that
//! was stopped.

use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::support::bench::Bench;
use crate::support::plan::Plan;
use crate::support::wait_for;

/// Returns an engine that answers `go` with a line of shell script, and works for a while before it
/// starts.
pub fn engine(bench: &Bench, name: &str, start: &str, go: &str) -> String {
    let script = format!(
        "#!/bin/sh\n{start}\nwhile read -r line; do case $line in\nuci) echo uciok ;;\n\
         isready) echo readyok ;;\ngo*) {go} ;;\nquit) exit ;;\nesac; done\n"
    );
    let path = bench.write(&format!("{name}.sh"), script);
    format!("name={name},cmd=sh,args=\"{}\"", path.display())
}

fn against_puppet<'a>(bench: &'a Bench, engine: String, each: &str) -> Plan<'a> {
    let plan = Plan::new(bench, "match", 1).engine(engine).puppet("B", "--seed 2");
    plan.set("each", each).set("fault-limit", 1)
}

#[test]
fn an_exit_is_noticed_although_a_child_holds_the_output() {
    let bench = Bench::new();
    let start = Instant::now();
    let gone = engine(&bench, "A", "", "sleep 300 & exit 3");
    let played = against_puppet(&bench, gone, "tc=60+1").expect_output(0);
    assert_eq!(played.report.ended_by("crash"), 2, "{:#?}", played.report);
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    bench.wait_until_quiet();
}

#[test]
fn every_answer_after_the_flag_fell_loses_on_time() {
    for answer in ["(none)", "a1a1", "0000", "nonsense", ""] {
        let bench = Bench::new();
        let late = engine(&bench, "A", "", &format!("sleep 0.4; echo 'bestmove {answer}'"));
        let played = against_puppet(&bench, late, "st=0.1").expect_output(0);
        assert_eq!(played.report.ended_by("time_forfeit"), 2, "{answer} {:#?}", played.report);
    }
}

#[test]
fn start_failures_quote_the_last_line_of_the_engine() {
    let bench = Bench::new();
    let start = "echo 'error Network weights file not found.'; echo 'see the log' >&2; exit 0";
    let plan = against_puppet(&bench, engine(&bench, "A", start, ""), "nodes=1");
    let message = "exited (exit code 0, last error output: see the log, last output: error Network \
                 weights file not found.)";
    plan.run().expect_refusal(3, &["'A'", message]);
    let slow = engine(&bench, "A", "sleep 3", "");
    let plan = against_puppet(&bench, slow, "nodes=1").set("deadlines start", 1);
    plan.run().expect_refusal(3, &["no 'uciok' within 1000 ms", "--deadlines scale"]);
}

#[test]
fn parallel_engine_starts_wait_and_succeed() {
    let bench = Bench::new();
    // If all engines started in parallel, they would take several seconds on two processors.
    let work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done";
    let slow = |name| engine(&bench, name, work, "echo bestmove 0000");
    let plan = Plan::new(&bench, "match", 40).engine(slow("A")).engine(slow("B"));
    let plan = plan.set("concurrency", 40).set("deadlines start", 1).set("fault-limit", 1);
    let report = plan.run().expect_code(0).json();
    assert_eq!(report["terminations"]["stall"], serde_json::Value::Null, "{report:#}");
    assert_eq!(report["terminations"]["illegal_move"], 80, "{report:#}");
}

/// Returns report and messages of two pairs during which Arbiter was stopped for a while.
fn paused(each: &str) -> (serde_json::Value, String) {
    let bench = Bench::new();
    let logs = bench.logs();
    let args = |seed: u32| format!("--mode slow --delay-ms 150 --seed {seed} {logs}");
    let plan = Plan::new(&bench, "match", 2).puppet("A", &args(1)).puppet("B", &args(2));
    let running = plan.set("each", each).set("concurrency", 2).set("max-moves", 6).start();
    let thinks = |lines: &Vec<String>| lines.iter().any(|line| line.contains("go "));
    wait_for("engines think", || bench.conversations().iter().any(thinks).then_some(()));
    running.signal(Signal::STOP);
    std::thread::sleep(Duration::from_secs(4));
    running.signal(Signal::CONT);
    let finished = running.finish().expect_code(0);
    (finished.json(), finished.stderr)
}

#[test]
fn a_pause_loses_no_timed_game_and_is_reported_once() {
    let (report, messages) = paused("tc=3+0.2");
    assert_eq!(report["faults"], serde_json::json!([]), "{report:#}");
    assert_eq!(messages.matches("arbiter did not run for ").count(), 1, "{messages}");
    let (report, _) = paused("nodes=1");
    assert_eq!(report["faults"], serde_json::json!([]), "{report:#}");
}
