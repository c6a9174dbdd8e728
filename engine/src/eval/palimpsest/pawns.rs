//! Pawn structure and passed pawns.

use super::super::pair::Pair;
use super::super::sink::Sink;
use super::{Term, weights};
use crate::chess::color::Side;
use crate::chess::{Bitboard, Kind, Position, Square};

/// Sends the pawn terms of one side to `sink`.
#[inline]
pub(super) fn score<S: Side, K: Sink>(position: &Position, sink: &mut K) {
    let board = position.board();
    let own = board.pieces(S::COLOR, Kind::Pawn);
    let enemy = board.pieces(!S::COLOR, Kind::Pawn);
    let supported = own.pawn_attacks::<S>() | own.east() | own.west();
    let connected = weights::CONNECTED * (own & supported).len() as i32;
    sink.add(Term::Connected, S::COLOR, connected);
    for square in own {
        let ahead = Bitboard::of(square).forward_fill(S::COLOR);
        let file = Bitboard::file(square.file());
        let beside = file.east() | file.west();
        if (own & beside).is_empty() {
            sink.add(Term::Isolated, S::COLOR, weights::ISOLATED);
        }
        if (own & ahead).any() {
            sink.add(Term::Doubled, S::COLOR, weights::DOUBLED);
        } else if (enemy & (ahead | ahead.east() | ahead.west())).is_empty() {
            passed::<S, K>(position, square, sink);
        }
    }
}

#[inline]
fn passed<S: Side, K: Sink>(position: &Position, square: Square, sink: &mut K) {
    let board = position.board();
    let rank = square.relative(S::COLOR).rank();
    sink.add(Term::Passed, S::COLOR, weights::PASSED[rank as usize]);
    let next = Bitboard::of(square).forward(S::COLOR);
    if (next & board.occupied()).is_empty() {
        sink.add(Term::PassedFree, S::COLOR, weights::PASSED_FREE * i32::from(rank - 1));
    }
    let beyond_third = i32::from(rank) - 2;
    if beyond_third > 0 {
        let [own, enemy] = weights::PASSED_KING;
        let ahead = next.first();
        let distance = |color| i32::from(board.king(color).distance(ahead));
        let kings = beyond_third * (enemy * distance(!S::COLOR) - own * distance(S::COLOR));
        sink.add(Term::PassedKing, S::COLOR, Pair::of_endgame(kings));
    }
}
