//! The simplest evaluation: material with fixed piece values.
//!
//! This evaluation serves as a reference for other evaluations and as a deliberately weak opponent.

use super::feature::{FeatureSet, features};
use super::pair::Pair;
use super::report::Report;
use super::sink::{MaskedSum, Record, Sink, Sum};
use super::{Evaluation, Evaluator, Score};
use crate::chess::{Color, Kind, Position};

features! {
    /// A feature of this evaluation.
    Term {
        Count = "material", "pieces counted at fixed prices";
    }
}

/// Piece values by type, in centipawns. A king has the value 0, because a king cannot be captured.
const PIECE_VALUES: [Score; 6] = [100, 300, 300, 500, 900, 0];

/// Entry in the list of evaluations.
pub(super) const EVALUATION: Evaluation = Evaluation {
    name: "material",
    unit: "centipawns",
    features: || Term::ALL.to_vec(),
    experiments: Vec::new,
    evaluator: |choice| Box::new(Material::new(choice.disabled)),
    explain: |choice, game| Material::new(choice.disabled).explain(game.position()),
};

/// Evaluation that counts material.
#[derive(Default)]
pub struct Material {
    disabled: FeatureSet,
}

impl Material {
    /// Returns the evaluation without the `disabled` features.
    fn new(disabled: FeatureSet) -> Material {
        Material { disabled }
    }

    /// Returns the evaluation of a position, term by term.
    fn explain(&self, position: &Position) -> Report {
        let mut record = Record::new(self.disabled);
        let value = evaluate_terms(position, &mut record);
        Report::unblended(Term::ALL, &record, position, value)
    }
}

impl Evaluator for Material {
    fn evaluate(&mut self, position: &Position) -> Score {
        if self.disabled.is_empty() {
            evaluate_terms(position, &mut Sum::default())
        } else {
            evaluate_terms(position, &mut MaskedSum::new(self.disabled))
        }
    }
}

#[inline]
fn evaluate_terms<K: Sink>(position: &Position, sink: &mut K) -> Score {
    let board = position.board();
    for color in Color::ALL {
        let price =
            |kind: Kind| PIECE_VALUES[kind.index()] * board.pieces(color, kind).len() as Score;
        let worth = Kind::ALL.into_iter().map(price).sum();
        sink.add(Term::Count, color, Pair::new(worth, worth));
    }
    let score = sink.sum().opening();
    if position.turn() == Color::White { score } else { -score }
}

#[cfg(test)]
mod tests {
    use crate::chess::fen;
    use crate::eval::Variant;

    #[test]
    fn pieces_are_counted() {
        for (text, expected) in [
            (fen::STARTPOS, 0),
            ("4k3/8/8/8/8/8/7P/QRBNK3 w - - 0 1", 2_100),
            ("4k3/8/8/8/8/8/7P/QRBNK3 b - - 0 1", -2_100),
        ] {
            assert_eq!(Variant::Material.evaluate(&fen::parse(text).unwrap()), expected, "{text}");
        }
    }
}
