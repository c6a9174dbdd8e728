//! Patterns: trapped and blocked bishops and rooks.

use super::Version;
use super::features::Term;
use super::weights::TrappedBishops;
use crate::chess::color::Side;
use crate::chess::{Bitboard, Kind, Position, Square};
use crate::eval::sink::Sink;

const A1: Square = Square::at(0, 0);
const A2: Square = Square::at(0, 1);
const A6: Square = Square::at(0, 5);
const A7: Square = Square::at(0, 6);
const B1: Square = Square::at(1, 0);
const B5: Square = Square::at(1, 4);
const B6: Square = Square::at(1, 5);
const B8: Square = Square::at(1, 7);
const C1: Square = Square::at(2, 0);
const C7: Square = Square::at(2, 6);
const D2: Square = Square::at(3, 1);
const D3: Square = Square::at(3, 2);
const E2: Square = Square::at(4, 1);
const E3: Square = Square::at(4, 2);
const F1: Square = Square::at(5, 0);
const F7: Square = Square::at(5, 6);
const G1: Square = Square::at(6, 0);
const G5: Square = Square::at(6, 4);
const G6: Square = Square::at(6, 5);
const G8: Square = Square::at(6, 7);
const H1: Square = Square::at(7, 0);
const H2: Square = Square::at(7, 1);
const H6: Square = Square::at(7, 5);
const H7: Square = Square::at(7, 6);

const fn set<const N: usize>(squares: [Square; N]) -> Bitboard {
    let mut set = 0;
    let mut index = 0;
    while index < N {
        set |= Bitboard::of(squares[index]).0;
        index += 1;
    }
    Bitboard(set)
}

/// Square of a bishop, and square of the enemy pawn that traps the bishop.
const TRAPS: [(Square, Square); 6] = [(A6, B5), (A7, B6), (B8, C7), (H6, G5), (H7, G6), (G8, F7)];
const TRAP_SQUARES: Bitboard = set([A6, A7, B8, H6, H7, G8]);

/// Square of a bishop, square of the friendly pawn that blocks the bishop, and square in front of
/// this pawn. The last square must be occupied.
const BLOCKS: [(Square, Square, Square); 2] = [(C1, D2, D3), (F1, E2, E3)];

/// Squares of a king, and squares of a rook that the king traps.
const CORNERS: [(Bitboard, Bitboard); 2] =
    [(set([B1, C1]), set([A1, A2, B1])), (set([F1, G1]), set([G1, H1, H2]))];

/// Adds the terms of the patterns of side `S` to `sink`.
#[inline]
pub(super) fn score<V: Version, S: Side, K: Sink>(position: &Position, sink: &mut K) {
    let weights = V::WEIGHTS;
    let board = position.board();
    let relative = |set: Bitboard| match S::COLOR {
        crate::chess::Color::White => set,
        crate::chess::Color::Black => Bitboard(set.0.swap_bytes()),
    };
    let bishops = relative(board.pieces(S::COLOR, Kind::Bishop));
    if (bishops & TRAP_SQUARES).any() {
        let pawns = relative(board.pieces(!S::COLOR, Kind::Pawn));
        for (bishop, pawn) in TRAPS {
            if bishops.contains(bishop) && pawns.contains(pawn) {
                sink.add(Term::TrappedBishop, S::COLOR, weights.trapped_bishop);
                if weights.rules.trapped_bishops == TrappedBishops::Once {
                    break;
                }
            }
        }
    }
    if weights.rules.blocked_bishops && (bishops & set([C1, F1])).any() {
        let pawns = relative(board.pieces(S::COLOR, Kind::Pawn));
        let occupied = relative(board.occupied());
        for (bishop, pawn, before) in BLOCKS {
            if bishops.contains(bishop) && pawns.contains(pawn) && occupied.contains(before) {
                sink.add(Term::BlockedBishop, S::COLOR, weights.blocked_bishop);
            }
        }
    }
    let king = board.king(S::COLOR).relative(S::COLOR);
    for (kings, rooks) in CORNERS {
        if kings.contains(king) && (relative(board.pieces(S::COLOR, Kind::Rook)) & rooks).any() {
            sink.add(Term::BlockedRook, S::COLOR, weights.blocked_rook);
        }
    }
}
