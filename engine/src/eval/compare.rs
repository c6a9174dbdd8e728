//! Comparison of two evaluations: their features with weights and conditions, and the differences
//! of their terms over a set of positions.

use super::pair::Pair;
use super::report::Report;
use super::{Choice, Variant};
use crate::chess::Position;

/// Named weights of a feature, in the unit of its evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightGroup {
    /// Subject of the weights; empty for a single group.
    pub label: &'static str,
    /// The weights.
    pub values: Vec<i32>,
    /// `true` if `values` alternate between opening and endgame.
    pub paired: bool,
}

impl WeightGroup {
    /// Returns a group of single weights.
    pub(super) fn new(label: &'static str, values: impl IntoIterator<Item = i32>) -> WeightGroup {
        WeightGroup { label, values: values.into_iter().collect(), paired: false }
    }

    /// Returns a group of weights with an opening and an endgame half.
    pub(super) fn pairs(label: &'static str, scores: &[Pair]) -> WeightGroup {
        let values = scores.iter().flat_map(|score| [score.opening(), score.endgame()]);
        WeightGroup { label, values: values.collect(), paired: true }
    }
}

/// A feature of one evaluation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Number in the published comparison of two versions of Rybka: 1 to 29 for features of the
    /// older version, 30 to 32 for features that only the newer version has.
    pub number: Option<u8>,
    /// Name of the feature.
    pub name: &'static str,
    /// Weights of the feature.
    pub weights: Vec<WeightGroup>,
    /// Condition under which the feature counts.
    pub condition: &'static str,
    /// Names of the features to disable in order to switch this feature off.
    pub switches: Vec<&'static str>,
}

/// Highest number of a feature of the older version of Rybka.
pub const NUMBERED: u8 = 29;

/// Difference of a feature between the first and the second evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No difference.
    Same,
    /// Different weights.
    WeightChanged,
    /// Different condition.
    ConditionChanged,
    /// Different weights and condition.
    BothChanged,
    /// Feature of the first evaluation only.
    OnlyFirst,
    /// Feature of the second evaluation only.
    OnlySecond,
}

/// A feature in two evaluations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Name of the feature.
    pub name: &'static str,
    /// Number of the feature, see [`Entry::number`].
    pub number: Option<u8>,
    /// Entry of the feature in each evaluation.
    pub sides: [Option<Entry>; 2],
    /// The difference.
    pub verdict: Verdict,
}

impl Comparison {
    fn new(first: Option<Entry>, second: Option<Entry>) -> Option<Comparison> {
        let verdict = match (&first, &second) {
            (Some(a), Some(b)) => match (a.weights == b.weights, a.condition == b.condition) {
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

/// Returns all features of both evaluations: numbered features first, then the others of the first
/// evaluation, then those that only the second evaluation has.
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

/// Difference of a term between two evaluations over many positions, in centipawns.
#[derive(Clone, Debug, PartialEq)]
pub struct TermDifference {
    /// Name of the term.
    pub name: &'static str,
    /// Number of positions in which the term differs by half a centipawn or more.
    pub differs: usize,
    /// Mean absolute difference over all positions, in centipawns.
    pub mean: f64,
    /// Largest absolute difference, in centipawns.
    pub largest: f64,
}

/// Returns the difference of every term of both evaluations, followed by that of the total value.
///
/// Terms of the same name are compared; a term that is missing in one evaluation counts as 0.
pub fn term_differences(
    first: Variant,
    second: Variant,
    positions: &[Position],
) -> Vec<TermDifference> {
    let mut names: Vec<&'static str> = Vec::new();
    for feature in first.features().into_iter().chain(second.features()) {
        if !names.contains(&feature.name) {
            names.push(feature.name);
        }
    }
    names.push("value");
    let mut differences: Vec<TermDifference> = names
        .into_iter()
        .map(|name| TermDifference { name, differs: 0, mean: 0.0, largest: 0.0 })
        .collect();
    for position in positions {
        let reports = [first, second].map(|variant| Choice::from(variant).explain(position));
        for term in &mut differences {
            let [a, b] = reports.each_ref().map(|report| worth(report, term.name));
            let difference = (a - b).abs();
            term.differs += usize::from(difference >= 0.5);
            term.mean += difference / positions.len() as f64;
            term.largest = term.largest.max(difference);
        }
    }
    differences
}

/// Returns the final value of a term in centipawns from White's point of view; for the name
/// `value`, the score for the side to move.
fn worth(report: &Report, name: &str) -> f64 {
    if name == "value" {
        return f64::from(report.value);
    }
    let term = report.terms.iter().find(|term| term.feature.name == name);
    term.map_or(0.0, |term| report.centipawns(term))
}
