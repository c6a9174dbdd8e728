//! Static evaluation, chosen by name.
//!
//! An evaluation implements [`Evaluator`]; [`Variant`] lists all evaluations. The search is
//! compiled for the network, for the hand-crafted evaluation, and once for [`Choice::evaluator`], a
//! pointer to any evaluation. The remaining evaluations reproduce other programs, whose speed does
//! not justify a copy of the search for each.

mod blunder;
pub mod feature;
pub mod material;
pub mod micromax;
pub mod nnue;
pub mod pair;
pub mod palimpsest;
pub(crate) mod rdchess;
pub mod report;
mod rybka;
pub mod score;
mod sink;
mod variant;

use crate::chess::{Game, Move, Position};
use feature::{Feature, FeatureSet, UnknownFeature};
use nnue::network::Network;
use report::Report;
pub use score::Score;
pub use variant::Variant;

/// Input of a score in addition to the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// No other input: scores may be stored by position.
    None,
    /// The root of the search.
    Root,
    /// The path from the root: scores of one search are invalid in the next.
    Path,
}

impl Context {
    /// Returns whether the score depends on the position alone.
    pub const fn is_none(self) -> bool {
        matches!(self, Context::None)
    }

    /// Returns whether the score depends on the path to the position.
    pub const fn is_path(self) -> bool {
        matches!(self, Context::Path)
    }
}

/// Static evaluation.
///
/// The search reports every move, so that an evaluation may depend on the path to a position. `pop`
/// must undo the latest `push` or `push_null` exactly. By default, moves have no effect.
pub trait Evaluator {
    /// Returns the input of the score in addition to the position.
    fn context(&self) -> Context {
        Context::None
    }

    /// Discards all moves and starts at the game's position.
    fn reset(&mut self, _game: &Game) {}

    /// Receives a move made in `before`.
    fn push(&mut self, _before: &Position, _mv: Move) {}

    /// Receives a null move.
    fn push_null(&mut self) {}

    /// Takes back the latest move or null move.
    fn pop(&mut self) {}

    /// Returns the score of `position`, which the announced moves have reached, in centipawns from
    /// the point of view of the side to move, within ±[`score::EVALUATION_MAX`].
    fn evaluate(&mut self, position: &Position) -> Score;

    /// Returns the score for a search to which only scores between `alpha` and `beta` matter: a
    /// lazy evaluation may return an estimate if the score is far outside.
    fn evaluate_within(&mut self, position: &Position, _alpha: Score, _beta: Score) -> Score {
        self.evaluate(position)
    }

    /// Returns the use of the table of pawns, or of kings and pawns, since `reset`; `None` if there
    /// is no such table or its use is not counted.
    fn pawn_table(&self) -> Option<TableUse> {
        None
    }
}

/// Use of a table that caches terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Number of positions looked up.
    pub looked_up: u64,
    /// Number of positions found.
    pub found: u64,
}

impl TableUse {
    /// Counts one lookup.
    #[inline]
    fn count(&mut self, is_found: bool) {
        self.looked_up += 1;
        self.found += u64::from(is_found);
    }
}

/// Declaration of an evaluation.
struct Evaluation {
    /// Name, as in the UCI option `Eval`.
    name: &'static str,
    /// Unit of the terms.
    unit: &'static str,
    /// Features that can be disabled.
    features: fn() -> Vec<Feature>,
    /// Experiments, as [`Variant::experiments`] describes them.
    experiments: fn() -> Vec<Feature>,
    /// Makes the evaluator of a choice of this evaluation.
    evaluator: fn(Choice) -> Box<dyn Evaluator>,
    /// Evaluates the position that a game has reached, term by term.
    explain: fn(Choice, &Game) -> Report,
}

/// An evaluation with its disabled features and enabled experiments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The evaluation.
    pub variant: Variant,
    /// Disabled features.
    pub disabled: FeatureSet,
    /// Enabled experiments.
    pub experiments: FeatureSet,
    /// The network of [`Variant::Nnue`]; `None` for the embedded network.
    pub network: Option<&'static Network>,
}

impl From<Variant> for Choice {
    fn from(variant: Variant) -> Choice {
        let none = FeatureSet::EMPTY;
        Choice { variant, disabled: none, experiments: none, network: None }
    }
}

impl Evaluator for Box<dyn Evaluator> {
    fn context(&self) -> Context {
        (**self).context()
    }

    fn reset(&mut self, game: &Game) {
        (**self).reset(game);
    }

    fn push(&mut self, before: &Position, mv: Move) {
        (**self).push(before, mv);
    }

    fn push_null(&mut self) {
        (**self).push_null();
    }

    fn pop(&mut self) {
        (**self).pop();
    }

    fn evaluate(&mut self, position: &Position) -> Score {
        (**self).evaluate(position)
    }

    fn evaluate_within(&mut self, position: &Position, alpha: Score, beta: Score) -> Score {
        (**self).evaluate_within(position, alpha, beta)
    }

    fn pawn_table(&self) -> Option<TableUse> {
        (**self).pawn_table()
    }
}

impl Choice {
    /// Returns the choice with the named experiments and no others.
    ///
    /// # Errors
    ///
    /// The first unknown name.
    pub fn trying(mut self, names: &str) -> Result<Choice, UnknownFeature> {
        self.experiments = FeatureSet::parse(names, &self.variant.experiments())?;
        Ok(self)
    }

    /// Returns the evaluator of this choice.
    pub fn evaluator(self) -> Box<dyn Evaluator> {
        (self.variant.evaluation().evaluator)(self)
    }

    /// Returns the network evaluation, whatever the variant is.
    pub(crate) fn nnue(self) -> nnue::Nnue {
        nnue::Nnue::new(self.network.unwrap_or_else(nnue::embedded))
    }

    /// Returns the hand-crafted evaluation, whatever the variant is.
    pub(crate) fn palimpsest(self) -> palimpsest::Palimpsest {
        palimpsest::Palimpsest::new(self.disabled)
    }

    /// Returns the score of a position, in centipawns for the side to move, as if the position were
    /// the root of the search.
    pub fn evaluate(self, position: &Position) -> Score {
        let mut evaluator = self.evaluator();
        evaluator.reset(&Game::new(*position));
        evaluator.evaluate(position)
    }

    /// Returns the score of a position, term by term, as if the position were the root of the
    /// search.
    pub fn explain(self, position: &Position) -> Report {
        self.explain_game(&Game::new(*position))
    }

    /// Returns the score of the current position of a game, term by term.
    pub fn explain_game(self, game: &Game) -> Report {
        (self.variant.evaluation().explain)(self, game)
    }
}
