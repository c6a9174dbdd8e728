//! King steps and castling.

use super::visitor::Visitor;
use crate::chess::attacks;
use crate::chess::bitboard::Bitboard;
use crate::chess::color::Side;
use crate::chess::moves::{Move, MoveKind};
use crate::chess::piece::Kind;
use crate::chess::position::Position;
use crate::chess::position::castled_squares;
use crate::chess::square::Square;

/// Announces the king's steps onto `wanted`.
#[inline]
pub(super) fn steps<S: Side, V: Visitor>(position: &Position, wanted: Bitboard, visitor: &mut V) {
    let board = position.board();
    let king = board.king(S::COLOR);
    let candidates = attacks::king(king) & wanted;
    if candidates.any() {
        // The king does not shield the squares behind it.
        let occupied = board.occupied() ^ Bitboard::of(king);
        visitor.piece(king, candidates - attacked_by::<S::Opponent>(position, occupied));
    }
}

/// Every square the pieces of `S` attack on a board occupied like this.
#[inline]
fn attacked_by<S: Side>(position: &Position, occupied: Bitboard) -> Bitboard {
    let board = position.board();
    let own = board.color(S::COLOR);
    let mut attacked =
        (own & board.kind(Kind::Pawn)).pawn_attacks::<S>() | attacks::king(board.king(S::COLOR));
    for from in own & board.kind(Kind::Knight) {
        attacked |= attacks::knight(from);
    }
    for from in own & board.diagonal_sliders() {
        attacked |= attacks::bishop(from, occupied);
    }
    for from in own & board.straight_sliders() {
        attacked |= attacks::rook(from, occupied);
    }
    attacked
}

/// Announces castling. The king must not be in check.
#[inline]
pub(super) fn castling<S: Side, V: Visitor>(position: &Position, visitor: &mut V) {
    let rooks = position.castling_rooks() & Bitboard::rank(S::COLOR.relative_rank(0));
    if rooks.is_empty() {
        return;
    }
    let king = position.board().king(S::COLOR);
    for rook in rooks {
        if may_castle(position, king, rook) {
            visitor.single(Move::new(king, rook, MoveKind::Castle));
        }
    }
}

/// May the king, not in check, castle with a rook that has kept the right to?
pub(super) fn may_castle(position: &Position, king: Square, rook: Square) -> bool {
    let (king_to, rook_to) = castled_squares(king, rook);
    let king_way = attacks::between(king, king_to) | Bitboard::of(king_to);
    let rook_way = attacks::between(rook, rook_to) | Bitboard::of(rook_to);
    let others = position.board().occupied() ^ Bitboard::of(king) ^ Bitboard::of(rook);
    if ((king_way | rook_way) & others).any() {
        return false;
    }
    // In Chess960 the rook may be all that shields the king's new square from its own rank.
    if position.straight_pins().contains(rook) {
        return false;
    }
    let enemy = position.board().color(!position.turn());
    let occupied = position.board().occupied() ^ Bitboard::of(king);
    king_way.into_iter().all(|square| (position.attackers_to(square, occupied) & enemy).is_empty())
}
