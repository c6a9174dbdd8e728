//! Gates of `arbiter ci`, as documents, JSON and JUnit XML.

use std::time::Duration;

use quick_junit::{NonSuccessKind, SerializeError, TestCase, TestCaseStatus, TestSuite};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::result_figures::share;
use super::suite::PerftTotals;
use super::suite::epd_figures::{EpdResults, SolvedFigures, theme_table};
use crate::forms::{case, failed, junit_text, with_message};
use crate::parts::{Document, Table, to_value, utc_time};
use arbiter_names::quantity;
use arbiter_plan::{GateKind, GateOutcome, GateVerdict};
use arbiter_store::StoredGate;

/// Results of `arbiter ci`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.ci/2")]
pub(crate) struct CiFigures<'a> {
    /// Name of the engine under test.
    dev: &'a str,
    /// Name of the reference engine.
    base: Option<&'a str>,
    /// `true` if no gate failed.
    passed: bool,
    /// Outcome of each gate.
    gates: Vec<GateFigures<'a>>,
}

/// Gate and its outcome.
#[derive(Debug, Serialize, JsonSchema)]
struct GateFigures<'a> {
    #[serde(flatten)]
    outcome: &'a GateOutcome,
    /// `true` if the outcome comes from an earlier run.
    cached: bool,
}

/// Gates of `arbiter ci` at many commits, oldest first, printed by `arbiter results gates`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.gates/2")]
pub(crate) struct GatesFigures<'a> {
    /// Gates and their outcomes.
    gates: Vec<StoredGateFigures<'a>>,
}

/// Gate at one commit, and its outcome.
#[derive(Debug, Serialize, JsonSchema)]
struct StoredGateFigures<'a> {
    /// Start time, in UTC.
    started: String,
    /// Engine under test: a commit, or the identity of another engine.
    dev: &'a str,
    /// Reference engine, in the same form.
    base: Option<&'a str>,
    #[serde(flatten)]
    outcome: &'a GateOutcome,
}

/// Returns the report of one call of `arbiter ci` as a document. In Markdown, the document is
/// suitable as a step summary of GitHub Actions. `dev` is the name of the engine under test, and
/// `base` the name of the reference engine.
pub fn ci_document(dev: &str, base: Option<&str>, outcomes: &[GateOutcome]) -> Document {
    let bad = outcomes.iter().filter(|outcome| !outcome.verdict.is_good());
    let bad: Vec<&str> = bad.map(|outcome| outcome.gate.as_str()).collect();
    let sign = if bad.is_empty() { "✅" } else { "❌" };
    let against = base.map_or(String::new(), |base| format!(" against {base}"));
    let mut document = Document::new(format!("{sign} {dev}{against}"));
    document.table(gates(outcomes));
    document.paragraph(match bad.as_slice() {
        [] => all_good(outcomes),
        _ => format!("Not passed: {}.", bad.join(", ")),
    });
    document
}

/// Returns the report of one call of `arbiter ci` as a JSON object.
pub fn ci_json(dev: &str, base: Option<&str>, outcomes: &[GateOutcome]) -> Value {
    let passed = outcomes.iter().all(|outcome| outcome.verdict.is_good());
    let gates = outcomes
        .iter()
        .map(|outcome| GateFigures { outcome, cached: outcome.from_before.is_some() });
    to_value(&CiFigures { dev, base, passed, gates: gates.collect() })
}

/// Returns the sentence for a report without failed gates. The sentence contains the number of
/// undecided gates, if any.
fn all_good(outcomes: &[GateOutcome]) -> String {
    let number = |wanted| outcomes.iter().filter(|outcome| outcome.verdict == wanted).count();
    match (number(GateVerdict::Passed), number(GateVerdict::Undecided)) {
        (_, 0) => "All gates passed.".to_owned(),
        (passed, undecided) => {
            let passed = quantity(passed, "gate");
            format!(
                "{passed} passed, {undecided} undecided; undecided counts as passed (see \
                 docs/ci.md)."
            )
        }
    }
}

/// Returns the outcomes of gates as a table.
fn gates(outcomes: &[GateOutcome]) -> Table {
    let mut table = Table::new(["gate", "verdict", "time", "figures"]);
    for outcome in outcomes {
        let time = match (outcome.verdict, outcome.from_before) {
            (GateVerdict::Skipped, _) => "-".to_owned(),
            (_, Some(_)) => "0 s, cached".to_owned(),
            (_, None) => format!("{:.0} s", outcome.seconds),
        };
        table.push([&outcome.gate, &outcome.verdict, &time, &outcome.text]);
    }
    table
}

