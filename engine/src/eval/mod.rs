//! Static evaluations, selected by name.
//!
//! An evaluation implements [`Evaluator`]; [`Variant`] lists all evaluations. The search is
//! compiled three times: for the network, for the hand-crafted evaluation, and for the trait object
//! that [`Choice::evaluator`] returns. All other evaluations use the trait object, because their
//! speed does not justify separate copies of the search.

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

/// Additional input of an evaluation, besides the position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    /// No additional input: scores can be cached by position.
    None,
    /// The root of the search.
    Root,
    /// The path from the root to the position: scores are valid only within one search.
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
/// The search passes every move to the evaluator, so that a score can depend on the path to a
/// position. `pop` must undo the latest `push` or `push_null` exactly. By default, moves have no
/// effect.
pub trait Evaluator {
    /// Returns the additional input, besides the position, on which scores depend.
    fn context(&self) -> Context {
        Context::None
    }

    /// Discards all pushed moves, and starts at the current position of the game.
    fn reset(&mut self, _game: &Game) {}

    /// Receives a move, which is made in the position `before`.
    fn push(&mut self, _before: &Position, _mv: Move) {}

    /// Receives a null move.
    fn push_null(&mut self) {}

    /// Undoes the latest `push` or `push_null`.
    fn pop(&mut self) {}

    /// Returns the score of `position` (the position after all pushed moves) from the point of view
    /// of the side to move. The score is in centipawns, within ±[`score::EVALUATION_MAX`].
    fn evaluate(&mut self, position: &Position) -> Score;

    /// Returns the score for a search window from `alpha` to `beta`. A lazy evaluation may return
    /// an estimate if the score is far outside the window.
    fn evaluate_within(&mut self, position: &Position, _alpha: Score, _beta: Score) -> Score {
        self.evaluate(position)
    }

    /// Returns the numbers of lookups and hits in the pawn table (or king-pawn table) since the
    /// last `reset`; `None` if the evaluation has no pawn table or does not count lookups.
    fn pawn_table(&self) -> Option<TableUse> {
        None
    }
}

/// Numbers of lookups and hits in a table of cached terms.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Number of lookups.
    pub looked_up: u64,
    /// Number of hits.
    pub found: u64,
}

impl TableUse {
    /// Counts one lookup, and a hit if `is_found`.
    #[inline]
    fn count(&mut self, is_found: bool) {
        self.looked_up += 1;
        self.found += u64::from(is_found);
    }
}

/// Entry in the list of evaluations.
struct Evaluation {
    /// Name in the UCI option `Eval`.
    name: &'static str,
    /// Unit of the terms.
    unit: &'static str,
    /// Features that can be disabled.
    features: fn() -> Vec<Feature>,
    /// Experiments; see [`Variant::experiments`].
    experiments: fn() -> Vec<Feature>,
    /// Creates the evaluator for a choice whose variant is this evaluation.
    evaluator: fn(Choice) -> Box<dyn Evaluator>,
    /// Evaluates the current position of a game, term by term.
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
    /// Network for [`Variant::Nnue`]; `None` for the embedded network.
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
    /// Returns the choice with only the named experiments enabled.
    ///
    /// # Errors
    ///
    /// Returns the first unknown name.
    pub fn trying(mut self, names: &str) -> Result<Choice, UnknownFeature> {
        self.experiments = FeatureSet::parse(names, &self.variant.experiments())?;
        Ok(self)
    }

    /// Returns the evaluator of this choice.
    pub fn evaluator(self) -> Box<dyn Evaluator> {
        (self.variant.evaluation().evaluator)(self)
    }

    /// Returns the network evaluation, regardless of the variant.
    pub(crate) fn nnue(self) -> nnue::Nnue {
        nnue::Nnue::new(self.network.unwrap_or_else(nnue::embedded))
    }

    /// Returns the hand-crafted evaluation, regardless of the variant.
    pub(crate) fn palimpsest(self) -> palimpsest::Palimpsest {
        palimpsest::Palimpsest::new(self.disabled)
    }

    /// Returns the score of a position, in centipawns from the point of view of the side to move,
    /// as if the position were the root of a search.
    pub fn evaluate(self, position: &Position) -> Score {
        let mut evaluator = self.evaluator();
        evaluator.reset(&Game::new(*position));
        evaluator.evaluate(position)
    }

    /// Returns the score of a position, term by term, as if the position were the root of a search.
    pub fn explain(self, position: &Position) -> Report {
        self.explain_game(&Game::new(*position))
    }

    /// Returns the score of the current position of a game, term by term.
    pub fn explain_game(self, game: &Game) -> Report {
        (self.variant.evaluation().explain)(self, game)
    }
}
