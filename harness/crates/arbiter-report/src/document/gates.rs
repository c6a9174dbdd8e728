//! Gates that the commits of a run passed or failed, and the results of their suites.

use serde_json::Value;

use super::Document;
use crate::gates::steps;
use crate::table::Table;
use crate::text::{UNDEFINED, percent_interval};
use arbiter_plan::{StepKind, StepOutcome};

/// Adds all gates; nothing without any.
pub(super) fn all(document: &mut Document, outcomes: &[StepOutcome]) {
    if outcomes.is_empty() {
        return;
    }
    document.heading("Gates");
    document
        .paragraph("Results of arbiter ci for the commit under test: the latest run of each gate.");
    document.table(steps(outcomes));
    let suites = suites(outcomes);
    if suites.rows().len() > 1 {
        document.heading("Suites");
        document.table(suites);
    }
    for outcome in outcomes.iter().filter(|outcome| outcome.kind == StepKind::Epd) {
        if let Some(table) = themes(&outcome.figures) {
            document.paragraph(format!("{} by theme, solved of all:", outcome.step));
            document.table(table);
        }
    }
}

/// Returns a table with a row for each engine of each suite.
fn suites(outcomes: &[StepOutcome]) -> Table {
    let mut table = Table::new(["suite", "engine", "positions", "solved or right", "share (95 %)"]);
    for StepOutcome { step, kind, figures, .. } in outcomes {
        let count = |value: &Value, key: &str| value[key].as_u64().unwrap_or_default();
        match kind {
            StepKind::Epd => {
                for engine in list(figures, "engines") {
                    let (solved, all) = (count(engine, "solved"), count(engine, "positions"));
                    let ends = engine["share_low"].as_f64().zip(engine["share_high"].as_f64());
                    let share = ends.filter(|_| all > 0).map_or(UNDEFINED.to_owned(), |ends| {
                        percent_interval(solved as f64 / all as f64, ends)
                    });
                    table.push([step, &text(engine, "name"), &all, &solved, &share]);
                }
            }
            StepKind::Perft if figures.is_object() => {
                let right = count(figures, "right");
                let others = ["wrong", "wrong_suite", "faults"].map(|key| count(figures, key));
                let all = right + others.iter().sum::<u64>();
                let [wrong, of_suite, faults] = others;
                let rest = format!("{wrong} wrong, {of_suite} wrong in the suite, {faults} faults");
                table.push([step, &text(figures, "engine"), &all, &right, &rest]);
            }
            _ => {}
        }
    }
    table
}

/// Returns the numbers of positions that each engine solved, by theme.
fn themes(figures: &Value) -> Option<Table> {
    let engines = list(figures, "engines");
    let themes = list(engines.first()?, "themes");
    if themes.is_empty() {
        return None;
    }
    let names = engines.iter().map(|engine| text(engine, "name"));
    let mut table = Table::with_columns(["theme"], names);
    for theme in themes {
        let cells = engines.iter().map(|engine| {
            let own = list(engine, "themes");
            let found = own.iter().find(|other| other["theme"] == theme["theme"]);
            found.map_or(String::new(), |own| format!("{} / {}", own["solved"], own["positions"]))
        });
        table.push_with([&text(theme, "theme")], cells);
    }
    Some(table)
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or("?").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use arbiter_plan::StepVerdict;

    fn outcome(step: &str, kind: StepKind, figures: Value) -> StepOutcome {
        StepOutcome {
            step: step.into(),
            kind,
            verdict: StepVerdict::Passed,
            words: "words".into(),
            code: 0,
            seconds: 2.0,
            figures,
            from_before: None,
        }
    }

    #[test]
    fn suites_have_a_row_for_each_engine() {
        let engine = |name: &str, solved: u64| {
            json!({ "name": name, "positions": 10, "solved": solved, "share_low": 0.5,
                    "share_high": 0.9, "themes": [{ "theme": "fork", "solved": 2, "positions": 3 }] })
        };
        let epd = json!({ "engines": [engine("A", 8), engine("B", 7)] });
        let perft = json!({ "engine": "A", "right": 3, "wrong": 1, "faults": 0 });
        let outcomes =
            [outcome("tactics", StepKind::Epd, epd), outcome("perft", StepKind::Perft, perft)];
        let table = suites(&outcomes);
        assert_eq!(table.rows()[1], ["tactics", "A", "10", "8", "80.0 % [50.0, 90.0]"]);
        assert_eq!(table.rows()[3][..4], ["perft", "A", "4", "3"]);
        let themes = themes(&outcomes[0].figures).unwrap();
        assert_eq!(themes.rows(), [["theme", "A", "B"], ["fork", "2 / 3", "2 / 3"]]);
    }

    #[test]
    fn figures_that_are_missing_are_no_suite() {
        let broken = outcome("tactics", StepKind::Epd, Value::Null);
        assert_eq!(
            suites(&[broken, outcome("perft", StepKind::Perft, Value::Null)]).rows().len(),
            1
        );
    }
}
