//! Steps of `arbiter ci` as text, Markdown and JSON.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::document::Document;
use crate::json::to_value;
use crate::stored::utc_time;
use crate::table::Table;
use arbiter_names::counted;
use arbiter_plan::{StepKind, StepOutcome, StepVerdict};
use arbiter_store::StoredGate;

/// Run of all steps.
#[derive(Debug)]
pub struct GatesReport<'a> {
    /// Name of the engine under test.
    pub test: &'a str,
    /// Name of the engine it was compared with.
    pub base: Option<&'a str>,
    /// Outcome of each step.
    pub outcomes: &'a [StepOutcome],
}

/// Results of `arbiter ci`, step by step.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.ci/1")]
pub(crate) struct CiFigures<'a> {
    /// Name of the engine under test.
    test: &'a str,
    /// Name of the engine it was compared with.
    base: Option<&'a str>,
    /// `true` if no step failed.
    passed: bool,
    /// Outcome of each step.
    steps: Vec<StepFigures<'a>>,
}

/// Step with its outcome.
#[derive(Debug, Serialize, JsonSchema)]
struct StepFigures<'a> {
    #[serde(flatten)]
    outcome: &'a StepOutcome,
    /// `true` if the outcome is cached from an earlier run.
    cached: bool,
}

/// Steps of `arbiter ci` at many commits, the oldest first: `arbiter results gates`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.gates/1")]
pub(crate) struct GatesFigures<'a> {
    /// Steps with their outcomes.
    gates: Vec<GateFigures<'a>>,
}

/// Step that was run.
#[derive(Debug, Serialize, JsonSchema)]
struct GateFigures<'a> {
    /// Start time, in UTC.
    begun: String,
    /// Engine under test: a commit, or the identity of another engine.
    test: &'a str,
    /// Engine it was compared with.
    base: Option<&'a str>,
    #[serde(flatten)]
    outcome: &'a StepOutcome,
}

impl GatesReport<'_> {
    /// Returns the report as a document, whose Markdown a step summary of GitHub Actions can show.
    pub fn document(&self) -> Document {
        let bad = self.outcomes.iter().filter(|outcome| !outcome.verdict.is_good());
        let bad: Vec<&str> = bad.map(|outcome| outcome.step.as_str()).collect();
        let sign = if bad.is_empty() { "✅" } else { "❌" };
        let against = self.base.map_or(String::new(), |base| format!(" against {base}"));
        let mut document = Document::new(format!("{sign} {}{against}", self.test));
        document.table(steps(self.outcomes));
        document.paragraph(match bad.as_slice() {
            [] => all_good(self.outcomes),
            _ => format!("Not passed: {}.", bad.join(", ")),
        });
        document
    }

    /// Returns the report as one JSON object.
    pub fn json(&self) -> Value {
        to_value(&CiFigures {
            test: self.test,
            base: self.base,
            passed: self.outcomes.iter().all(|outcome| outcome.verdict.is_good()),
            steps: self.outcomes.iter().map(step).collect(),
        })
    }
}

/// Returns the sentence that no step failed, with the number of undecided ones.
fn all_good(outcomes: &[StepOutcome]) -> String {
    let number = |wanted| outcomes.iter().filter(|outcome| outcome.verdict == wanted).count();
    match (number(StepVerdict::Passed), number(StepVerdict::Undecided)) {
        (_, 0) => "All gates passed.".to_owned(),
        (passed, undecided) => {
            let passed = counted(passed, "gate");
            format!("{passed} passed, {undecided} undecided (counts as passed, see docs/ci.md).")
        }
    }
}

/// Returns the outcome of each step.
pub(crate) fn steps(outcomes: &[StepOutcome]) -> Table {
    let mut table = Table::new(["step", "verdict", "time", "figures"]);
    for outcome in outcomes {
        let time = match (outcome.verdict, outcome.from_before) {
            (StepVerdict::Skipped, _) => "-".to_owned(),
            (_, Some(_)) => "0 s, cached".to_owned(),
            (_, None) => format!("{:.0} s", outcome.seconds),
        };
        table.push([&outcome.step, &outcome.verdict, &time, &outcome.words]);
    }
    table
}

fn step(outcome: &StepOutcome) -> StepFigures<'_> {
    StepFigures { outcome, cached: outcome.from_before.is_some() }
}

/// Returns the outcomes of many commits, as a table.
pub fn gates_table(gates: &[StoredGate]) -> Table {
    let mut table = Table::new(["started", "step", "test", "base", "verdict", "figures"]);
    let short = |name: &String| name.chars().take(12).collect::<String>();
    for StoredGate { created_ms, test, base, outcome } in gates {
        let StepOutcome { step, verdict, words, .. } = outcome;
        let base = base.as_ref().map(short).unwrap_or_default();
        table.push([&utc_time(*created_ms), step, &short(test), &base, verdict, words]);
    }
    table
}

/// Returns the outcomes of many commits, as JSON.
pub fn gates_json<'a>(gates: &'a [StoredGate]) -> Value {
    let row = |gate: &'a StoredGate| GateFigures {
        begun: utc_time(gate.created_ms),
        test: &gate.test,
        base: gate.base.as_deref(),
        outcome: &gate.outcome,
    };
    to_value(&GatesFigures { gates: gates.iter().map(row).collect() })
}

/// Returns whether an outcome is worth storing; a build is in a cache of its own.
pub fn is_kept(outcome: &StepOutcome) -> bool {
    outcome.kind != StepKind::Build && outcome.verdict.is_lasting()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(step: &str, verdict: StepVerdict) -> StepOutcome {
        StepOutcome {
            step: step.into(),
            kind: StepKind::Perft,
            verdict,
            words: "figures".into(),
            code: 1,
            seconds: 2.4,
            figures: json!({ "wrong": 1 }),
            from_before: None,
        }
    }

    #[test]
    fn what_is_not_passed_is_named() {
        let outcomes = [outcome("a", StepVerdict::Passed), outcome("b", StepVerdict::Failed)];
        let report = GatesReport { test: "new", base: Some("old"), outcomes: &outcomes };
        assert!(crate::plain::plain_text(&report.document(), None).ends_with("\nNot passed: b.\n"));
        assert!(
            crate::markdown::markdown(&report.document())
                .starts_with("# ❌ new against old\n\n| step")
        );
        assert_eq!(report.json()["passed"], false);
        assert_eq!(report.json()["steps"][1]["report"]["wrong"], 1);
        let open = outcome("c", StepVerdict::Undecided);
        for (outcomes, words) in [
            (&outcomes[..1], "\nAll gates passed.\n"),
            (
                &[outcomes[0].clone(), open][..],
                "\n1 gate passed, 1 undecided (counts as passed, see docs/ci.md).\n",
            ),
        ] {
            let report = GatesReport { outcomes, ..report };
            let text = crate::plain::plain_text(&report.document(), None);
            assert!(text.ends_with(words), "{text}");
        }
    }
}
