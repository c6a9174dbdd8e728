//! What of the board makes a quiet move likely to be good, before any history knows: it leaves a square
//! where a lesser piece attacks, goes to no such square, or gives check.
//!
//! The terms are those of Stockfish 16, `movepick.cpp`; the weights are our own.

use super::params;
use crate::chess::{Bitboard, Kind, Move, Position, attacks};

/// The squares of a position where pieces of the side to move are threatened or give check, by kind.
pub(super) struct Threats {
    /// Attacked by an enemy piece worth less.
    threatened: [Bitboard; 6],
    /// From where the enemy king is attacked.
    checking: [Bitboard; 6],
}

impl Threats {
    /// Those of a position.
    pub(super) fn of(position: &Position) -> Threats {
        let (us, board) = (position.turn(), position.board());
        let occupied = board.occupied();
        let enemies = |kind| board.pieces(!us, kind);
        let all = |kind, attacks: &dyn Fn(_) -> Bitboard| {
            enemies(kind).fold(Bitboard::EMPTY, |all, square| all | attacks(square))
        };
        let ahead = enemies(Kind::Pawn).forward(!us);
        let pawns = ahead.east() | ahead.west();
        let bishops = all(Kind::Bishop, &|square| attacks::bishop(square, occupied));
        let minors = pawns | all(Kind::Knight, &attacks::knight) | bishops;
        let rooks = minors | all(Kind::Rook, &|square| attacks::rook(square, occupied));
        let king = board.king(!us);
        let (bishop, rook) = (attacks::bishop(king, occupied), attacks::rook(king, occupied));
        let knight = attacks::knight(king);
        Threats {
            threatened: [Bitboard::EMPTY, pawns, pawns, minors, rooks, Bitboard::EMPTY],
            checking: [
                attacks::pawn(!us, king),
                knight,
                bishop,
                rook,
                bishop | rook,
                Bitboard::EMPTY,
            ],
        }
    }

    /// The score of a quiet move by a kind of piece for move ordering; higher is better.
    #[inline]
    pub(super) fn score(&self, kind: Kind, mv: Move) -> i32 {
        let (rook, queen) = (params::threat_rook(), params::threat_queen());
        let minor = params::threat_minor();
        let worth = [0, minor, minor, rook, queen, 0][kind.index()];
        let threatened = self.threatened[kind.index()];
        let is_at = |square| i32::from(threatened.contains(square));
        let checks = self.checking[kind.index()].contains(mv.to());
        worth * (is_at(mv.from()) - is_at(mv.to())) + params::check_order() * i32::from(checks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::chess::uci_move::{CastlingForm, parse};

    #[test]
    fn threatened_pieces_leave_and_checks_are_given() {
        let (minor, rook, queen) =
            (params::threat_minor(), params::threat_rook(), params::threat_queen());
        let check = params::check_order();
        for (text, moves) in [
            (
                "4k3/8/8/3p4/4N3/8/8/4K2R w - - 0 1",
                [("e4g3", minor), ("e4f6", minor + check), ("h1h8", check), ("h1h2", 0)],
            ),
            (
                "4k3/8/8/8/3n4/8/r7/1Q1K1R2 w - - 0 1",
                [("f1f3", -rook), ("f1f8", check), ("b1b2", -queen), ("b1h7", 0)],
            ),
        ] {
            let position = fen::parse(text).unwrap();
            let threats = Threats::of(&position);
            for (mv, score) in moves {
                let mv = parse(mv, &position, CastlingForm::KingTo).unwrap();
                let kind = position.kind_at(mv.from()).unwrap();
                assert_eq!(threats.score(kind, mv), score, "{text} {mv:?}");
            }
        }
    }
}
