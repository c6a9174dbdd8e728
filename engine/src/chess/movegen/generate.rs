//! Move generation, piece by piece, for the side to move.

use super::node::Node;
use super::visitor::{Mover, Visitor};
use super::{king, pawns};
use crate::chess::attacks::{self, Cpu};
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Side;
use crate::chess::piece::Kind;
use crate::chess::position::Board;

/// Passes the legal moves of side `S` to the visitor: captures and promotions if `NOISY`, all other
/// moves if `QUIET`. `S` must be the side to move.
#[inline(always)]
pub(in crate::chess) fn generate<
    S: Side,
    C: Cpu,
    V: Visitor,
    const NOISY: bool,
    const QUIET: bool,
>(
    cpu: C,
    node: Node<'_>,
    visitor: &mut V,
) {
    if node.check_info.checkers.is_empty() {
        without_check::<S, C, V, NOISY, QUIET>(cpu, node, visitor);
    } else {
        in_check::<S, C, V, NOISY, QUIET>(cpu, node, visitor);
    }
}

/// Returns the possible destinations of the requested moves, for all pieces except pawns.
#[inline(always)]
fn target_squares<S: Side, const NOISY: bool, const QUIET: bool>(board: &Board) -> Bitboard {
    let mut wanted = Bitboard::EMPTY;
    if NOISY {
        wanted |= board.color(!S::COLOR);
    }
    if QUIET {
        wanted |= !board.occupied();
    }
    wanted
}

/// Generates moves like [`generate`], for a king that is not in check.
#[inline(always)]
pub(in crate::chess) fn without_check<
    S: Side,
    C: Cpu,
    V: Visitor,
    const NOISY: bool,
    const QUIET: bool,
>(
    cpu: C,
    node: Node<'_>,
    visitor: &mut V,
) {
    let wanted = target_squares::<S, NOISY, QUIET>(node.board);
    let paths = if QUIET { king::castling_paths::<S>(node) } else { king::NO_PATHS };
    let attacked = king::steps::<S, C, V>(cpu, node, wanted, paths, visitor);
    pieces::<S, C, V, false>(cpu, node, wanted, visitor);
    pawns::<S, C, V, NOISY, QUIET, false>(cpu, node, Bitboard::ALL, visitor);
    if QUIET {
        king::castling(node.king, paths, attacked, visitor);
    }
}

/// Generates moves like [`generate`], for a king that is in check.
#[inline(always)]
pub(in crate::chess) fn in_check<
    S: Side,
    C: Cpu,
    V: Visitor,
    const NOISY: bool,
    const QUIET: bool,
>(
    cpu: C,
    node: Node<'_>,
    visitor: &mut V,
) {
    let wanted = target_squares::<S, NOISY, QUIET>(node.board);
    king::steps::<S, C, V>(cpu, node, wanted, king::NO_PATHS, visitor);
    let checkers = node.check_info.checkers;
    if checkers.has_several() {
        return;
    }
    // In check, a piece other than the king can only move between king and checker or capture the
    // checker.
    let answers = attacks::between(node.king, checkers.first()) | checkers;
    pieces::<S, C, V, true>(cpu, node, wanted & answers, visitor);
    pawns::<S, C, V, NOISY, QUIET, true>(cpu, node, answers, visitor);
}

/// Passes to the visitor all moves to squares in `wanted` by knights, bishops, rooks and queens. If
/// `IN_CHECK`, pinned pieces are skipped, because no pinned piece can answer a check.
#[inline(always)]
fn pieces<S: Side, C: Cpu, V: Visitor, const IN_CHECK: bool>(
    cpu: C,
    node: Node<'_>,
    wanted: Bitboard,
    visitor: &mut V,
) {
    let board = node.board;
    let own = board.color(S::COLOR);
    let occupied = board.occupied();
    let (straight, diagonal) = (node.check_info.straight_pins, node.check_info.diagonal_pins);
    for from in (own & board.kind(Kind::Knight)) - straight - diagonal {
        visitor.piece(Mover::Knight, from, attacks::knight(from) & wanted);
    }
    let pins = straight | diagonal;
    for from in (own & board.kind(Kind::Bishop)) - pins {
        visitor.piece(Mover::Bishop, from, cpu.bishop(from, occupied) & wanted);
    }
    for from in (own & board.kind(Kind::Rook)) - pins {
        visitor.piece(Mover::Rook, from, cpu.rook(from, occupied) & wanted);
    }
    for from in (own & board.kind(Kind::Queen)) - pins {
        let reach = cpu.bishop(from, occupied) | cpu.rook(from, occupied);
        visitor.piece(Mover::Queen, from, reach & wanted);
    }
    if !IN_CHECK {
        for from in own & board.diagonal_sliders() & diagonal {
            visitor.pinned(from, cpu.bishop(from, occupied) & wanted & diagonal);
        }
        for from in own & board.straight_sliders() & straight {
            visitor.pinned(from, cpu.rook(from, occupied) & wanted & straight);
        }
    }
}

#[inline(always)]
fn pawns<
    S: Side,
    C: Cpu,
    V: Visitor,
    const NOISY: bool,
    const QUIET: bool,
    const IN_CHECK: bool,
>(
    cpu: C,
    node: Node<'_>,
    answers: Bitboard,
    visitor: &mut V,
) {
    if QUIET {
        pawns::pushes::<S, V, IN_CHECK>(node, answers, visitor);
    }
    if NOISY {
        pawns::captures::<S, V, IN_CHECK>(node, answers, visitor);
        pawns::en_passant::<S, C, V>(cpu, node, visitor);
    }
}
