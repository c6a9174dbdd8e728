//! Pawn structure and passed pawns.

use super::pair::Pair;
use super::weights;
use crate::chess::color::Side;
use crate::chess::{Bitboard, Kind, Position, Square};

/// The pawn terms of one side.
pub(super) fn score<S: Side>(position: &Position) -> Pair {
    let board = position.board();
    let own = board.pieces(S::COLOR, Kind::Pawn);
    let enemy = board.pieces(!S::COLOR, Kind::Pawn);
    let supported = own.pawn_attacks::<S>() | own.east() | own.west();
    let mut sum = weights::CONNECTED * (own & supported).len() as i32;
    for square in own {
        let ahead = Bitboard::of(square).forward_fill(S::COLOR);
        let file = Bitboard::file(square.file());
        let beside = file.east() | file.west();
        if (own & beside).is_empty() {
            sum += weights::ISOLATED;
        }
        if (own & ahead).any() {
            sum += weights::DOUBLED;
        } else if (enemy & (ahead | ahead.east() | ahead.west())).is_empty() {
            sum += passed::<S>(position, square);
        }
    }
    sum
}

fn passed<S: Side>(position: &Position, square: Square) -> Pair {
    let board = position.board();
    let rank = square.relative(S::COLOR).rank();
    let mut sum = weights::PASSED[rank as usize];
    let next = Bitboard::of(square).forward(S::COLOR);
    if (next & board.occupied()).is_empty() {
        sum += weights::PASSED_FREE * i32::from(rank - 1);
    }
    let beyond_third = i32::from(rank) - 2;
    if beyond_third > 0 {
        let [own, enemy] = weights::PASSED_KING;
        let ahead = next.first();
        let distance = |color| i32::from(board.king(color).distance(ahead));
        sum.end += beyond_third * (enemy * distance(!S::COLOR) - own * distance(S::COLOR));
    }
    sum
}
