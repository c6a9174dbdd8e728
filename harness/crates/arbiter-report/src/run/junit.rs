//! Report of a run as JUnit XML.

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus, TestSuite};

use super::brief::faults;
use super::verdict::verdict_sentence;
use crate::figures::{Strength, Summary, Verdict};
use crate::forms::{case, failed, junit_text};
use crate::parts::results;
use crate::topics::gates::gate_case;
use crate::topics::{ablation, lint};
use arbiter_plan::{GateOutcome, RunKind};
use arbiter_run::{Encounter, RunEnd};
use arbiter_stats::Decision;

/// Formats the JUnit test suite of a run. The suite contains test cases for the verdict, the
/// features or the encounters; a test case for engine faults; a test case for lint findings, if
/// there are findings; and a test case for each gate of the commits.
pub fn run_junit(summary: &Summary, gates: &[GateOutcome]) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("arbiter {} {}", summary.plan.kind, summary.run));
    suite.add_test_cases(match summary.plan.kind {
        RunKind::Sprt => vec![verdict(summary)],
        RunKind::Ablate => ablation::features(summary).iter().map(feature).collect(),
        RunKind::Tune => vec![end(summary)],
        RunKind::Match | RunKind::Tournament => {
            encounters(summary).into_iter().chain([end(summary)]).collect()
        }
    });
    let fault_text = faults(summary);
    let status = if summary.is_invalid() {
        failed(NonSuccessKind::Failure, "invalid", &fault_text)
    } else {
        TestCaseStatus::success()
    };
    let mut faulty = case("faults of engines", "arbiter.faults", &fault_text, status);
    faulty.add_property(("share", summary.counts.fault_share().to_string().as_str()));
    faulty.add_property(("limit", summary.plan.fault_limit.to_string().as_str()));
    suite.add_test_case(faulty);
    if !summary.lint.is_empty() {
        let lines = lint::by_engine(summary).map(|(engine, found)| format!("{engine}: {found}"));
        let text = lines.collect::<Vec<_>>().join("\n");
        // The test case always passes, because lint findings do not affect the verdict of a run.
        // Only a gate of the kind `lint` can fail because of findings.
        let mut lint_case = case("lint", "arbiter.lint", &text, TestCaseStatus::success());
        for found in &summary.lint {
            let name = format!("{} {}", summary.engines[found.engine], found.rule);
            lint_case.add_property((name.as_str(), found.moves.to_string().as_str()));
        }
        suite.add_test_case(lint_case);
    }
    suite.add_test_cases(gates.iter().map(gate_case));
    junit_text("arbiter", suite)
}

/// Returns the test case of an SPRT. The test case passes if H1 was accepted, fails if H0 was
/// accepted or the run is inconclusive, and is an error if the run is unfinished.
fn verdict(summary: &Summary) -> TestCase {
    let text = verdict_sentence(summary);
    let status = match (summary.verdict(), summary.ending) {
        (Verdict::H1, _) => TestCaseStatus::success(),
        (Verdict::H0, _) => failed(NonSuccessKind::Failure, "H0", &text),
        (_, Some(RunEnd::Complete)) => failed(NonSuccessKind::Failure, "inconclusive", &text),
        _ => failed(NonSuccessKind::Error, "unfinished", &text),
    };
    let elo = summary.strength().elo_text();
    let name = format!("{} against {}", summary.engines[0], summary.engines[1]);
    case(&name, "arbiter.sprt", &format!("{text}\nElo {elo}"), status)
}

/// Returns the test case of a run without an SPRT. The test case passes if the run is complete, and
/// otherwise is an error.
fn end(summary: &Summary) -> TestCase {
    let text = verdict_sentence(summary);
    let status = match summary.ending {
        Some(RunEnd::Complete) => TestCaseStatus::success(),
        _ => failed(NonSuccessKind::Error, "unfinished", &text),
    };
    case("all games", &format!("arbiter.{}", summary.plan.kind), &text, status)
}

/// Returns the test case of a feature in an ablation. The test case fails if the SPRT accepted H0,
/// is skipped if the SPRT is undecided, and otherwise passes.
fn feature(feature: &ablation::Feature<'_>) -> TestCase {
    let text = format!("Elo {}", feature.strength.elo_text());
    let status = match feature.sprt_status.map(|status| status.decision) {
        None | Some(Decision::AcceptH1) => TestCaseStatus::success(),
        Some(Decision::AcceptH0) => failed(NonSuccessKind::Failure, "H0", &text),
        Some(Decision::Continue) => TestCaseStatus::skipped(),
    };
    case(feature.name, "arbiter.ablate", &text, status)
}

/// Returns a test case for each encounter with counted games.
fn encounters(summary: &Summary) -> Vec<TestCase> {
    let class = format!("arbiter.{}", summary.plan.kind);
    let one = |(engines, encounter): (&[usize; 2], &Encounter)| {
        let strength = Strength::of(*encounter);
        let [first, second] = engines.map(|engine| summary.engines[engine].as_str());
        let games = results(&strength.games, " games");
        let elo = strength.elo_text();
        let text = format!("{games}; Elo {elo}");
        case(&format!("{first} against {second}"), &class, &text, TestCaseStatus::success())
    };
    summary.counts.encounters.iter().map(one).collect()
}
