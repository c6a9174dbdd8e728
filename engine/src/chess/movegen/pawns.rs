//! Pawn moves, a whole set at a time.

use super::visitor::Visitor;
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Color, Side};
use crate::chess::moves::{Move, MoveKind};
use crate::chess::piece::Kind;
use crate::chess::position::Position;

const fn forward<S: Side>() -> i8 {
    match S::COLOR {
        Color::White => 8,
        Color::Black => -8,
    }
}

/// Announces single and double pushes that do not promote.
#[inline]
pub(super) fn pushes<S: Side, V: Visitor>(position: &Position, answers: Bitboard, visitor: &mut V) {
    let empty = !position.board().occupied();
    let not_last = empty - Bitboard::rank(S::COLOR.relative_rank(7));
    let single = movable::<S>(position).forward(S::COLOR) & not_last;
    let third_rank = Bitboard::rank(S::COLOR.relative_rank(2));
    let double = (single & third_rank).forward(S::COLOR) & empty;
    visitor.pawns(single & answers, forward::<S>(), MoveKind::Quiet);
    visitor.pawns(double & answers, 2 * forward::<S>(), MoveKind::DoublePush);
}

/// The pawns that may be pushed as far as pins are concerned: those not pinned, or pinned along
/// their file.
#[inline]
fn movable<S: Side>(position: &Position) -> Bitboard {
    let board = position.board();
    let king_file = Bitboard::file(board.king(S::COLOR).file());
    board.pieces(S::COLOR, Kind::Pawn)
        - position.diagonal_pins()
        - (position.straight_pins() - king_file)
}

/// Announces captures, en passant and all promotions.
#[inline]
pub(super) fn captures<S: Side, V: Visitor>(
    position: &Position,
    answers: Bitboard,
    visitor: &mut V,
) {
    let board = position.board();
    let last_rank = Bitboard::rank(S::COLOR.relative_rank(7));
    let enemy = board.color(!S::COLOR) & answers;
    let free_last = (last_rank & answers) - board.occupied();
    let promoting = movable::<S>(position).forward(S::COLOR) & free_last;
    visitor.promotions(promoting, forward::<S>(), false);

    let capturers = board.pieces(S::COLOR, Kind::Pawn) - position.straight_pins();
    let free = (capturers - position.diagonal_pins()).forward(S::COLOR);
    // A diagonally pinned pawn may take along its pin line only; no capture leads from one pin
    // line to the other, so the union of both is a sufficient mask.
    let bound = (capturers & position.diagonal_pins()).forward(S::COLOR);
    let east = (free.east() | bound.east() & position.diagonal_pins()) & enemy;
    let west = (free.west() | bound.west() & position.diagonal_pins()) & enemy;
    for (targets, step) in [(east, forward::<S>() + 1), (west, forward::<S>() - 1)] {
        visitor.pawns(targets - last_rank, step, MoveKind::Capture);
        visitor.promotions(targets & last_rank, step, true);
    }
    if let Some(to) = position.en_passant() {
        for from in attacks::pawn(!S::COLOR, to) & board.pieces(S::COLOR, Kind::Pawn) {
            if position.en_passant_is_safe(from, to) {
                visitor.single(Move::new(from, to, MoveKind::EnPassant));
            }
        }
    }
}
