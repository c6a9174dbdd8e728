//! The terms of one evaluation.

use super::feature::Feature;
use super::pair::Pair;
use super::score::Score;
use super::sink::Record;
use crate::chess::{Kind, Position};

/// Phase of a piece, by kind; the pieces at the start have 24.
const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Conversion of a variant's sums to centipawns: (opening × `opening` + endgame × `endgame`) ÷
/// `divisor`, before rounding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// Factor of the opening sum.
    pub opening: i32,
    /// Factor of the endgame sum.
    pub endgame: i32,
    /// Divisor of the weighted sum.
    pub divisor: i32,
}

impl Blend {
    /// Returns the contribution of a score, in centipawns.
    pub fn centipawns(self, score: Pair) -> f64 {
        let opening = f64::from(score.opening()) * f64::from(self.opening);
        let endgame = f64::from(score.endgame()) * f64::from(self.endgame);
        (opening + endgame) / f64::from(self.divisor)
    }
}

/// Value of a feature in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term {
    /// The feature.
    pub feature: Feature,
    /// Each side's score from its own point of view, White first, in the unit of the variant.
    pub sides: [Pair; 2],
    /// Change of the blended score by the feature, in centipawns from White's point of view; 0 for
    /// features that are part of the sums.
    pub step: i32,
}

impl Term {
    fn of(feature: Feature, record: &Record) -> Term {
        Term { feature, sides: record.term(feature.index), step: record.change(feature.index) }
    }

    /// Returns White minus Black, in the unit of the variant.
    pub fn net(&self) -> Pair {
        self.sides[0] - self.sides[1]
    }

    /// Returns whether the term has an effect on the score of the position.
    pub fn is_nonzero(&self) -> bool {
        self.sides != [Pair::ZERO; 2] || self.step != 0
    }
}

/// An evaluation of a position, term by term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The score for the side to move, in centipawns.
    pub value: Score,
    /// Phase: 24 with all pieces on the board, 0 with none.
    pub phase: i32,
    /// The conversion of sums to centipawns.
    pub blend: Blend,
    /// All features of the variant, including those without effect on the position.
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

    /// Returns the report of an evaluation without separate endgame scores.
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

    /// Adds the terms of `features` that the variant does not have but the record contains.
    pub(super) fn include(&mut self, record: &Record, features: &[Feature]) {
        for &feature in features {
            let term = Term::of(feature, record);
            let is_own = self.terms.iter().any(|term| term.feature == feature);
            if !is_own && term.is_nonzero() {
                self.terms.push(term);
            }
        }
    }

    /// Returns the final value of a term, in centipawns from White's point of view.
    pub fn centipawns(&self, term: &Term) -> f64 {
        self.blend.centipawns(term.net()) + f64::from(term.step)
    }
}
