//! Results as JUnit XML, which every service for continuous integration reads: the steps of
//! `arbiter ci`, runs, and files of games.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::ablation;
use crate::document::faults;
use crate::lint;
use crate::summary::{Strength, Summary, Verdict};
use crate::text::results;
use crate::verdict::verdict_sentence;
use arbiter_plan::{Encounter, Ending, RunKind, StepOutcome, StepVerdict};
use arbiter_rate::Tally;
use arbiter_stats::Decision;

/// Returns one suite, with one case for each step.
pub fn gates_junit(test: &str, outcomes: &[StepOutcome]) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("arbiter ci {test}"));
    suite.add_test_cases(outcomes.iter().map(step));
    whole("arbiter ci", suite)
}

/// Returns the suite of a run: a case for its verdict, or for each feature or encounter, one for
/// the faults of engines, one for the findings of the lint, and one for each gate of its commits.
pub fn run_junit(summary: &Summary, gates: &[StepOutcome]) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("arbiter {} {}", summary.plan.kind, summary.run));
    match summary.plan.kind {
        RunKind::Sprt => {
            suite.add_test_case(verdict(summary));
        }
        RunKind::Ablate => {
            suite.add_test_cases(ablation::features(summary).iter().map(feature));
        }
        RunKind::Tune => {
            suite.add_test_case(end(summary));
        }
        RunKind::Match | RunKind::Tournament => {
            suite.add_test_cases(encounters(summary));
            suite.add_test_case(end(summary));
        }
    }
    let told = faults(summary);
    let status = match summary.is_invalid() {
        true => failed(NonSuccessKind::Failure, "invalid", &told),
        false => TestCaseStatus::success(),
    };
    let mut faulty = case("faults of engines", "arbiter.faults", &told, status);
    faulty.add_property(("share", summary.counts.fault_share().to_string().as_str()));
    faulty.add_property(("limit", summary.plan.fault_limit.to_string().as_str()));
    suite.add_test_case(faulty);
    if !summary.lint.is_empty() {
        let lines = lint::by_engine(summary).map(|(engine, found)| format!("{engine}: {found}"));
        let words = lines.collect::<Vec<_>>().join("\n");
        // The lint decides nothing; a gate of kind `lint` does.
        let mut odd = case("lint", "arbiter.lint", &words, TestCaseStatus::success());
        for found in &summary.lint {
            let name = format!("{} {}", summary.engines[found.engine], found.rule);
            odd.add_property((name.as_str(), found.moves.to_string().as_str()));
        }
        suite.add_test_case(odd);
    }
    suite.add_test_cases(gates.iter().map(step));
    whole("arbiter", suite)
}

/// Returns the suite of files of games: a case for each reason for which games do not count, and
/// one for all that do.
pub fn games_junit(tally: &Tally) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new("arbiter report of games");
    let good = format!("{} games count", tally.games - tally.bad_games());
    suite.add_test_case(case("games", "arbiter.games", &good, TestCaseStatus::success()));
    for (reason, count) in &tally.bad {
        let named = tally.named.iter().filter(|named| named.reason == *reason);
        let places: Vec<String> =
            named.map(|named| format!("{}:{}: {}", named.file, named.line, named.title)).collect();
        let status = failed(NonSuccessKind::Failure, "bad games", &format!("{count} games"));
        suite.add_test_case(case(reason.as_str(), "arbiter.games", &places.join("\n"), status));
    }
    whole("arbiter", suite)
}

/// Returns a report of one suite.
pub(crate) fn whole(name: &str, suite: TestSuite) -> Result<String, SerializeError> {
    let mut report = Report::new(name);
    report.add_test_suite(suite);
    report.to_string()
}

fn case(name: &str, class: &str, words: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(name, status);
    case.set_classname(class).set_system_out(words);
    case
}

/// Returns a status that is no success: its message and its type.
pub(crate) fn failed(kind: NonSuccessKind, what: &str, words: &str) -> TestCaseStatus {
    said(TestCaseStatus::non_success(kind), what, words)
}

fn said(mut status: TestCaseStatus, what: &str, words: &str) -> TestCaseStatus {
    status.set_message(words).set_type(what);
    status
}

