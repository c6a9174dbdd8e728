//! The steps of `arbiter ci` as JUnit XML, which every service for continuous integration reads.

use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, SerializeError, TestCase, TestCaseStatus, TestSuite};

use crate::gate::{Outcome, Verdict};

/// One suite, one case for each step.
pub fn render(test: &str, outcomes: &[Outcome]) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("arbiter ci {test}"));
    for outcome in outcomes {
        let mut status = match outcome.verdict {
            Verdict::Passed | Verdict::Undecided => TestCaseStatus::success(),
            Verdict::Skipped => TestCaseStatus::skipped(),
            Verdict::Failed | Verdict::Unproven => {
                TestCaseStatus::non_success(NonSuccessKind::Failure)
            }
            Verdict::Broken => TestCaseStatus::non_success(NonSuccessKind::Error),
        };
        if !matches!(outcome.verdict, Verdict::Passed | Verdict::Undecided) {
            status.set_message(outcome.words.as_str()).set_type(outcome.verdict.as_str());
        }
        let mut case = TestCase::new(outcome.step.as_str(), status);
        case.set_classname(format!("arbiter.{}", outcome.kind.as_str()));
        case.set_time(Duration::try_from_secs_f64(outcome.seconds).unwrap_or_default());
        case.set_system_out(outcome.words.as_str());
        suite.add_test_case(case);
    }
    let mut report = Report::new("arbiter ci");
    report.add_test_suite(suite);
    report.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate::Kind;

    #[test]
    fn each_step_is_a_case() {
        let outcome = |verdict, words: &str| Outcome {
            step: "perft <1>".into(),
            kind: Kind::Perft,
            verdict,
            words: words.into(),
            code: 0,
            seconds: 1.25,
            figures: serde_json::Value::Null,
            from_before: None,
        };
        let outcomes = [
            outcome(Verdict::Passed, "fine"),
            outcome(Verdict::Failed, "1 wrong"),
            outcome(Verdict::Broken, "x"),
            outcome(Verdict::Skipped, "y"),
        ];
        let text = render("abc", &outcomes).unwrap();
        let head = "<testsuite name=\"arbiter ci abc\" tests=\"4\" skipped=\"1\" errors=\"1\" failures=\"1\"";
        assert!(text.contains(head), "{text}");
        assert!(
            text.contains("name=\"perft &lt;1&gt;\" classname=\"arbiter.perft\" time=\"1.250\""),
            "{text}"
        );
        assert!(text.contains("<failure message=\"1 wrong\" type=\"failed\""), "{text}");
    }
}
