//! Rows of values as CSV (RFC 4180), for spreadsheets and data frames.

use std::collections::BTreeSet;

use csv::WriterBuilder;
use serde_json::{Map, Value};

use crate::parts::shown_output;

/// Keys of the first columns, in order.
const FIRST: &str = "run kind ending verdict invalid rank engine feature first second points games wins \
    draws losses pairs pentanomial elo elo_low elo_high los llr llr_lower llr_upper";

/// Converts the JSON report of a run to CSV: one line per feature of an ablation, one line per
/// engine of a tournament, or one line for the two engines of a match. Lint findings become one
/// column per rule, with the number of moves.
pub fn run_csv(report: &Value) -> String {
    let mut shared = vec!["run", "kind", "ending", "verdict", "invalid", "seed"];
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut found = [list(&report["features"]), list(&report["tournament"]["standings"])].concat();
    let is_duel = found.is_empty();
    if is_duel {
        found = list(&report["encounters"]);
    }
    if is_duel && report["elo0"].is_number() {
        shared.extend(["llr", "llr_lower", "llr_upper"]);
    }
    if found.is_empty() {
        found.push(Value::Object(Map::new()));
    }
    let findings = list(&report["lint"]);
    for object in &mut found {
        for (key, prefix) in [("engine", ""), ("first", "first_"), ("second", "second_")] {
            let Some(engine) = object[key].as_str().map(str::to_owned) else { continue };
            for finding in findings.iter().filter(|finding| finding["engine"] == *engine) {
                let rule = finding["rule"].as_str().unwrap_or_default();
                object[format!("{prefix}lint_{rule}")] = finding["moves"].clone();
            }
        }
        shared.iter().for_each(|key| object[*key] = report[*key].clone());
    }
    csv_rows(&found, &FIRST.split(' ').collect::<Vec<_>>())
}

/// Formats a heading with all keys, and one line per object. The columns are the keys in `first`,
/// followed by the remaining keys in alphabetical order. A string that a spreadsheet would
/// interpret as a formula gets the prefix `'`. Nested objects and objects in lists become separate
/// columns. A list of numbers becomes one cell with numbers separated by spaces. A list of strings
/// becomes one cell with a CSV record. Null becomes an empty cell.
pub fn csv_rows(objects: &[Value], first: &[&str]) -> String {
    let mut flat = vec![Map::new(); objects.len()];
    flat.iter_mut().zip(objects).for_each(|(line, object)| flatten("", object, line));
    let keys: BTreeSet<&str> = flat.iter().flat_map(Map::keys).map(String::as_str).collect();
    let leading = first.iter().filter(|key| keys.contains(*key));
    let others = keys.iter().filter(|key| !first.contains(key));
    let columns: Vec<&str> = leading.chain(others).copied().collect();
    if columns.is_empty() {
        return String::new();
    }
    let mut lines = record(&columns);
    for object in &flat {
        let cells = columns.iter().map(|column| object.get(*column).map_or(String::new(), cell));
        lines.push_str(&record(cells));
    }
    shown_output(&lines)
}

/// Formats cells as a CSV line.
fn record(cells: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut writer = WriterBuilder::new().from_writer(Vec::new());
    writer.write_record(cells).expect("writing to memory cannot fail, and there is a single row");
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("all cells are UTF-8")
}

/// Adds a value to a line. Members of objects become separate cells, whose keys are joined with
/// `_`. `name` is the key of the value; the key is empty at the top level.
fn flatten(name: &str, value: &Value, line: &mut Map<String, Value>) {
    let gap = if name.is_empty() { "" } else { "_" };
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                flatten(&format!("{name}{gap}{key}"), member, line);
            }
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            for (number, item) in (1..).zip(items).filter(|(_, item)| item.is_object()) {
                flatten(&format!("{name}{gap}{number}"), item, line);
            }
        }
        _ => drop(line.insert(name.to_owned(), value.clone())),
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        // Spreadsheets interpret a string that begins with one of these characters as a formula.
        // Names may come from untrusted sources, so a formula could do harm.
        Value::String(text)
            if text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err() =>
        {
            format!("'{text}")
        }
        Value::String(text) => text.clone(),
        // The strings may contain spaces, so the list is written as a CSV record in one cell.
        Value::Array(items) if items.first().is_some_and(Value::is_string) => {
            record(items.iter().map(cell)).trim_end().to_owned()
        }
        Value::Array(items) if !items.iter().any(Value::is_array) => {
            items.iter().map(cell).collect::<Vec<_>>().join(" ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_key_is_a_column_and_cells_are_quoted_if_needed() {
        let objects = [
            json!({ "run": "a,b", "elo": -1.5, "counts": [1, 2], "speed": { "low": null, "high": 2 } }),
            json!({ "run": "say \"x\"", "to": "=1\u{1b}[32m", "by": "-3e2", "counts": [], "new": true, "tries": [null, { "ms": 4 }, { "ms": 5 }] }),
        ];
        let expected = "run,elo,by,counts,new,speed_high,speed_low,to,tries_2_ms,tries_3_ms\n\
                        \"a,b\",-1.5,,1 2,,2,,,,\n\"say \"\"x\"\"\",,-3e2,,true,,,'=1\\u001b[32m,4,5\n";
        assert_eq!(csv_rows(&objects, &["run", "elo", "missing"]), expected);
        assert_eq!(csv_rows(&[], &["run"]), "");
    }

    #[test]
    fn a_csv_report_has_a_row_per_subject() {
        let lines = |more: Value| {
            let mut report =
                json!({ "run": "r", "kind": "match", "encounters": [], "features": [] });
            report.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            run_csv(&report)
        };
        let two =
            lines(json!({ "encounters": [{ "first": "A", "elo": 1.0 }], "elo0": 0, "llr": 2.9 }));
        assert!(two.starts_with("run,kind,ending,verdict,invalid,first,elo,llr,"), "{two}");
        assert!(two.contains("\nr,match,,,,A,1.0,2.9,"), "{two}");
        let many = json!({ "tournament": { "standings": [{ "engine": "A" }, { "engine": "B" }] } });
        assert_eq!(lines(many).lines().count(), 3);
        assert_eq!(lines(json!({ "features": [{ "feature": "x" }] })).lines().count(), 2);
        let finding = json!({ "engine": "B", "rule": "nodes", "moves": 3 });
        let linted =
            lines(json!({ "encounters": [{ "first": "A", "second": "B" }], "lint": [finding] }));
        assert!(linted.contains(",second_lint_nodes,") && linted.contains(",A,B,3"), "{linted}");
        assert_eq!(lines(json!({})).lines().count(), 2);
    }
}
