//! The comparison of two evaluations as text, Markdown and JSON.

use std::fmt::Write;

use super::json;
use crate::eval::Variant;
use crate::eval::compare::{Comparison, Entry, NUMBERED, TermDifference, Verdict, WeightGroup};

/// More values than this are printed as a range.
const VALUES_SHOWN: usize = 32;

/// A form of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// For a terminal.
    Text,
    /// Tables.
    Markdown,
    /// One object.
    Json,
}

/// The comparison of two evaluations, to be printed.
pub(super) struct ComparisonReport {
    /// The evaluations.
    pub(super) variants: [Variant; 2],
    /// Feature by feature.
    pub(super) features: Vec<Comparison>,
    /// The number of positions and the differences by term, if positions were given.
    pub(super) differences: Option<(usize, Vec<TermDifference>)>,
}

impl ComparisonReport {
    /// The whole comparison.
    pub(super) fn render(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Markdown => self.markdown(),
            Form::Json => self.json(),
        }
    }

    fn names(&self) -> [&'static str; 2] {
        self.variants.map(Variant::name)
    }

    fn verdict(&self, verdict: Verdict) -> String {
        let [first, second] = self.names();
        match verdict {
            Verdict::Same => "same".to_owned(),
            Verdict::WeightChanged => "weight changed".to_owned(),
            Verdict::ConditionChanged => "condition changed".to_owned(),
            Verdict::BothChanged => "condition and weight changed".to_owned(),
            Verdict::OnlyFirst => format!("only in {first}"),
            Verdict::OnlySecond => format!("only in {second}"),
        }
    }

    /// Number of features by verdict.
    fn summary(&self) -> String {
        let count = |verdict| self.features.iter().filter(|row| row.verdict == verdict).count();
        let counts: Vec<String> = [
            Verdict::Same,
            Verdict::WeightChanged,
            Verdict::ConditionChanged,
            Verdict::BothChanged,
            Verdict::OnlyFirst,
            Verdict::OnlySecond,
        ]
        .into_iter()
        .filter(|&verdict| count(verdict) > 0)
        .map(|verdict| format!("{} {}", count(verdict), self.verdict(verdict)))
        .collect();
        format!("{} features: {}", self.features.len(), counts.join(", "))
    }

    fn text(&self) -> String {
        let names = self.names();
        let mut text = format!(
            "{} and {}; weights in {} and {}, opening before endgame\n{}\n",
            names[0],
            names[1],
            self.variants[0].unit(),
            self.variants[1].unit(),
            self.summary()
        );
        // Writing to a string cannot fail.
        for row in &self.features {
            let verdict = self.verdict(row.verdict);
            let _infallible =
                writeln!(text, "\n{:>6}  {:<22}{verdict}", number(row.number), row.name);
            if row.verdict == Verdict::Same {
                let entry = row.sides.iter().flatten().next();
                let _infallible = entry.map(|entry| {
                    writeln!(text, "{:>8}both: {}; {}", "", weights(entry), entry.condition)
                });
                continue;
            }
            for (name, entry) in names.iter().zip(&row.sides) {
                let _infallible = entry.as_ref().map(|entry| {
                    writeln!(text, "{:>8}{name}: {}; {}", "", weights(entry), entry.condition)
                });
            }
        }
        if let Some((positions, differences)) = &self.differences {
            let _infallible = writeln!(
                text,
                "\nOver {positions} positions, in centipawns after blending\n\n\
                 {:<22}{:>8}{:>8}{:>10}{:>10}",
                "term", "differs", "share", "mean", "largest"
            );
            for difference in differences {
                let _infallible = writeln!(
                    text,
                    "{:<22}{:>8}{:>7.1}%{:>10.2}{:>10.1}",
                    difference.name,
                    difference.differs,
                    percent(difference.differs, *positions),
                    difference.mean,
                    difference.largest
                );
            }
        }
        text.trim_end().to_owned()
    }

    fn markdown(&self) -> String {
        let [first, second] = self.names();
        let mut text = format!(
            "# {first} and {second}\n\n{}. Weights in {} and {}, opening before endgame.\n\n\
             | # | feature | | {first} | {second} | condition |\n|--:|---|---|---|---|---|\n",
            self.summary(),
            self.variants[0].unit(),
            self.variants[1].unit()
        );
        for row in &self.features {
            let shown =
                row.sides.each_ref().map(|side| side.as_ref().map_or("–".to_owned(), weights));
            let mut conditions: Vec<&str> =
                row.sides.iter().flatten().map(|entry| entry.condition).collect();
            conditions.dedup();
            let _infallible = writeln!(
                text,
                "| {} | {} | {} | {} | {} | {} |",
                number(row.number),
                row.name,
                self.verdict(row.verdict),
                shown[0],
                shown[1],
                conditions.join(" → ")
            );
        }
        if let Some((positions, differences)) = &self.differences {
            let _infallible = writeln!(
                text,
                "\nOver {positions} positions, in centipawns after blending:\n\n\
                 | term | differs | share | mean | largest |\n|---|--:|--:|--:|--:|"
            );
            for difference in differences {
                let _infallible = writeln!(
                    text,
                    "| {} | {} | {:.1} % | {:.2} | {:.1} |",
                    difference.name,
                    difference.differs,
                    percent(difference.differs, *positions),
                    difference.mean,
                    difference.largest
                );
            }
        }
        text.trim_end().to_owned()
    }

    fn json(&self) -> String {
        let features = self.features.iter().map(|row| {
            let sides = row.sides.each_ref().map(|side| {
                side.as_ref().map_or_else(
                    || "null".to_owned(),
                    |entry| {
                        json::object([
                            ("weights", weights_object(&entry.weights)),
                            ("condition", json::text(entry.condition)),
                            (
                                "disable",
                                json::list(entry.switches.iter().map(|name| json::text(name))),
                            ),
                        ])
                    },
                )
            });
            let number = row.number.map_or("null".to_owned(), |number| number.to_string());
            json::object([
                ("number", number),
                ("is_new", is_new(row.number).to_string()),
                ("name", json::text(row.name)),
                ("verdict", json::text(&self.verdict(row.verdict))),
                ("first", sides[0].clone()),
                ("second", sides[1].clone()),
            ])
        });
        let [first, second] = self.names();
        let mut entries = vec![
            ("first", json::text(first)),
            ("second", json::text(second)),
            ("first_unit", json::text(self.variants[0].unit())),
            ("second_unit", json::text(self.variants[1].unit())),
            ("features", json::list(features)),
        ];
        if let Some((positions, differences)) = &self.differences {
            let terms = differences.iter().map(|difference| {
                json::object([
                    ("name", json::text(difference.name)),
                    ("differs", difference.differs.to_string()),
                    ("mean_cp", format!("{:.3}", difference.mean)),
                    ("largest_cp", format!("{:.3}", difference.largest)),
                ])
            });
            entries.push(("positions", positions.to_string()));
            entries.push(("terms", json::list(terms)));
        }
        json::object(entries)
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { 100.0 * part as f64 / whole as f64 }
}

