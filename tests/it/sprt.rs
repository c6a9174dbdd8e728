//! The sequential test: it stops when the evidence suffices, says which way,
//! and says so with its exit code.

use crate::support::bench::Bench;
use crate::support::plan::{Plan, Played};

const GREEDY: &str = "--skill greedy --seed 1";
const RANDOM: &str = "--skill random --seed 2";

/// A test of whether the first engine is 50 Elo stronger.
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

/// Checks the bounds and returns the ratio with them.
#[track_caller]
fn evidence(played: &Played) -> (f64, f64, f64) {
    let report = &played.report;
    let (lower, upper) = report.llr_bounds.expect("a test has bounds");
    // Wald's bounds for both errors at 5 %.
    assert!((upper - 19_f64.ln()).abs() < 1e-3, "{report:#?}");
    assert!((lower + 19_f64.ln()).abs() < 1e-3, "{report:#?}");
    (report.llr.expect("a test has a ratio"), lower, upper)
}

#[test]
fn a_stronger_engine_is_accepted() {
    let bench = Bench::new();
    let played = test(&bench, GREEDY, RANDOM, 200).set("concurrency", 2).played(0);
    assert_eq!(played.report.verdict, "H1");
    let (llr, _, upper) = evidence(&played);
    assert!(llr >= upper, "{:#?}", played.report);
    assert!(played.report.games < 400, "it must stop early: {:#?}", played.report);
    bench.wait_until_quiet();
}

#[test]
fn a_weaker_engine_is_rejected() {
    let bench = Bench::new();
    let played = test(&bench, RANDOM, GREEDY, 200).set("model", "normalized").played(1);
    assert_eq!(played.report.verdict, "H0");
    let (llr, lower, _) = evidence(&played);
    assert!(llr <= lower, "{:#?}", played.report);
    assert!(played.report.games < 400, "it must stop early: {:#?}", played.report);
}

#[test]
fn too_little_evidence_is_neither() {
    let bench = Bench::new();
    let played = test(&bench, RANDOM, "--seed 3", 4).played(5);
    assert_eq!(played.report.verdict, "inconclusive");
    assert_eq!(played.report.games, 8);
    let (llr, lower, upper) = evidence(&played);
    assert!(lower < llr && llr < upper, "{:#?}", played.report);
}

#[test]
fn the_decision_does_not_depend_on_who_finishes_first() {
    let with = |concurrency: u32| {
        let bench = Bench::new();
        test(&bench, GREEDY, RANDOM, 200).set("concurrency", concurrency).played(0).report
    };
    assert_eq!(with(4), with(1));
}
