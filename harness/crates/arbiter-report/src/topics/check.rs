//! Report of `arbiter check`: text, Markdown, JSON and JUnit.

use std::collections::BTreeMap;

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus, TestSuite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::forms::{failed, junit_text};
use crate::parts::{Block, Document, Table, to_value};
use arbiter_check::{Counts, Grade, Outcome, Verdict, count, format_score, score};
use arbiter_names::quantity;

/// Maximum number of transcript lines per failed check in a document.
const MAX_DOCUMENT_LINES: usize = 8;

/// Maximum number of transcript lines per failed check in JSON and JUnit.
const MAX_STORED_LINES: usize = 100;

/// Results of `arbiter check`.
#[derive(Debug)]
pub struct CheckReport<'a> {
    /// Name that the engine reports or, if the engine reports no name, the name that the user gave.
    pub engine: &'a str,
    /// Verdict of each check.
    pub verdicts: &'a [Verdict],
}

/// UCI conformance of an engine, printed by `arbiter check`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.check/2")]
pub(crate) struct ConformanceFigures<'a> {
    /// Name that the engine reports, or the name given by the user.
    engine: &'a str,
    /// Weighted share of passed checks, 0 to 100; `null` if no check applies to the engine.
    pub(crate) score: Option<f64>,
    /// Number of checks by grade and result.
    grades: BTreeMap<Grade, Counts>,
    /// Checks with their results.
    #[serde(borrow)]
    checks: Vec<CheckFigures<'a>>,
}

/// Check and its result.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct CheckFigures<'a> {
    /// Name of the check; names never change.
    name: &'a str,
    /// Importance of the rule.
    grade: Grade,
    /// Text of the rule: the behaviour expected of an engine.
    rule: &'a str,
    /// Result of the check.
    #[serde(flatten)]
    outcome: Outcome,
    /// Last lines sent to and received from the engine; only for a failed check.
    #[serde(skip_serializing_if = "Option::is_none")]
    transcript: Option<Vec<String>>,
}

/// Returns the number and the names of the failed checks of grade `must`, from the JSON report of
/// `arbiter check`; `None` if no check of this grade failed or the report is invalid.
pub fn failed_musts(report: &Value) -> Option<String> {
    let mut failed = ConformanceFigures::deserialize(report).ok()?.checks;
    failed
        .retain(|check| check.grade == Grade::Must && matches!(check.outcome, Outcome::Failed(_)));
    let names: Vec<&str> = failed.iter().map(|check| check.name).collect();
    let number = quantity(names.len(), "must");
    (!names.is_empty()).then(|| format!("{number} failed: {}", names.join(", ")))
}

impl<'a> CheckReport<'a> {
    /// Returns `true` if the engine fails a check of grade `must`.
    pub fn has_grave_failure(&self) -> bool {
        count(self.verdicts, |grade| grade == Grade::Must).failed > 0
    }

    /// Returns the report as a document, with the failed checks first and the score last.
    pub fn document(&self) -> Document {
        let mut document = Document::new(format!("UCI conformance of {}", self.engine));
        let mut skipped = Vec::new();
        for Verdict { check, outcome, transcript } in self.verdicts {
            let name = format!("{} ({})", check.name, check.grade);
            match outcome {
                Outcome::Passed => {}
                Outcome::Skipped(reason) => skipped.push(format!("{name}: {reason}")),
                Outcome::Failed(reason) => {
                    document.heading(format!("FAILED {name}: {}", check.rule));
                    document.paragraph(reason);
                    let lines = transcript.lines(MAX_DOCUMENT_LINES);
                    let lines = lines.iter().map(|line| format!("    {line}\n"));
                    document.blocks.push(Block::Verbatim(lines.collect()));
                }
            }
        }
        document.list("Not checked", skipped);
        document.heading("Score");
        document.table(self.table());
        if let Some(failed) = failed_musts(&self.json()) {
            document.paragraph(failed);
        }
        let counts = count(self.verdicts, |_| true);
        let score = score(self.verdicts)
            .map_or("no score".to_owned(), |score| format!("score {} of 100", format_score(score)));
        let passed = counts.passed;
        let judged = counts.judged();
        document.paragraph(format!("{}: {passed} of {judged} checks passed, {score}", self.engine));
        document
    }

    fn table(&self) -> Table {
        let mut table = Table::new(["grade", "passed", "failed", "not checked"]);
        let mut row = |name: &str, is_counted: &dyn Fn(Grade) -> bool| {
            let counts = count(self.verdicts, is_counted);
            table.push([&name, &counts.passed, &counts.failed, &counts.skipped]);
        };
        for grade in arbiter_names::variants::<Grade>() {
            row(&grade.to_string(), &|other| other == grade);
        }
        row("all", &|_| true);
        table
    }

