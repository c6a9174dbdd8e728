//! Two versions of Rybka's evaluation, rebuilt from a published analysis: one code of features, two
//! sets of weights.
//!
//! What the versions do differently is a named flag of [`weights::Rules`]. Sums are in units of
//! 1/3399 pawn, White minus Black; the result is in centipawns.

mod blend;
mod compare;
mod features;
mod material;
mod passed;
mod patterns;
mod pawns;
mod pieces;
mod v1_0_beta;
mod v2_3_2a;
mod weights;

use super::feature::{Feature, FeatureSet};
use super::report::{Blend, Report};
use super::score::EVALUATION_MAX;
use super::sink::{MaskedSum, Record, Sink, Sum};
use super::{Context, Evaluator, Score, Variant};
use crate::chess::color::{Black, White};
use crate::chess::{Color, Game, Move, Position};
pub(super) use compare::entries;
use features::Term;
use material::Counts;
use pawns::PawnTable;
use std::marker::PhantomData;
use weights::Weights;

/// A version as a type, so that its figures and flags are folded into the code.
pub(super) trait Version {
    /// The name of the evaluation.
    const VARIANT: Variant;
    /// Its figures.
    const WEIGHTS: &'static Weights;
}

/// Rybka 1.0 Beta.
pub(super) struct V1_0Beta;

impl Version for V1_0Beta {
    const VARIANT: Variant = Variant::Rybka1_0Beta;
    const WEIGHTS: &'static Weights = &v1_0_beta::WEIGHTS;
}

/// Rybka 2.3.2a.
pub(super) struct V2_3_2a;

impl Version for V2_3_2a {
    const VARIANT: Variant = Variant::Rybka2_3_2a;
    const WEIGHTS: &'static Weights = &v2_3_2a::WEIGHTS;
}

/// The evaluation of one version.
pub(super) struct Rybka<V> {
    disabled: FeatureSet,
    pawns: PawnTable,
    version: PhantomData<V>,
}

impl<V: Version> Rybka<V> {
    /// The evaluation without some features.
    pub(super) fn new(disabled: FeatureSet) -> Rybka<V> {
        Rybka { disabled, pawns: PawnTable::new(), version: PhantomData }
    }

    /// The features this version has.
    pub(super) fn features() -> Vec<Feature> {
        Term::ALL.iter().copied().filter(|term| features::has(V::WEIGHTS, term.index)).collect()
    }

    /// The position, term by term.
    pub(super) fn explain(&mut self, position: &Position) -> Report {
        let mut record = Record::new(self.disabled);
        let value = self.evaluate_terms(position, &mut record);
        let phase = Counts::of(position).phase();
        let endgame = V::WEIGHTS.endgame_share[24 - phase as usize];
        let blend = Blend { opening: 256 - endgame, endgame, divisor: blend::DIVISOR };
        Report::new(V::VARIANT, &record, blend, phase, value)
    }

    /// The score for the side to move, with every term sent to `sink`.
    #[inline]
    fn evaluate_terms<K: Sink>(&mut self, position: &Position, sink: &mut K) -> Score {
        let counts = Counts::of(position);
        counts.score(V::WEIGHTS, sink);
        let pawns = self.pawns.look_up::<V, K>(position, sink);
        let reach = [
            pieces::score::<V, White, K>(position, &pawns, sink),
            pieces::score::<V, Black, K>(position, &pawns, sink),
        ];
        let [white, black] = reach;
        passed::score::<V, White, K>(position, pawns.passed[0], [white, black], sink);
        passed::score::<V, Black, K>(position, pawns.passed[1], [black, white], sink);
        patterns::score::<V, White, K>(position, sink);
        patterns::score::<V, Black, K>(position, sink);
        let score = blend::score::<V, K>(position, &counts, &pawns, sink);
        let relative = if position.turn() == Color::White { score } else { -score };
        relative.clamp(-EVALUATION_MAX, EVALUATION_MAX)
    }
}

impl<V: Version> Evaluator for Rybka<V> {
    const CONTEXT: Context = Context::None;

    fn reset(&mut self, _game: &Game) {}

    fn push(&mut self, _before: &Position, _mv: Move) {}

    fn push_null(&mut self) {}

    fn pop(&mut self) {}

    fn evaluate(&mut self, position: &Position) -> Score {
        if self.disabled.is_empty() {
            self.evaluate_terms(position, &mut Sum::default())
        } else {
            self.evaluate_terms(position, &mut MaskedSum::new(self.disabled))
        }
    }
}

#[cfg(test)]
mod tests;
