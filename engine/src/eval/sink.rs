//! Where the terms of an evaluation go: into a sum, into a sum without the features switched off,
//! or onto a record of everything.
//!
//! The code of an evaluation is written once and compiled for each sink, so that play pays neither
//! for the record nor for the switches.

use super::feature::FeatureSet;
use super::pair::Pair;
use crate::chess::Color;

/// Receives what an evaluation finds.
pub(super) trait Sink {
    /// Must every term be announced by itself? Then sums from a table may not be used.
    const RECORDS: bool;

    /// One side has this feature. The score is from that side's point of view.
    fn add(&mut self, feature: impl Into<usize>, color: Color, score: Pair);

    /// Terms announced before, White minus Black, come from a table.
    fn add_sum(&mut self, sum: Pair);

    /// Is the feature in use?
    fn keeps(&self, feature: impl Into<usize>) -> bool;

    /// A feature that is no sum has changed the blended score from White's side by `change`
    /// centipawns.
    fn step(&mut self, feature: impl Into<usize>, change: i32);

    /// The weight at this place of an evaluation's table counts so many times for the side. The sum
    /// learns of it elsewhere.
    #[inline(always)]
    fn note(&mut self, _color: Color, _place: usize, _times: i32) {}

    /// The sum so far, White minus Black.
    fn sum(&self) -> Pair;

    /// An empty sink with the same switches, for a sum that goes into a table.
    fn fresh(&self) -> Self;
}

#[inline]
fn signed(color: Color, score: Pair) -> Pair {
    match color {
        Color::White => score,
        Color::Black => -score,
    }
}

/// Adds up.
#[derive(Default)]
pub(super) struct Plain(Pair);

impl Sink for Plain {
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
    fn keeps(&self, _feature: impl Into<usize>) -> bool {
        true
    }

    #[inline(always)]
    fn step(&mut self, _feature: impl Into<usize>, _change: i32) {}

    #[inline(always)]
    fn sum(&self) -> Pair {
        self.0
    }

    #[inline(always)]
    fn fresh(&self) -> Plain {
        Plain::default()
    }
}

/// Adds up what is not switched off.
pub(super) struct Masked {
    sum: Pair,
    disabled: FeatureSet,
}

impl Masked {
    /// An empty sum.
    pub(super) fn new(disabled: FeatureSet) -> Masked {
        Masked { sum: Pair::ZERO, disabled }
    }
}

impl Sink for Masked {
    const RECORDS: bool = false;

    #[inline]
    fn add(&mut self, feature: impl Into<usize>, color: Color, score: Pair) {
        if self.keeps(feature) {
            self.sum += signed(color, score);
        }
    }

    #[inline]
    fn add_sum(&mut self, sum: Pair) {
        self.sum += sum;
    }

    #[inline]
    fn keeps(&self, feature: impl Into<usize>) -> bool {
        !self.disabled.contains(feature.into())
    }

    fn step(&mut self, _feature: impl Into<usize>, _change: i32) {}

    #[inline]
    fn sum(&self) -> Pair {
        self.sum
    }

    fn fresh(&self) -> Masked {
        Masked::new(self.disabled)
    }
}

/// Most features an evaluation can have.
const FEATURES_MAX: usize = 64;

/// Keeps every term of each side.
pub(super) struct Record {
    masked: Masked,
    /// By feature and colour, each from the side's own point of view.
    terms: [[Pair; 2]; FEATURES_MAX],
    /// By feature, from White's side, in centipawns.
    steps: [i32; FEATURES_MAX],
}

impl Record {
    /// An empty record.
    pub(super) fn new(disabled: FeatureSet) -> Record {
        Record {
            masked: Masked::new(disabled),
            terms: [[Pair::ZERO; 2]; FEATURES_MAX],
            steps: [0; FEATURES_MAX],
        }
    }

    /// The term of each side, White first.
    pub(super) fn term(&self, feature: usize) -> [Pair; 2] {
        self.terms[feature]
    }

    /// What the feature did after the blend, in centipawns from White's side.
    pub(super) fn change(&self, feature: usize) -> i32 {
        self.steps[feature]
    }
}

impl Sink for Record {
    const RECORDS: bool = true;

    fn add(&mut self, feature: impl Into<usize>, color: Color, score: Pair) {
        let feature = feature.into();
        if self.masked.keeps(feature) {
            self.terms[feature][color.index()] += score;
        }
        self.masked.add(feature, color, score);
    }

    fn add_sum(&mut self, sum: Pair) {
        self.masked.add_sum(sum);
    }

    fn keeps(&self, feature: impl Into<usize>) -> bool {
        self.masked.keeps(feature)
    }

    fn step(&mut self, feature: impl Into<usize>, change: i32) {
        self.steps[feature.into()] += change;
    }

    fn sum(&self) -> Pair {
        self.masked.sum()
    }

    fn fresh(&self) -> Record {
        Record::new(self.masked.disabled)
    }
}
