//! The walk over the pieces of the side to move.

use super::visitor::Visitor;
use super::{king, pawns};
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Side;
use crate::chess::piece::Kind;
use crate::chess::position::Position;

/// Announces the legal moves of `S`, which must be the side to move: captures and promotions if
/// `NOISY`, all others if `QUIET`.
pub(super) fn generate<S: Side, V: Visitor, const NOISY: bool, const QUIET: bool>(
    position: &Position,
    visitor: &mut V,
) {
    let board = position.board();
    let enemy = board.color(!S::COLOR);
    let occupied = board.occupied();
    let mut wanted = Bitboard::EMPTY;
    if NOISY {
        wanted |= enemy;
    }
    if QUIET {
        wanted |= !occupied;
    }
    king::steps::<S, V>(position, wanted, visitor);
    let checkers = position.checkers();
    if checkers.several() {
        return;
    }
    let answers = check_mask(position);
    pieces::<S, V>(position, wanted & answers, visitor);
    if QUIET {
        pawns::pushes::<S, V>(position, answers, visitor);
    }
    if NOISY {
        pawns::captures::<S, V>(position, answers, visitor);
    }
    if QUIET && checkers.is_empty() {
        king::castling::<S, V>(position, visitor);
    }
}

/// Where a piece other than the king may go in view of at most one checker: anywhere, or between
/// king and checker, or onto the checker.
#[inline]
pub(super) fn check_mask(position: &Position) -> Bitboard {
    let checkers = position.checkers();
    if checkers.is_empty() {
        return Bitboard::ALL;
    }
    attacks::between(position.board().king(position.turn()), checkers.first()) | checkers
}

#[inline]
fn pieces<S: Side, V: Visitor>(position: &Position, wanted: Bitboard, visitor: &mut V) {
    let board = position.board();
    let own = board.color(S::COLOR);
    let occupied = board.occupied();
    let (straight, diagonal) = (position.straight_pins(), position.diagonal_pins());
    for from in (own & board.kind(Kind::Knight)) - straight - diagonal {
        visitor.piece(from, attacks::knight(from) & wanted);
    }
    let bishops = (own & board.diagonal_sliders()) - straight;
    for from in bishops - diagonal {
        visitor.piece(from, attacks::bishop(from, occupied) & wanted);
    }
    for from in bishops & diagonal {
        visitor.piece(from, attacks::bishop(from, occupied) & wanted & diagonal);
    }
    let rooks = (own & board.straight_sliders()) - diagonal;
    for from in rooks - straight {
        visitor.piece(from, attacks::rook(from, occupied) & wanted);
    }
    for from in rooks & straight {
        visitor.piece(from, attacks::rook(from, occupied) & wanted & straight);
    }
}
