//! The comparison of two evaluations as text, Markdown and JSON.

use std::fmt::Write;

use super::json;
use crate::eval::Variant;
use crate::eval::compare::{Comparison, Entry, Figure, NUMBERED, Spread, Verdict};

/// More figures than this are summed up by how many they are and how far they reach.
const FIGURES_SHOWN: usize = 32;

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

/// What was found out about two evaluations.
pub(super) struct Contrast {
    /// The evaluations.
    pub(super) variants: [Variant; 2],
    /// Feature by feature.
    pub(super) features: Vec<Comparison>,
    /// Term by term over a number of positions, if there were any.
    pub(super) spreads: Option<(usize, Vec<Spread>)>,
}

impl Contrast {
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

    /// How many features fared how.
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
        if let Some((positions, spreads)) = &self.spreads {
            let _infallible = writeln!(
                text,
                "\nOver {positions} positions, in centipawns after blending\n\n\
                 {:<22}{:>8}{:>8}{:>10}{:>10}",
                "term", "differs", "share", "mean", "largest"
            );
            for spread in spreads {
                let _infallible = writeln!(
                    text,
                    "{:<22}{:>8}{:>7.1}%{:>10.2}{:>10.1}",
                    spread.name,
                    spread.differs,
                    percent(spread.differs, *positions),
                    spread.mean,
                    spread.largest
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
        if let Some((positions, spreads)) = &self.spreads {
            let _infallible = writeln!(
                text,
                "\nOver {positions} positions, in centipawns after blending:\n\n\
                 | term | differs | share | mean | largest |\n|---|--:|--:|--:|--:|"
            );
            for spread in spreads {
                let _infallible = writeln!(
                    text,
                    "| {} | {} | {:.1} % | {:.2} | {:.1} |",
                    spread.name,
                    spread.differs,
                    percent(spread.differs, *positions),
                    spread.mean,
                    spread.largest
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
                            ("weights", figures_object(&entry.figures)),
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
        if let Some((positions, spreads)) = &self.spreads {
            let terms = spreads.iter().map(|spread| {
                json::object([
                    ("name", json::text(spread.name)),
                    ("differs", spread.differs.to_string()),
                    ("mean_cp", format!("{:.3}", spread.mean)),
                    ("largest_cp", format!("{:.3}", spread.largest)),
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

/// The number of a feature; those that are new count from one.
fn number(number: Option<u8>) -> String {
    match number {
        Some(number) if number > NUMBERED => format!("new {}", number - NUMBERED),
        Some(number) => number.to_string(),
        None => String::new(),
    }
}

fn weights(entry: &Entry) -> String {
    let figures: Vec<String> = entry.figures.iter().map(figure).collect();
    if figures.is_empty() { "no weights".to_owned() } else { figures.join(", ") }
}

fn figure(figure: &Figure) -> String {
    let label = if figure.label.is_empty() { "" } else { " " };
    let label = format!("{}{label}", figure.label);
    if figure.values.len() > FIGURES_SHOWN {
        let lowest = figure.values.iter().min().copied().unwrap_or_default();
        let highest = figure.values.iter().max().copied().unwrap_or_default();
        return format!("{label}{lowest}…{highest}");
    }
    let values: Vec<String> = if figure.paired {
        figure.values.chunks(2).map(|pair| format!("({}, {})", pair[0], pair[1])).collect()
    } else {
        figure.values.iter().map(i32::to_string).collect()
    };
    format!("{label}{}", values.join(" "))
}

/// Figures by label; a pair is a list of two, several pairs are a list of such.
fn figures_object(figures: &[Figure]) -> String {
    json::object(figures.iter().map(|figure| {
        let label = if figure.label.is_empty() { "value" } else { figure.label };
        let values = match figure.values.as_slice() {
            [value] => value.to_string(),
            values if figure.paired && values.len() > 2 => {
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
