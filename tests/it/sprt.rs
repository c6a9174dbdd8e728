//! Tests of the SPRT: it stops when the evidence suffices, and reports the verdict in text and exit
//! code.

use rustix::process::Signal;
use serde_json::Value;

use crate::support::bench::Bench;
use crate::support::plan::{Plan, RunOutput};
use crate::support::snapshot::{expect_next, line_with};
use crate::support::{store, wait_for};

const GREEDY: &str = "--skill greedy --seed 1";
const RANDOM: &str = "--skill random --seed 2";

/// Returns a test of a gain of 50 Elo for the first engine.
fn test<'a>(bench: &'a Bench, first: &str, second: &str, pairs: usize) -> Plan<'a> {
    Plan::new(bench, "sprt", pairs)
        .puppet("A", first)
        .puppet("B", second)
        .set("elo0", 0)
        .set("elo1", 50)
        .set("alpha", 0.05)
        .set("beta", 0.05)
        .set("model", "logistic")
}

/// Checks the bounds; returns the log-likelihood ratio with them.
#[track_caller]
fn evidence(played: &RunOutput) -> (f64, f64, f64) {
    let report = &played.report;
    let (lower, upper) = report.llr_bounds.expect("a test has bounds");
    // Wald's bounds for error rates of 5 %.
    assert!((upper - 19_f64.ln()).abs() < 1e-3, "{report:#?}");
    assert!((lower + 19_f64.ln()).abs() < 1e-3, "{report:#?}");
    (report.llr.expect("a test has a ratio"), lower, upper)
}

#[test]
fn a_stronger_engine_is_accepted() {
    let bench = Bench::new();
    let played = test(&bench, GREEDY, RANDOM, 200).set("concurrency", 2).expect_output(0);
    assert_eq!(played.report.verdict, "H1");
    let (llr, _, upper) = evidence(&played);
    assert!(llr >= upper, "{:#?}", played.report);
    assert!(played.report.games < 400, "it must stop early: {:#?}", played.report);
    bench.wait_until_quiet();
}

#[test]
fn a_weaker_engine_is_rejected() {
    let bench = Bench::new();
    let played = test(&bench, RANDOM, GREEDY, 200).set("model", "normalized").expect_output(1);
    assert_eq!(played.report.verdict, "H0");
    let (llr, lower, _) = evidence(&played);
    assert!(llr <= lower, "{:#?}", played.report);
    assert!(played.report.games < 400, "it must stop early: {:#?}", played.report);
}

#[test]
fn too_little_evidence_is_inconclusive() {
    let bench = Bench::new();
    let played = test(&bench, RANDOM, "--seed 3", 4).expect_output(5);
    assert_eq!(played.report.verdict, "inconclusive");
    assert_eq!(played.report.games, 8);
    let (llr, lower, upper) = evidence(&played);
    assert!(lower < llr && llr < upper, "{:#?}", played.report);
}

#[test]
fn the_decision_does_not_depend_on_completion_order() {
    let with = |concurrency: u32| {
        let bench = Bench::new();
        test(&bench, GREEDY, RANDOM, 200).set("concurrency", concurrency).expect_output(0).report
    };
    assert_eq!(with(4), with(1));
}

/// Returns a test whose bounds are corrected for overshoot, because they are close to each other.
fn narrow(bench: &Bench) -> Plan<'_> {
    test(bench, GREEDY, RANDOM, 200).set("elo1", 20).set("model", "normalized")
}

#[track_caller]
fn number(report: &Value, key: &str) -> f64 {
    report[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {report:#}"))
}

#[test]
fn narrow_bounds_are_corrected_and_reported() {
    let bench = Bench::new();
    let report = narrow(&bench).run().expect_code(0).json();
    assert_eq!(report["overshoot"], "dynamic");
    let (stop, wald) = (number(&report, "llr_stop_upper"), number(&report, "llr_upper"));
    assert!((wald - 19_f64.ln()).abs() < 1e-12, "{report:#}");
    assert!(stop < wald && number(&report, "llr_stop_lower") >= number(&report, "llr_lower"));
    assert!(number(&report, "llr") > stop, "{report:#}");
    // The store gives the same report, also as text.
    let results = bench.path("results").display().to_string();
    let show = ["results", "--results", &results, "show", "run"];
    let json = show.iter().chain(&["--format", "json"]);
    assert_eq!(bench.arbiter(json).finish().expect_code(0).json(), report);
    let text = bench.arbiter(show).finish().expect_code(0).stdout;
    expect_next(line_with(&text, "Wald: [-2.94, 2.94]"));
    expect_next(line_with(&text, &format!("[-2.94, {stop:.2}]")));
}

#[test]
fn a_resumed_test_keeps_its_stopping_rule_and_records() {
    let undisturbed = narrow(&Bench::new()).run().expect_code(0).json();
    let bench = Bench::new();
    let slowly = |args: &str| format!("{args} --delay-ms 1");
    let mut running = Plan::new(&bench, "sprt", 200)
        .puppet("A", &slowly(GREEDY))
        .puppet("B", &slowly(RANDOM))
        .set("elo0", 0)
        .set("elo1", 20)
        .set("concurrency", 2)
        .start();
    let results = bench.path("results");
    for kill in 1..=2 {
        wait_for(&format!("{kill} dozen pairs are stored"), || {
            (store::pairs(&results).len() >= 12 * kill).then_some(())
        });
        running.signal(Signal::KILL);
        assert_eq!(running.finish().code, None);
        bench.wait_until_quiet();
        let folder = results.display().to_string();
        let args = ["sprt", "--resume", "run", "--results", &folder, "--format", "json"];
        running = bench.arbiter(args);
    }
    let report = running.finish().expect_code(0).json();
    for key in ["llr", "llr_stop_lower", "llr_stop_upper", "games", "elo_sequential", "overshoot"] {
        assert_eq!(report[key], undisturbed[key], "{key}");
    }
}
