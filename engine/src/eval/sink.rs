//! Sinks, which receive the terms of an evaluation: a sum, a sum without disabled features, and a
//! record of each term.
//!
//! An evaluation is written once and compiled for each sink, so that records and disabled features
//! do not slow down a normal search.

use super::feature::FeatureSet;
use super::pair::Pair;
use crate::chess::Color;

/// Receiver of the terms of an evaluation.
pub(super) trait Sink {
    /// `true` if each term must be added separately. Cached sums must then not be added.
    const RECORDS: bool;

    /// Adds a term of a feature. The score is from the point of view of `color`.
    fn add(&mut self, feature: impl Into<usize>, color: Color, score: Pair);

    /// Adds a cached sum of terms, White minus Black.
    fn add_sum(&mut self, sum: Pair);

    /// Returns whether the feature is enabled.
    fn is_enabled(&self, feature: impl Into<usize>) -> bool;

    /// Returns whether the experiment is enabled. The default implementation returns `false`.
    #[inline(always)]
    fn tries(&self, _experiment: impl Into<usize>) -> bool {
        false
    }

    /// Records a change of the interpolated score by a feature, in centipawns from White's point of
    /// view.
    fn adjust(&mut self, feature: impl Into<usize>, change: i32);

    /// Counts `times` uses, by one side, of the weight at index `place` of the evaluation's table.
    /// The caller also adds the term itself with [`add`](Self::add).
    #[inline(always)]
    fn count_weight(&mut self, _color: Color, _place: usize, _times: i32) {}

    /// Returns the sum so far, White minus Black.
    fn sum(&self) -> Pair;

    /// Returns an empty sink with the disabled features and the experiments of this sink. The
    /// caller uses the empty sink to compute a sum for a cache.
    fn new_empty(&self) -> Self;
}

#[inline]
fn signed(color: Color, score: Pair) -> Pair {
    match color {
        Color::White => score,
        Color::Black => -score,
    }
}

/// Sum of all terms.
#[derive(Default)]
pub(super) struct Sum(Pair);

impl Sink for Sum {
    const RECORDS: bool = false;

    #[inline(always)]
    fn add(&mut self, _feature: impl Into<usize>, color: Color, score: Pair) {
        self.0 += signed(color, score);
    }

    #[inline(always)]
    fn add_sum(&mut self, sum: Pair) {
        self.0 += sum;
    }

    #[inline(always)]
    fn is_enabled(&self, _feature: impl Into<usize>) -> bool {
        true
    }

    #[inline(always)]
    fn adjust(&mut self, _feature: impl Into<usize>, _change: i32) {}

    #[inline(always)]
    fn sum(&self) -> Pair {
        self.0
    }

    #[inline(always)]
    fn new_empty(&self) -> Sum {
        Sum::default()
    }
}

/// Sum of the terms of enabled features, with the enabled experiments.
pub(super) struct MaskedSum {
    sum: Pair,
    disabled: FeatureSet,
    experiments: FeatureSet,
}

impl MaskedSum {
    /// Returns an empty sum without the `disabled` features.
    pub(super) fn new(disabled: FeatureSet) -> MaskedSum {
        MaskedSum { sum: Pair::ZERO, disabled, experiments: FeatureSet::EMPTY }
    }

    /// Returns the sum with these experiments enabled.
    pub(super) fn trying(self, experiments: FeatureSet) -> MaskedSum {
        MaskedSum { experiments, ..self }
    }
}

impl Sink for MaskedSum {
    const RECORDS: bool = false;

    #[inline]
    fn add(&mut self, feature: impl Into<usize>, color: Color, score: Pair) {
        if self.is_enabled(feature) {
            self.sum += signed(color, score);
        }
    }

    #[inline]
    fn add_sum(&mut self, sum: Pair) {
        self.sum += sum;
    }

    #[inline]
    fn is_enabled(&self, feature: impl Into<usize>) -> bool {
        !self.disabled.contains(feature.into())
    }

    #[inline]
    fn tries(&self, experiment: impl Into<usize>) -> bool {
        self.experiments.contains(experiment.into())
    }

    fn adjust(&mut self, _feature: impl Into<usize>, _change: i32) {}

    #[inline]
    fn sum(&self) -> Pair {
        self.sum
    }

    fn new_empty(&self) -> MaskedSum {
        MaskedSum::new(self.disabled).trying(self.experiments)
    }
}

/// Maximum number of features of an evaluation: the number of bits in a [`FeatureSet`].
const FEATURES_MAX: usize = 64;

/// Record of the terms of each side.
pub(super) struct Record {
    masked: MaskedSum,
    /// Terms by feature and side, each from the side's own point of view.
    terms: [[Pair; 2]; FEATURES_MAX],
    /// Changes of the interpolated score by feature, in centipawns from White's point of view.
    steps: [i32; FEATURES_MAX],
}

impl Record {
    /// Returns an empty record without the `disabled` features.
    pub(super) fn new(disabled: FeatureSet) -> Record {
        Record {
            masked: MaskedSum::new(disabled),
            terms: [[Pair::ZERO; 2]; FEATURES_MAX],
            steps: [0; FEATURES_MAX],
        }
    }

    /// Returns the record with these experiments enabled.
    pub(super) fn trying(mut self, experiments: FeatureSet) -> Record {
        self.masked.experiments = experiments;
        self
    }

    /// Returns the term of each side, from the side's own point of view; White's term first.
    pub(super) fn term(&self, feature: usize) -> [Pair; 2] {
        self.terms[feature]
    }

    /// Returns the change that a feature makes to the interpolated score, in centipawns from
    /// White's point of view.
    pub(super) fn change(&self, feature: usize) -> i32 {
        self.steps[feature]
    }
}

impl Sink for Record {
    const RECORDS: bool = true;

    fn add(&mut self, feature: impl Into<usize>, color: Color, score: Pair) {
        let feature = feature.into();
        if self.masked.is_enabled(feature) {
            self.terms[feature][color.index()] += score;
        }
        self.masked.add(feature, color, score);
    }

    fn add_sum(&mut self, sum: Pair) {
        self.masked.add_sum(sum);
    }

    fn is_enabled(&self, feature: impl Into<usize>) -> bool {
        self.masked.is_enabled(feature)
    }

    fn tries(&self, experiment: impl Into<usize>) -> bool {
        self.masked.tries(experiment)
    }

    fn adjust(&mut self, feature: impl Into<usize>, change: i32) {
        self.steps[feature.into()] += change;
    }

    fn sum(&self) -> Pair {
        self.masked.sum()
    }

    fn new_empty(&self) -> Record {
        Record::new(self.masked.disabled).trying(self.masked.experiments)
    }
}