/// Returns the outcomes of gates at many commits as a table.
pub fn gates_table(gates: &[StoredGate]) -> Table {
    let mut table = Table::new(["started", "gate", "dev", "base", "verdict", "figures"]);
    let short = |name: &String| name.chars().take(12).collect::<String>();
    for StoredGate { created_ms, test, base, outcome } in gates {
        let GateOutcome { gate, verdict, text, .. } = outcome;
        let base = base.as_ref().map(short).unwrap_or_default();
        table.push([&utc_time(*created_ms), gate, &short(test), &base, verdict, text]);
    }
    table
}

/// Returns the outcomes of gates at many commits as JSON.
pub fn gates_json<'a>(gates: &'a [StoredGate]) -> Value {
    let row = |gate: &'a StoredGate| StoredGateFigures {
        started: utc_time(gate.created_ms),
        dev: &gate.test,
        base: gate.base.as_deref(),
        outcome: &gate.outcome,
    };
    to_value(&GatesFigures { gates: gates.iter().map(row).collect() })
}

/// Returns `true` if an outcome should be stored. Outcomes of builds are not stored, because builds
/// have a separate cache.
pub fn is_kept(outcome: &GateOutcome) -> bool {
    outcome.kind != GateKind::Build && outcome.verdict.is_lasting()
}

/// Adds the sections on gates and suites, unless there are no gates.
pub(crate) fn all(document: &mut Document, outcomes: &[GateOutcome]) {
    if outcomes.is_empty() {
        return;
    }
    document.heading("Gates");
    document
        .paragraph("Results of arbiter ci for the commit under test: the latest run of each gate.");
    document.table(gates(outcomes));
    let suites = suites(outcomes);
    if suites.rows().len() > 1 {
        document.heading("Suites");
        document.table(suites);
    }
    for outcome in outcomes.iter().filter(|outcome| outcome.kind == GateKind::Epd) {
        if let Some(table) = themes(&outcome.figures) {
            document.paragraph(format!("{} by theme, solved / total:", outcome.gate));
            document.table(table);
        }
    }
}

/// Returns a table with one row per suite and engine.
fn suites(outcomes: &[GateOutcome]) -> Table {
    let mut table = Table::new(["suite", "engine", "positions", "correct", "share (95 %), errors"]);
    for GateOutcome { gate, kind, figures, .. } in outcomes {
        match kind {
            GateKind::Epd => {
                let results = EpdResults::deserialize(figures);
                for engine in results.iter().flat_map(|results| &results.engines) {
                    let SolvedFigures { positions, solved, .. } = engine.solved;
                    let correct = share(solved, positions);
                    table.push([gate, &engine.name, &positions, &solved, &correct]);
                }
            }
            GateKind::Perft => {
                let Ok(totals) = PerftTotals::deserialize(figures) else { continue };
                let PerftTotals { engine, right, wrong, wrong_suite, faults, .. } = totals;
                let all = right + wrong + wrong_suite + faults;
                let rest =
                    format!("{wrong} wrong, {wrong_suite} suite errors, {faults} engine faults");
                table.push([gate, &engine, &all, &right, &rest]);
            }
            _ => {}
        }
    }
    table
}

/// Returns a table of the numbers of positions that each engine solved, by theme; `None` if there
/// are no themes.
fn themes(figures: &Value) -> Option<Table> {
    let engines = EpdResults::deserialize(figures).ok()?.engines;
    let cell = |counts: &SolvedFigures| format!("{} / {}", counts.solved, counts.positions);
    let has_themes = !engines.first()?.themes.is_empty();
    has_themes.then(|| theme_table(&engines, "?", cell))
}

/// Formats the gates as a JUnit test suite with one test case per gate.
pub fn gates_junit(test: &str, outcomes: &[GateOutcome]) -> Result<String, SerializeError> {
    let mut suite = TestSuite::new(format!("arbiter ci {test}"));
    suite.add_test_cases(outcomes.iter().map(gate_case));
    junit_text("arbiter ci", suite)
}