fn is_new(number: Option<u8>) -> bool {
    number.is_some_and(|number| number > NUMBERED)
}

/// Returns the number of a feature; new features count from one.
fn number(number: Option<u8>) -> String {
    match number {
        Some(number) if number > NUMBERED => format!("new {}", number - NUMBERED),
        Some(number) => number.to_string(),
        None => String::new(),
    }
}

fn weights(entry: &Entry) -> String {
    let weights: Vec<String> = entry.weights.iter().map(weight_group).collect();
    if weights.is_empty() { "no weights".to_owned() } else { weights.join(", ") }
}

fn weight_group(weight_group: &WeightGroup) -> String {
    let label = if weight_group.label.is_empty() { "" } else { " " };
    let label = format!("{}{label}", weight_group.label);
    if weight_group.values.len() > VALUES_SHOWN {
        let lowest = weight_group.values.iter().min().copied().unwrap_or_default();
        let highest = weight_group.values.iter().max().copied().unwrap_or_default();
        return format!("{label}{lowest}…{highest}");
    }
    let values: Vec<String> = if weight_group.paired {
        weight_group.values.chunks(2).map(|pair| format!("({}, {})", pair[0], pair[1])).collect()
    } else {
        weight_group.values.iter().map(i32::to_string).collect()
    };
    format!("{label}{}", values.join(" "))
}

/// Weights by label; a pair is a list of two, several pairs are a list of such lists.
fn weights_object(weights: &[WeightGroup]) -> String {
    json::object(weights.iter().map(|weight_group| {
        let label = if weight_group.label.is_empty() { "value" } else { weight_group.label };
        let values = match weight_group.values.as_slice() {
            [value] => value.to_string(),
            values if weight_group.paired && values.len() > 2 => {
                json::list(values.chunks(2).map(json_of))
            }
            values => json_of(values),
        };
        (label, values)
    }))
}

fn json_of(values: &[i32]) -> String {
    json::list(values)
}
