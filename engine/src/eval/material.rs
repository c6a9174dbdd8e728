//! The plainest evaluation: pieces counted at fixed prices.
//!
//! A yardstick for other evaluations and a deliberately weak opponent.

use super::{Evaluator, Score};
use crate::chess::{Color, Kind, Move, Position};

/// Centipawns by kind; the king cannot be lost.
const PRICES: [Score; 6] = [100, 300, 300, 500, 900, 0];

/// Counts material.
pub struct Material;

impl Evaluator for Material {
    const PATH_INDEPENDENT: bool = true;

    fn reset(&mut self, _root: &Position) {}

    fn push(&mut self, _before: &Position, _mv: Move) {}

    fn push_null(&mut self) {}

    fn pop(&mut self) {}

    fn evaluate(&mut self, position: &Position) -> Score {
        let worth = |color: Color| -> Score {
            let board = position.board();
            Kind::ALL
                .into_iter()
                .map(|kind| PRICES[kind.index()] * board.pieces(color, kind).len() as Score)
                .sum()
        };
        worth(position.turn()) - worth(!position.turn())
    }
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