/// Returns the test case of a gate of `arbiter ci`.
pub(crate) fn gate_case(outcome: &GateOutcome) -> TestCase {
    let (text, verdict) = (outcome.text.as_str(), outcome.verdict.to_string());
    let status = match outcome.verdict {
        GateVerdict::Passed | GateVerdict::Undecided => TestCaseStatus::success(),
        GateVerdict::Skipped => with_message(TestCaseStatus::skipped(), &verdict, text),
        GateVerdict::Failed | GateVerdict::Unproven => {
            failed(NonSuccessKind::Failure, &verdict, text)
        }
        GateVerdict::Broken => failed(NonSuccessKind::Error, &verdict, text),
    };
    let class = format!("arbiter.{}", outcome.kind);
    let mut case = case(&outcome.gate, &class, text, status);
    case.set_time(Duration::try_from_secs_f64(outcome.seconds).unwrap_or_default());
    // An undecided gate counts as passed, so a property contains the verdict.
    if outcome.verdict == GateVerdict::Undecided {
        case.add_property(("verdict", verdict.as_str()));
    }
    case
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn outcome(gate: &str, verdict: GateVerdict) -> GateOutcome {
        GateOutcome {
            gate: gate.into(),
            kind: GateKind::Perft,
            verdict,
            text: "figures".into(),
            code: 1,
            seconds: 2.4,
            figures: json!({ "wrong": 1 }),
            from_before: None,
        }
    }

    #[test]
    fn failed_gates_are_named() {
        let outcomes = [outcome("a", GateVerdict::Passed), outcome("b", GateVerdict::Failed)];
        let document = ci_document("new", Some("old"), &outcomes);
        assert!(crate::forms::plain_text(&document, None).ends_with("\nNot passed: b.\n"));
        assert!(crate::forms::markdown(&document).starts_with("# ❌ new against old\n\n| gate"));
        let json = ci_json("new", Some("old"), &outcomes);
        assert_eq!(json["passed"], false);
        assert_eq!(json["gates"][1]["report"]["wrong"], 1);
        let open = outcome("c", GateVerdict::Undecided);
        for (outcomes, expected) in [
            (&outcomes[..1], "\nAll gates passed.\n"),
            (
                &[outcomes[0].clone(), open][..],
                "\n1 gate passed, 1 undecided; undecided counts as passed (see docs/ci.md).\n",
            ),
        ] {
            let document = ci_document("new", Some("old"), outcomes);
            let text = crate::forms::plain_text(&document, None);
            assert!(text.ends_with(expected), "{text}");
        }
    }

    fn suite_outcome(gate: &str, kind: GateKind, figures: Value) -> GateOutcome {
        GateOutcome {
            gate: gate.into(),
            kind,
            verdict: GateVerdict::Passed,
            text: "words".into(),
            code: 0,
            seconds: 2.0,
            figures,
            from_before: None,
        }
    }

    #[test]
    fn suites_have_a_row_for_each_engine() {
        let engine = |name: &str, solved: u64| {
            json!({ "name": name, "limits": "depth 3", "positions": 10, "solved": solved,
                    "faults": 0, "total_time_ms": 1.0,
                    "themes": [{ "theme": "fork", "solved": 2, "positions": 3 }] })
        };
        let epd = json!({ "engines": [engine("A", 8), engine("B", 7)], "comparisons": [] });
        let perft = json!({ "engine": "A", "right": 3, "wrong": 1, "wrong_suite": 0, "faults": 0,
            "nodes": 9 });
        let outcomes = [
            suite_outcome("tactics", GateKind::Epd, epd),
            suite_outcome("perft", GateKind::Perft, perft),
        ];
        let table = suites(&outcomes);
        assert_eq!(table.rows()[1], ["tactics", "A", "10", "8", "80.0 % [49.0, 94.3]"]);
        assert_eq!(table.rows()[3][..4], ["perft", "A", "4", "3"]);
        let themes = themes(&outcomes[0].figures).unwrap();
        assert_eq!(themes.rows(), [["theme", "A", "B"], ["fork", "2 / 3", "2 / 3"]]);
    }

    #[test]
    fn gates_without_figures_are_not_listed_as_suites() {
        let broken = suite_outcome("tactics", GateKind::Epd, Value::Null);
        assert_eq!(
            suites(&[broken, suite_outcome("perft", GateKind::Perft, Value::Null)]).rows().len(),
            1
        );
    }

    #[test]
    fn each_gate_is_a_test_case() {
        let outcome = |verdict: GateVerdict, text: &str| GateOutcome {
            gate: "perft <1>".into(),
            kind: GateKind::Perft,
            verdict,
            text: text.into(),
            code: 0,
            seconds: 1.25,
            figures: serde_json::Value::Null,
            from_before: None,
        };
        let outcomes = [
            outcome(GateVerdict::Passed, "fine"),
            outcome(GateVerdict::Failed, "1 wrong"),
            outcome(GateVerdict::Broken, "x"),
            outcome(GateVerdict::Skipped, "y"),
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
