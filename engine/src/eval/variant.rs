//! List of the evaluations. A new evaluation needs a module and an entry in this list.

use super::feature::Feature;
use super::{Choice, Evaluation, Evaluator, Score};
use super::{blunder, material, micromax, nnue, palimpsest, rdchess, rybka};
use crate::chess::Position;

/// Declares the enumeration of evaluations and the table of entries.
macro_rules! variants {
    ($($(#[$about:meta])* $variant:ident = $evaluation:expr;)*) => {
        /// An evaluation.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub enum Variant {
            $($(#[$about])* $variant,)*
        }

        /// Entries of all evaluations, in the order of [`Variant::ALL`].
        const EVALUATIONS: &[Evaluation] = &[$($evaluation),*];

        impl Variant {
            /// All variants, the default first.
            pub const ALL: [Variant; EVALUATIONS.len()] = [$(Variant::$variant),*];
        }
    };
}

variants! {
    /// A neural network.
    #[default]
    Nnue = nnue::EVALUATION;
    /// The engine's hand-crafted evaluation.
    Palimpsest = palimpsest::EVALUATION;
    /// Reimplementation of Rybka 1.0 Beta from a published analysis.
    Rybka1_0Beta = rybka::evaluation::<rybka::V1_0Beta>("rybka-1.0-beta");
    /// Reimplementation of Rybka 2.3.2a from the analysis used for Rybka 1.0 Beta.
    Rybka2_3_2a = rybka::evaluation::<rybka::V2_3_2a>("rybka-2.3.2a");
    /// Reimplementation of Blunder, version of December 2021.
    Blunder = blunder::EVALUATION;
    /// Reimplementation of RDChess from its author's description.
    Rdchess = rdchess::EVALUATION;
    /// Reimplementation of micro-Max 3.2, which evaluates moves instead of positions.
    Micromax = micromax::EVALUATION;
    /// Material with fixed piece values.
    Material = material::EVALUATION;
}

impl Variant {
    pub(super) const fn evaluation(self) -> &'static Evaluation {
        &EVALUATIONS[self as usize]
    }

    /// Returns the name in the UCI option `Eval`.
    pub const fn name(self) -> &'static str {
        self.evaluation().name
    }

    /// Returns the unit of the evaluation's terms.
    pub const fn unit(self) -> &'static str {
        self.evaluation().unit
    }

    /// Returns the variant with this name, ignoring case.
    pub fn from_name(name: &str) -> Option<Variant> {
        Variant::ALL.into_iter().find(|variant| variant.name().eq_ignore_ascii_case(name))
    }

    /// Returns the features that can be disabled.
    pub fn features(self) -> Vec<Feature> {
        (self.evaluation().features)()
    }

    /// Returns the experiments with this evaluation. Some experiments are changes proposed by the
    /// author of the evaluation or by other people. The other experiments measure the value of one
    /// part of the evaluation.
    pub fn experiments(self) -> Vec<Feature> {
        (self.evaluation().experiments)()
    }

    /// Returns the evaluator with all features enabled.
    pub fn evaluator(self) -> Box<dyn Evaluator> {
        Choice::from(self).evaluator()
    }

    /// Returns the score of a position, in centipawns from the point of view of the side to move,
    /// as if the position were the root of a search.
    pub fn evaluate(self, position: &Position) -> Score {
        Choice::from(self).evaluate(position)
    }
}
