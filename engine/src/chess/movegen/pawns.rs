//! Set-wise generation of pawn moves.

use super::node::Node;
use super::visitor::Visitor;
use crate::chess::attacks::{self, Cpu};
use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Color, Side};
use crate::chess::moves::MoveKind;
use crate::chess::piece::Kind;
use crate::chess::square::Square;

const fn forward<S: Side>() -> i8 {
    match S::COLOR {
        Color::White => 8,
        Color::Black => -8,
    }
}

/// Passes to the visitor the single and double pushes without promotion.
#[inline(always)]
pub(super) fn pushes<S: Side, V: Visitor, const IN_CHECK: bool>(
    node: Node<'_>,
    answers: Bitboard,
    visitor: &mut V,
) {
    let empty = !node.board.occupied();
    let not_last = empty - Bitboard::rank(S::COLOR.relative_rank(7));
    let single = movable::<S, IN_CHECK>(node).forward(S::COLOR) & not_last;
    let third_rank = Bitboard::rank(S::COLOR.relative_rank(2));
    let double = (single & third_rank).forward(S::COLOR) & empty;
    visitor.pawns(single & answers, forward::<S>(), MoveKind::Quiet);
    visitor.pawns(double & answers, 2 * forward::<S>(), MoveKind::DoublePush);
}

/// Returns the pawns that may be pushed: pawns that are not pinned and, unless `IN_CHECK`, pawns
/// that are pinned along the king's file.
#[inline(always)]
fn movable<S: Side, const IN_CHECK: bool>(node: Node<'_>) -> Bitboard {
    let board = node.board;
    let pawns = board.pieces(S::COLOR, Kind::Pawn) - node.check_info.diagonal_pins;
    if IN_CHECK {
        return pawns - node.check_info.straight_pins;
    }
    let king_file = Bitboard::file(node.king.file());
    pawns - (node.check_info.straight_pins - king_file)
}

/// Passes to the visitor the captures other than en passant, and all promotions.
#[inline(always)]
pub(super) fn captures<S: Side, V: Visitor, const IN_CHECK: bool>(
    node: Node<'_>,
    answers: Bitboard,
    visitor: &mut V,
) {
    let board = node.board;
    let last_rank = Bitboard::rank(S::COLOR.relative_rank(7));
    let enemy = board.color(!S::COLOR) & answers;
    let diagonal = node.check_info.diagonal_pins;
    let capturers = board.pieces(S::COLOR, Kind::Pawn) - node.check_info.straight_pins;
    let free = (capturers - diagonal).forward(S::COLOR);
    let (mut east, mut west) = (free.east(), free.west());
    let bound = capturers & diagonal;
    if !IN_CHECK && bound.any() {
        // A diagonally pinned pawn may capture only along its pin line. No capture leads from one
        // pin line to another, so the union of the pin lines is a sufficient mask.
        let bound = bound.forward(S::COLOR);
        east |= bound.east() & diagonal;
        west |= bound.west() & diagonal;
    }
    (east, west) = (east & enemy, west & enemy);
    // Few positions have a pawn on the seventh rank, so all other positions skip the work for
    // promotions.
    let on_seventh = Bitboard::rank(S::COLOR.relative_rank(6));
    let may_promote =
        V::PASSES_OVER_EMPTY || (board.pieces(S::COLOR, Kind::Pawn) & on_seventh).any();
    let (step_east, step_west) = (forward::<S>() + 1, forward::<S>() - 1);
    if may_promote {
        let free_last = (last_rank & answers) - board.occupied();
        let promoting = movable::<S, IN_CHECK>(node).forward(S::COLOR) & free_last;
        visitor.promotions(promoting, forward::<S>(), false);
        visitor.promotions(east & last_rank, step_east, true);
        visitor.promotions(west & last_rank, step_west, true);
        (east, west) = (east - last_rank, west - last_rank);
    }
    visitor.pawns(east, step_east, MoveKind::Capture);
    visitor.pawns(west, step_west, MoveKind::Capture);
}

/// Passes en-passant captures to the visitor. Each capture is tested on the board: the pin masks do
/// not suffice, because an en-passant capture removes two pawns from a rank. En-passant captures
/// are rare, so the test costs little time.
#[inline(always)]
pub(super) fn en_passant<S: Side, C: Cpu, V: Visitor>(cpu: C, node: Node<'_>, visitor: &mut V) {
    let square = node.rights.en_passant;
    if square.any() {
        let to = square.first();
        for from in attacks::pawn(!S::COLOR, to) & node.board.pieces(S::COLOR, Kind::Pawn) {
            if is_safe::<S, C>(cpu, node, from, to) {
                visitor.en_passant(from, to);
            }
        }
    }
}

/// Returns whether the king of `S` is not in check after the pawn on `from` captures en passant on
/// `to`.
#[inline(always)]
fn is_safe<S: Side, C: Cpu>(cpu: C, node: Node<'_>, from: Square, to: Square) -> bool {
    let board = node.board;
    let captured = Bitboard::of(to.offset(-forward::<S>()));
    let occupied = board.occupied() ^ Bitboard::of(from) ^ captured ^ Bitboard::of(to);
    let enemy = board.color(!S::COLOR);
    let sliders = cpu.rook(node.king, occupied) & board.straight_sliders()
        | cpu.bishop(node.king, occupied) & board.diagonal_sliders();
    let leapers = board.kind(Kind::Pawn) | board.kind(Kind::Knight);
    (sliders & enemy).is_empty() && (node.check_info.checkers & leapers & !captured).is_empty()
}
