//! Reimplementations of two versions of Rybka's evaluation from a published analysis. The versions
//! share the implementation of the features, and each version has a set of weights.
//!
//! The versions also differ in their rules ([`weights::Rules`]). Sums are in units of 1/3399 pawn,
//! White minus Black. The resulting score is in centipawns.

mod blend;
mod features;
mod lazy;
mod material;
mod passed;
mod patterns;
mod pawns;
mod pieces;
mod v1_0_beta;
mod v2_3_2a;
mod weights;

use super::feature::FeatureSet;
use super::report::{Blend, Report};
use super::score::EVALUATION_MAX;
use super::sink::{MaskedSum, Record, Sink, Sum};
use super::{Choice, Context, Evaluation, Evaluator, Score, TableUse};
use crate::chess::color::{Black, White};
use crate::chess::{Color, Game, Move, Position};
use features::{Experiment, Term, experiments, features};
use lazy::{Estimate, signed};
use material::Counts;
use pawns::PawnTable;
use std::marker::PhantomData;
use weights::{Lazy, Weights};

/// A version of Rybka. Each version is a type, so that weights and rules are compile-time
/// constants.
pub(super) trait Version {
    /// Weights of this version.
    const WEIGHTS: &'static Weights;
    /// Weights of the other version, for experiments.
    const OTHER: &'static Weights;
}

/// Rybka 1.0 Beta.
pub(super) struct V1_0Beta;

impl Version for V1_0Beta {
    const WEIGHTS: &'static Weights = &v1_0_beta::WEIGHTS;
    const OTHER: &'static Weights = &v2_3_2a::WEIGHTS;
}

/// Rybka 2.3.2a.
pub(super) struct V2_3_2a;

impl Version for V2_3_2a {
    const WEIGHTS: &'static Weights = &v2_3_2a::WEIGHTS;
    const OTHER: &'static Weights = &v1_0_beta::WEIGHTS;
}

/// Returns the entry of a version in the list of evaluations.
pub(super) const fn evaluation<V: Version + 'static>(name: &'static str) -> Evaluation {
    Evaluation {
        name,
        unit: "1/3399 pawn",
        features: features::<V>,
        experiments: experiments::<V>,
        evaluator: evaluator::<V>,
        explain: explain::<V>,
    }
}

/// Returns the evaluator of a version. The evaluator is lazy if the experiment `lazy` is enabled.
fn evaluator<V: Version + 'static>(choice: Choice) -> Box<dyn Evaluator> {
    let Choice { disabled, experiments, .. } = choice;
    if experiments.contains(Experiment::Lazy.into()) {
        Box::new(Rybka::<V, true>::new(disabled, experiments))
    } else {
        Box::new(Rybka::<V, false>::new(disabled, experiments))
    }
}

/// Returns the evaluation of the current position of a game, term by term.
fn explain<V: Version>(choice: Choice, game: &Game) -> Report {
    let Choice { disabled, experiments, .. } = choice;
    let position = game.position();
    let mut record = Record::new(disabled).trying(experiments);
    let value = Rybka::<V, false>::new(disabled, experiments).evaluate_terms(position, &mut record);
    let phase = Counts::of(position).phase();
    let endgame = V::WEIGHTS.endgame_share[24 - phase as usize];
    let blend = Blend { opening: 256 - endgame, endgame, divisor: blend::DIVISOR };
    let mut report = Report::new(&features::<V>(), &record, blend, phase, value);
    // An experiment may add a feature of the other version, so the nonzero terms of all features
    // are included.
    report.include(&record, Term::ALL);
    report
}

/// Evaluation of one version. If `LAZY`, scores far outside the search window may be estimates.
struct Rybka<V, const LAZY: bool> {
    disabled: FeatureSet,
    experiments: FeatureSet,
    pawns: PawnTable,
    estimate: Estimate,
    version: PhantomData<V>,
}

impl<V: Version, const LAZY: bool> Rybka<V, LAZY> {
    /// Returns the evaluation without the `disabled` features and with the `experiments` enabled.
    fn new(disabled: FeatureSet, experiments: FeatureSet) -> Self {
        // The type parameter already selects lazy evaluation. The experiment is removed from the
        // set, so that `score` can use the code for an evaluation without experiments.
        let experiments = experiments.without(Experiment::Lazy.into());
        let pawns = PawnTable::new();
        let estimate = Estimate::default();
        Rybka { disabled, experiments, pawns, estimate, version: PhantomData }
    }

    /// Returns the full score, in centipawns from the point of view of the side to move.
    fn score(&mut self, position: &Position) -> Score {
        if self.disabled.is_empty() && self.experiments.is_empty() {
            self.evaluate_terms(position, &mut Sum::default())
        } else {
            let mut sum = MaskedSum::new(self.disabled).trying(self.experiments);
            self.evaluate_terms(position, &mut sum)
        }
    }

    /// Returns the material score from White's point of view, in centipawns.
    fn material(&self, counts: &Counts) -> Score {
        if self.disabled.is_empty() && self.experiments.is_empty() {
            return counts.sum::<V, _>(Sum::default());
        }
        counts.sum::<V, _>(MaskedSum::new(self.disabled).trying(self.experiments))
    }

    /// Adds every term to `sink`, and returns the score in centipawns from the point of view of the
    /// side to move.
    #[inline]
    fn evaluate_terms<K: Sink>(&mut self, position: &Position, sink: &mut K) -> Score {
        let counts = Counts::of(position);
        counts.score::<V, K>(sink);
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

impl<V: Version, const LAZY: bool> Evaluator for Rybka<V, LAZY> {
    fn context(&self) -> Context {
        // Estimates must not be cached by position, because they also depend on the path to the
        // position and on the search window.
        if LAZY { Context::Root } else { Context::None }
    }

    fn reset(&mut self, game: &Game) {
        self.pawns.used = TableUse::default();
        if LAZY {
            let position = game.position();
            let score = self.score(position);
            self.estimate.reset(position, score);
        }
    }

    fn push(&mut self, _before: &Position, _mv: Move) {
        self.estimate.push::<LAZY>();
    }

    fn push_null(&mut self) {
        self.estimate.push::<LAZY>();
    }

    fn pop(&mut self) {
        self.estimate.pop::<LAZY>();
    }

    fn evaluate(&mut self, position: &Position) -> Score {
        let score = self.score(position);
        if LAZY && V::WEIGHTS.rules.lazy == Lazy::EstimateOutsideWindow {
            let material = self.material(&Counts::of(position));
            self.estimate.learn(position, material, score);
        }
        score
    }

    fn evaluate_within(&mut self, position: &Position, alpha: Score, beta: Score) -> Score {
        if !LAZY {
            return self.score(position);
        }
        let counts = Counts::of(position);
        match V::WEIGHTS.rules.lazy {
            Lazy::MaterialOutsideWindow => {
                if self.estimate.is_far_from_root(&counts) {
                    let material = signed(position, self.material(&counts));
                    return material + V::WEIGHTS.tempo;
                }
                self.score(position)
            }
            Lazy::EstimateOutsideWindow => {
                let material = self.material(&counts);
                let estimate = self.estimate.score(position, material);
                if lazy::is_outside(estimate, alpha, beta) {
                    return estimate;
                }
                let score = self.score(position);
                self.estimate.learn(position, material, score);
                score
            }
        }
    }

    fn pawn_table(&self) -> Option<TableUse> {
        Some(self.pawns.used)
    }
}

#[cfg(test)]
mod tests;