/// Returns the case of a step of `arbiter ci`.
fn step(outcome: &StepOutcome) -> TestCase {
    let (words, what) = (outcome.words.as_str(), outcome.verdict.to_string());
    let status = match outcome.verdict {
        StepVerdict::Passed | StepVerdict::Undecided => TestCaseStatus::success(),
        StepVerdict::Skipped => said(TestCaseStatus::skipped(), &what, words),
        StepVerdict::Failed | StepVerdict::Unproven => {
            failed(NonSuccessKind::Failure, &what, words)
        }
        StepVerdict::Broken => failed(NonSuccessKind::Error, &what, words),
    };
    let class = format!("arbiter.{}", outcome.kind);
    let mut case = case(&outcome.step, &class, words, status);
    case.set_time(Duration::try_from_secs_f64(outcome.seconds).unwrap_or_default());
    // Success of a test without verdict.
    if outcome.verdict == StepVerdict::Undecided {
        case.add_property(("verdict", what.as_str()));
    }
    case
}

/// Returns the case of an SPRT: passed if the first engine is the stronger one, failed if not or if
/// that cannot be decided, an error before its end.
fn verdict(summary: &Summary) -> TestCase {
    let words = verdict_sentence(summary);
    let status = match (summary.verdict(), summary.ending) {
        (Verdict::H1, _) => TestCaseStatus::success(),
        (Verdict::H0, _) => failed(NonSuccessKind::Failure, "H0", &words),
        (_, Some(Ending::Complete)) => failed(NonSuccessKind::Failure, "inconclusive", &words),
        _ => failed(NonSuccessKind::Error, "unfinished", &words),
    };
    let elo = summary.strength().elo_in_words();
    let name = format!("{} against {}", summary.engines[0], summary.engines[1]);
    case(&name, "arbiter.sprt", &format!("{words}\nElo {elo}"), status)
}

/// Returns the case of a run without a hypothesis: an error before its end.
fn end(summary: &Summary) -> TestCase {
    let words = verdict_sentence(summary);
    let status = match summary.ending {
        Some(Ending::Complete) => TestCaseStatus::success(),
        _ => failed(NonSuccessKind::Error, "unfinished", &words),
    };
    case("all games", &format!("arbiter.{}", summary.plan.kind), &words, status)
}

/// Returns the case of a feature of an ablation; an undecided test is skipped.
fn feature(feature: &ablation::Feature<'_>) -> TestCase {
    let words = format!("Elo {}", feature.strength.elo_in_words());
    let status = match feature.sprt_status.map(|status| status.decision) {
        None | Some(Decision::AcceptH1) => TestCaseStatus::success(),
        Some(Decision::AcceptH0) => failed(NonSuccessKind::Failure, "H0", &words),
        Some(Decision::Continue) => TestCaseStatus::skipped(),
    };
    case(feature.name, "arbiter.ablate", &words, status)
}

/// Returns a case for each two engines that met.
fn encounters(summary: &Summary) -> Vec<TestCase> {
    let class = format!("arbiter.{}", summary.plan.kind);
    let one = |(engines, encounter): (&[usize; 2], &Encounter)| {
        let strength = Strength::of(*encounter);
        let [first, second] = engines.map(|engine| summary.engines[engine].as_str());
        let (games, elo) = (results(&strength.games, " games"), strength.elo_in_words());
        let words = format!("{games}; Elo {elo}");
        case(&format!("{first} against {second}"), &class, &words, TestCaseStatus::success())
    };
    summary.counts.encounters.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_plan::StepKind;

    #[test]
    fn each_step_is_a_case() {
        let outcome = |verdict: StepVerdict, words: &str| StepOutcome {
            step: "perft <1>".into(),
            kind: StepKind::Perft,
            verdict,
            words: words.into(),
            code: 0,
            seconds: 1.25,
            figures: serde_json::Value::Null,
            from_before: None,
        };
        let outcomes = [
            outcome(StepVerdict::Passed, "fine"),
            outcome(StepVerdict::Failed, "1 wrong"),
            outcome(StepVerdict::Broken, "x"),
            outcome(StepVerdict::Skipped, "y"),
        ];
        let text = gates_junit("abc", &outcomes).unwrap();
        let head = "<testsuite name=\"arbiter ci abc\" tests=\"4\" skipped=\"1\" errors=\"1\" failures=\"1\"";
        assert!(text.contains(head), "{text}");
        assert!(
            text.contains("name=\"perft &lt;1&gt;\" classname=\"arbiter.perft\" time=\"1.250\""),
            "{text}"
        );
        assert!(text.contains("<failure message=\"1 wrong\" type=\"failed\""), "{text}");
    }
}