    /// Returns the report as a JSON value.
    pub fn json(&self) -> Value {
        let counted = |grade| (grade, count(self.verdicts, |other| other == grade));
        let check = |Verdict { check, outcome, transcript }: &Verdict| CheckFigures {
            name: check.name,
            grade: check.grade,
            rule: check.rule,
            outcome: outcome.clone(),
            transcript: matches!(outcome, Outcome::Failed(_))
                .then(|| transcript.lines(MAX_STORED_LINES)),
        };
        to_value(&ConformanceFigures {
            engine: self.engine,
            score: score(self.verdicts),
            grades: arbiter_names::variants().map(counted).collect(),
            checks: self.verdicts.iter().map(check).collect(),
        })
    }

    /// Returns the report as JUnit XML. A failed check of any grade becomes a failure with the
    /// grade as its type.
    pub fn junit(&self) -> Result<String, SerializeError> {
        let mut suite = TestSuite::new(format!("check {}", self.engine));
        for Verdict { check, outcome, transcript } in self.verdicts {
            let grade = check.grade.to_string();
            let status = match outcome {
                Outcome::Passed => TestCaseStatus::success(),
                Outcome::Skipped(reason) => {
                    let mut status = TestCaseStatus::skipped();
                    status.set_message(reason.as_str());
                    status
                }
                Outcome::Failed(reason) => {
                    let mut status = failed(NonSuccessKind::Failure, &grade, reason);
                    let lines = transcript.lines(MAX_STORED_LINES).join("\n");
                    let description = format!("{}: {}\n{reason}\n{lines}", check.name, check.rule);
                    status.set_description(description);
                    status
                }
            };
            let mut case = TestCase::new(check.name, status);
            case.set_classname(format!("check.{grade}"));
            suite.add_test_case(case);
        }
        junit_text("arbiter check", suite)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use arbiter_check::{Event, TimedEvent, Transcript};

    fn verdicts() -> Vec<Verdict> {
        let transcript = Transcript(vec![
            TimedEvent {
                at: Duration::from_millis(5),
                event: Event::Sent("go <depth> 1".to_owned()),
            },
            TimedEvent {
                at: Duration::from_millis(7),
                event: Event::Received("a\u{1b}b".to_owned()),
            },
        ]);
        let outcomes = [
            ("stop", Outcome::Passed),
            ("stop-prompt", Outcome::Failed("bestmove 900 ms after stop".to_owned())),
            ("stop-idle", Outcome::Failed("an answer".to_owned())),
            ("ponderhit", Outcome::Skipped("the engine has no option Ponder".to_owned())),
        ];
        outcomes
            .map(|(name, outcome)| {
                let check = *arbiter_check::checks().find(|check| check.name == name).unwrap();
                Verdict { check, outcome, transcript: transcript.clone() }
            })
            .into()
    }

    #[test]
    fn failed_checks_are_shown_with_their_transcript() {
        let verdicts = verdicts();
        let report = CheckReport { engine: "X 1.0", verdicts: &verdicts };
        let text = crate::forms::plain_text(&report.document(), None);
        assert!(
            text.contains("FAILED stop-prompt (should): stop is obeyed within 50 ms"),
            "{text}"
        );
        assert!(
            text.contains("\nbestmove 900 ms after stop\n      0.005 > go <depth> 1\n"),
            "{text}"
        );
        assert!(text.contains("  ponderhit (must): the engine has no option Ponder\n"), "{text}");
        assert!(text.contains("\n1 must failed: stop-idle\n"), "{text}");
        assert!(text.ends_with("X 1.0: 1 of 3 checks passed, score 40.0 of 100\n"), "{text}");
        let markdown = crate::forms::markdown(&report.document());
        assert!(markdown.starts_with("# UCI conformance of X 1.0\n"), "{markdown}");
        assert!(markdown.contains("## FAILED stop-prompt (should)"), "{markdown}");
        assert!(report.has_grave_failure());
    }

    #[test]
    fn json_and_junit_contain_all_checks() {
        let verdicts = verdicts();
        let report = CheckReport { engine: "X 1.0", verdicts: &verdicts };
        let json = report.json();
        assert_eq!(json["grades"]["must"]["skipped"], 1);
        assert_eq!(json["checks"][1]["transcript"][0], "  0.005 > go <depth> 1");
        assert_eq!(json["checks"][0].get("transcript"), None);
        let junit = report.junit().unwrap();
        let read = quick_junit::Report::deserialize_from_str(&junit).unwrap();
        let suite = &read.test_suites[0];
        assert_eq!((suite.tests, suite.failures, suite.skipped), (4, 2, 1), "{junit}");
        let TestCaseStatus::NonSuccess { ty, description, .. } = &suite.test_cases[1].status else {
            panic!("{junit}");
        };
        assert_eq!(ty.as_ref().map(|ty| ty.as_str()), Some("should"));
        let text = description.as_ref().unwrap().as_str();
        assert!(text.contains("> go <depth> 1") && !text.contains('\u{1b}'), "{text}");
    }
}
