//! Evaluation reports, which list the terms of a score.

use super::feature::Feature;
use super::pair::Pair;
use super::score::Score;
use super::sink::Record;
use crate::chess::{Kind, Position};

/// Contribution of a piece to the game phase, by type. The starting position has the phase 24.
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Conversion of the middlegame and endgame sums to centipawns, before rounding: (middlegame sum ×
/// `opening` + endgame sum × `endgame`) ÷ `divisor`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// Factor of the middlegame sum.
    pub opening: i32,
    /// Factor of the endgame sum.
    pub endgame: i32,
    /// Divisor of the weighted sums.
    pub divisor: i32,
}

impl Blend {
    /// Converts a pair of scores to centipawns.
    pub fn centipawns(self, score: Pair) -> f64 {
        let opening = f64::from(score.opening()) * f64::from(self.opening);
        let endgame = f64::from(score.endgame()) * f64::from(self.endgame);
        (opening + endgame) / f64::from(self.divisor)
    }
}

/// Contribution of a feature to the score of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The feature.
    pub feature: Feature,
    /// Score of each side from the side's own point of view, in the unit of the variant; White's
    /// score first.
    pub sides: [Pair; 2],
    /// Change of the interpolated score by the feature, in centipawns from White's point of view; 0
    /// for features whose scores are part of the sums.
    pub step: i32,
}

impl Term {
    fn of(feature: Feature, record: &Record) -> Term {
        Term { feature, sides: record.term(feature.index), step: record.change(feature.index) }
    }

    /// Returns White's score minus Black's score, in the unit of the variant.
    pub fn net(&self) -> Pair {
        self.sides[0] - self.sides[1]
    }

    /// Returns whether the term has a nonzero score or change.
    pub fn is_nonzero(&self) -> bool {
        self.sides != [Pair::ZERO; 2] || self.step != 0
    }
}

/// Evaluation of a position, term by term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// Score in centipawns, from the point of view of the side to move.
    pub value: Score,
    /// Game phase: 24 in the starting position, 0 with only kings and pawns.
    pub phase: i32,
    /// Conversion of the sums to centipawns.
    pub blend: Blend,
    /// Terms of all features of the variant, including terms that are zero.
    pub terms: Vec<Term>,
}

impl Report {
    pub(super) fn new(
        features: &[Feature],
        record: &Record,
        blend: Blend,
        phase: i32,
        value: Score,
    ) -> Report {
        let terms = features.iter().map(|&feature| Term::of(feature, record)).collect();
        Report { value, phase, blend, terms }
    }

    /// Returns the report of an evaluation that is not tapered.
    pub(super) fn unblended(
        features: &[Feature],
        record: &Record,
        position: &Position,
        value: Score,
    ) -> Report {
        let phase_of_kind =
            |kind: Kind| PHASE[kind.index()] * position.board().kind(kind).len() as i32;
        let phase = Kind::ALL.into_iter().map(phase_of_kind).sum();
        let blend = Blend { opening: 1, endgame: 0, divisor: 1 };
        Report::new(features, record, blend, phase, value)
    }

    /// Adds the nonzero terms of `features` from `record`, except features that the report already
    /// contains.
    pub(super) fn include(&mut self, record: &Record, features: &[Feature]) {
        for &feature in features {
            let term = Term::of(feature, record);
            let is_own = self.terms.iter().any(|term| term.feature == feature);
            if !is_own && term.is_nonzero() {
                self.terms.push(term);
            }
        }
    }

    /// Returns the contribution of a term to the score, in centipawns from White's point of view.
    pub fn centipawns(&self, term: &Term) -> f64 {
        self.blend.centipawns(term.net()) + f64::from(term.step)
    }
}
