//! The command `compare`: two evaluations as text, Markdown and JSON.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Map, Value, json};

use super::Output;
use super::eval::read_positions;
use crate::eval::Variant;
use crate::eval::compare::{
    Comparison, Entry, NUMBERED, TermDifference, Verdict, WeightGroup, compare, term_differences,
};
use crate::failure::Failure;
use crate::uci::options::variant;

/// Maximum number of values that are printed singly; more are printed as a range.
const VALUES_SHOWN: usize = 32;

/// Compare two evaluations, feature by feature
#[derive(Args)]
pub(super) struct CompareArgs {
    /// First evaluation
    first: String,
    /// Second evaluation
    second: String,
    /// Print Markdown tables
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    /// Also compare the terms over the positions of this file, one FEN or EPD per line
    #[arg(long, value_name = "FILE")]
    positions: Option<PathBuf>,
}

impl CompareArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let first = variant(&self.first).map_err(Failure::input)?;
        let second = variant(&self.second).map_err(Failure::input)?;
        let positions = self.positions.as_deref().map(read_positions).transpose()?;
        let report = ComparisonReport {
            variants: [first, second],
            features: compare(first, second),
            differences: positions
                .map(|positions| (positions.len(), term_differences(first, second, &positions))),
        };
        output.line(&if self.json {
            report.json().to_string()
        } else if self.markdown {
            report.markdown()
        } else {
            report.text()
        });
        Ok(())
    }
}

/// Comparison of two evaluations for output.
struct ComparisonReport {
    variants: [Variant; 2],
    features: Vec<Comparison>,
    /// The number of positions and the differences by term, if positions were given.
    differences: Option<(usize, Vec<TermDifference>)>,
}

impl ComparisonReport {
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

    /// Returns the numbers of features by verdict.
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

    fn json(&self) -> Value {
        let side = |side: &Option<Entry>| {
            side.as_ref().map(|Entry { weights, condition, switches, .. }| {
                json!({
                    "weights": weights_object(weights),
                    "condition": condition,
                    "disable": switches,
                })
            })
        };
        let features = self.features.iter().map(|row| {
            json!({
                "number": row.number,
                "is_new": is_new(row.number),
                "name": row.name,
                "verdict": self.verdict(row.verdict),
                "first": side(&row.sides[0]),
                "second": side(&row.sides[1]),
            })
        });
        let [first, second] = self.variants;
        let mut object = json!({
            "first": first.name(),
            "second": second.name(),
            "first_unit": first.unit(),
            "second_unit": second.unit(),
            "features": features.collect::<Vec<_>>(),
        });
        if let Some((positions, differences)) = &self.differences {
            let thousandths = |value: f64| (value * 1000.0).round() / 1000.0;
            let terms = differences.iter().map(|difference| {
                json!({
                    "name": difference.name,
                    "differs": difference.differs,
                    "mean_cp": thousandths(difference.mean),
                    "largest_cp": thousandths(difference.largest),
                })
            });
            object["positions"] = (*positions).into();
            object["terms"] = terms.collect();
        }
        object
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

/// Returns the weights by label; a pair is a list of two, several pairs are a list of such lists.
fn weights_object(weights: &[WeightGroup]) -> Map<String, Value> {
    let values = |weight_group: &WeightGroup| match weight_group.values.as_slice() {
        [value] => json!(value),
        values if weight_group.paired && values.len() > 2 => values.chunks(2).collect(),
        values => json!(values),
    };
    let label = |group: &WeightGroup| if group.label.is_empty() { "value" } else { group.label };
    weights.iter().map(|group| (label(group).to_owned(), values(group))).collect()
}
