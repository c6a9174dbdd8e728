//! Static evaluation, chosen by name.
//!
//! An evaluation implements [`Evaluator`]; [`Variant`] names them all and
//! [`Variant::dispatch`] is the one place where a name becomes a type. Everything behind it is
//! compiled per evaluation, so that the search never calls through a pointer.

pub mod material;
pub mod palimpsest;
pub mod score;

use crate::chess::{Move, Position};
pub use score::Score;

/// Judges positions without searching.
///
/// The search announces every move, so that an evaluation may depend on the way a position was
/// reached. `pop` must undo the latest `push` or `push_null` exactly.
pub trait Evaluator {
    /// Does the score depend on the position alone? Only then may it be cached by position.
    const PATH_INDEPENDENT: bool;

    /// Forgets all moves and starts from `root`.
    fn reset(&mut self, root: &Position);

    /// `mv` is made in `before`.
    fn push(&mut self, before: &Position, mv: Move);

    /// The side to move passes.
    fn push_null(&mut self);

    /// The latest move is taken back.
    fn pop(&mut self);

    /// The score of `position`, the one reached by the announced moves, in centipawns from the
    /// point of view of the side to move; within ±[`score::EVALUATION_MAX`].
    fn evaluate(&mut self, position: &Position) -> Score;
}

/// The evaluations there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// The engine's own.
    #[default]
    Palimpsest,
    /// Counts material and nothing else.
    Material,
}

/// Work that needs some evaluation, whichever it is.
pub trait Task {
    /// What the work yields.
    type Output;

    /// Does the work with the evaluation chosen.
    fn run<E: Evaluator>(self, evaluator: E) -> Self::Output;
}

impl Variant {
    /// All variants, the default first.
    pub const ALL: [Variant; 2] = [Variant::Palimpsest, Variant::Material];

    /// The name used by the UCI option `Eval`.
    pub const fn name(self) -> &'static str {
        match self {
            Variant::Palimpsest => "palimpsest",
            Variant::Material => "material",
        }
    }

    /// The variant of that name, in any case.
    pub fn from_name(name: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|variant| variant.name().eq_ignore_ascii_case(name))
    }

    /// Runs a task with this evaluation.
    pub fn dispatch<T: Task>(self, task: T) -> T::Output {
        match self {
            Variant::Palimpsest => task.run(palimpsest::Palimpsest),
            Variant::Material => task.run(material::Material),
        }
    }

    /// The score of a position taken as a root, in centipawns for the side to move.
    pub fn evaluate(self, position: &Position) -> Score {
        struct Static<'a>(&'a Position);

        impl Task for Static<'_> {
            type Output = Score;

            fn run<E: Evaluator>(self, mut evaluator: E) -> Score {
                evaluator.reset(self.0);
                evaluator.evaluate(self.0)
            }
        }

        self.dispatch(Static(position))
    }
}
