//! Threats in the ordering of quiet moves, useful mainly for moves without history. A move is more
//! likely to be good if it leaves a square that a less valuable piece attacks, avoids such squares,
//! or gives check. The butterfly history also distinguishes moves by the enemy's attacks.
//!
//! The terms are from Stockfish 16 (`movepick.cpp`). The weights are specific to this engine.

use super::params;
use crate::chess::{Bitboard, Kind, Move, Position, attacks};

/// Squares that the enemy attacks in a position.
#[derive(Clone, Copy, Default)]
pub(super) struct Attacks {
    /// Squares attacked by any piece.
    pub(super) all: Bitboard,
    /// Squares attacked by pawns.
    pawns: Bitboard,
    /// Squares attacked by pawns and minor pieces.
    minors: Bitboard,
    /// Squares attacked by pawns, minor pieces and rooks.
    rooks: Bitboard,
}

impl Attacks {
    /// Returns the enemy's attacks in a position.
    pub(super) fn of(position: &Position) -> Attacks {
        let us = position.turn();
        let board = position.board();
        let occupied = board.occupied();
        let enemies = |kind| board.pieces(!us, kind);
        let by = |kind, attacks: &dyn Fn(_) -> Bitboard| {
            enemies(kind).fold(Bitboard::EMPTY, |all, square| all | attacks(square))
        };
        let bishop = |square| attacks::bishop(square, occupied);
        let rook = |square| attacks::rook(square, occupied);
        let ahead = enemies(Kind::Pawn).forward(!us);
        let pawns = ahead.east() | ahead.west();
        let minors = pawns | by(Kind::Knight, &attacks::knight) | by(Kind::Bishop, &bishop);
        let rooks = minors | by(Kind::Rook, &rook);
        let queens = by(Kind::Queen, &|square| bishop(square) | rook(square));
        let all = rooks | queens | attacks::king(board.king(!us));
        Attacks { all, pawns, minors, rooks }
    }

    /// Returns the move-ordering score of a quiet move by a piece of type `kind`: positive for
    /// leaving a square that a less valuable piece attacks, negative for moving to such a square.
    #[inline]
    pub(super) fn score(self, kind: Kind, mv: Move) -> i32 {
        let (worth, threatened) = match kind {
            Kind::Knight | Kind::Bishop => (params::threat_minor(), self.pawns),
            Kind::Rook => (params::threat_rook(), self.minors),
            Kind::Queen => (params::threat_queen(), self.rooks),
            Kind::Pawn | Kind::King => return 0,
        };
        let is_at = |square| i32::from(threatened.contains(square));
        worth * (is_at(mv.from()) - is_at(mv.to()))
    }
}

/// Squares from which a piece of the side to move would give a direct check, by piece type.
#[derive(Clone, Copy)]
pub(super) struct Checks([Bitboard; 6]);

impl Checks {
    /// Returns the checking squares in a position.
    pub(super) fn of(position: &Position) -> Checks {
        let us = position.turn();
        let board = position.board();
        let king = board.king(!us);
        let occupied = board.occupied();
        let (bishop, rook) = (attacks::bishop(king, occupied), attacks::rook(king, occupied));
        let pawn = attacks::pawn(!us, king);
        let knight = attacks::knight(king);
        Checks([pawn, knight, bishop, rook, bishop | rook, Bitboard::EMPTY])
    }

    /// Returns the move-ordering score of a quiet move by a piece of type `kind`: a bonus for a
    /// direct check.
    #[inline]
    pub(super) fn score(self, kind: Kind, mv: Move) -> i32 {
        params::check_order() * i32::from(self.0[kind.index()].contains(mv.to()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::fen;
    use crate::chess::uci_move::{CastlingForm, parse};

    #[test]
    fn escapes_and_checks_score_higher() {
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
            let attacks = Attacks::of(&position);
            let checks = Checks::of(&position);
            for (mv, score) in moves {
                let mv = parse(mv, &position, CastlingForm::KingTo).unwrap();
                let kind = position.kind_at(mv.from()).unwrap();
                let found = attacks.score(kind, mv) + checks.score(kind, mv);
                assert_eq!(found, score, "{text} {mv:?}");
            }
        }
    }
}
