//! Two evaluations side by side: which features both have, with what figures, under which
//! conditions, and how much that matters over a set of positions.

use super::pair::Pair;
use super::report::Report;
use super::{Choice, Variant};
use crate::chess::Position;

/// Named figures of a feature, in the unit of its evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Figure {
    /// What the figures are for; empty if there is nothing to distinguish.
    pub label: &'static str,
    /// The figures.
    pub values: Vec<i32>,
    /// Do opening and endgame figures alternate?
    pub paired: bool,
}

impl Figure {
    /// Plain figures.
    pub(super) fn new(label: &'static str, values: impl IntoIterator<Item = i32>) -> Figure {
        Figure { label, values: values.into_iter().collect(), paired: false }
    }

    /// Figures with an opening and an endgame half.
    pub(super) fn pairs(label: &'static str, scores: &[Pair]) -> Figure {
        let values = scores.iter().flat_map(|score| [score.opening(), score.endgame()]);
        Figure { label, values: values.collect(), paired: true }
    }
}

/// One feature as one evaluation has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its number in the published comparison of the two versions of Rybka: 1 to 29 for features
    /// of the older, 30 to 32 for those that are new in the younger.
    pub number: Option<u8>,
    /// Its name.
    pub name: &'static str,
    /// Its weights.
    pub figures: Vec<Figure>,
    /// When it counts.
    pub condition: &'static str,
    /// The features that must be switched off to be without it.
    pub switches: Vec<&'static str>,
}

/// The last number of a feature of the older version.
pub const NUMBERED: u8 = 29;

/// What became of a feature from the first evaluation to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Same,
    /// Its weights are others.
    WeightChanged,
    /// It counts under another condition.
    ConditionChanged,
    /// Both.
    BothChanged,
    /// The second has it not.
    OnlyFirst,
    /// The first has it not.
    OnlySecond,
}

/// A feature in both evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Its name.
    pub name: &'static str,
    /// Its number, see [`Entry::number`].
    pub number: Option<u8>,
    /// As each has it.
    pub sides: [Option<Entry>; 2],
    /// The difference.
    pub verdict: Verdict,
}

impl Comparison {
    fn new(first: Option<Entry>, second: Option<Entry>) -> Option<Comparison> {
        let verdict = match (&first, &second) {
            (Some(a), Some(b)) => match (a.figures == b.figures, a.condition == b.condition) {
                (true, true) => Verdict::Same,
                (false, true) => Verdict::WeightChanged,
                (true, false) => Verdict::ConditionChanged,
                (false, false) => Verdict::BothChanged,
            },
            (_, None) => Verdict::OnlyFirst,
            (None, _) => Verdict::OnlySecond,
        };
        let either = first.as_ref().or(second.as_ref())?;
        let (name, number) = (either.name, either.number);
        Some(Comparison { name, number, sides: [first, second], verdict })
    }
}

/// All features of both evaluations: numbered ones first, then those of the first, then those that
/// only the second has.
pub fn compare(first: Variant, second: Variant) -> Vec<Comparison> {
    let mut others = second.entries();
    let mut found: Vec<Comparison> = first
        .entries()
        .into_iter()
        .filter_map(|entry| {
            let place = others.iter().position(|other| other.name == entry.name);
            Comparison::new(Some(entry), place.map(|place| others.remove(place)))
        })
        .collect();
    found.extend(others.into_iter().filter_map(|entry| Comparison::new(None, Some(entry))));
    found.sort_by_key(|comparison| comparison.number.unwrap_or(u8::MAX));
    found
}

/// How a term differs between two evaluations over many positions, in centipawns.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The term.
    pub name: &'static str,
    /// Positions in which it differs by half a centipawn or more.
    pub differs: usize,
    /// Mean of the absolute difference over all positions.
    pub mean: f64,
    /// The largest absolute difference.
    pub largest: f64,
}

/// The spread of every term of both evaluations, and last of the value as a whole.
///
/// Terms of the same name are compared; one that only one evaluation has counts as 0 in the other.
pub fn spread(first: Variant, second: Variant, positions: &[Position]) -> Vec<Spread> {
    let mut names: Vec<&'static str> = Vec::new();
    for feature in first.features().into_iter().chain(second.features()) {
        if !names.contains(&feature.name) {
            names.push(feature.name);
        }
    }
    names.push("value");
    let mut spreads: Vec<Spread> = names
        .into_iter()
        .map(|name| Spread { name, differs: 0, mean: 0.0, largest: 0.0 })
        .collect();
    for position in positions {
        let reports = [first, second].map(|variant| Choice::from(variant).explain(position));
        for spread in &mut spreads {
            let [a, b] = reports.each_ref().map(|report| worth(report, spread.name));
            let difference = (a - b).abs();
            spread.differs += usize::from(difference >= 0.5);
            spread.mean += difference / positions.len() as f64;
            spread.largest = spread.largest.max(difference);
        }
    }
    spreads
}

/// What the term is worth in the end, in centipawns; of `value`, from the side to move.
fn worth(report: &Report, name: &str) -> f64 {
    if name == "value" {
        return f64::from(report.value);
    }
    let term = report.terms.iter().find(|term| term.feature.name == name);
    term.map_or(0.0, |term| report.centipawns(term))
}
