//! Terms of threats and space.

use super::layout as at;
use super::side_info::SideInfo;
use super::{Term, add_weight, add_weights};
use crate::chess::color::{Color, Side};
use crate::chess::{Bitboard, Kind, Position};
use crate::eval::sink::Sink;

/// Files c to f. Only squares on these files count as space.
const CENTRE_FILES: Bitboard = Bitboard(0x3C3C_3C3C_3C3C_3C3C);

/// Piece types that can be threatened, in the order of the weights.
const TARGETS: [Kind; 5] = [Kind::Pawn, Kind::Knight, Kind::Bishop, Kind::Rook, Kind::Queen];

/// Adds the threats and the space of side `S` to `sink`.
#[inline(always)]
pub(super) fn score<S: Side, K: Sink>(
    position: &Position,
    own: &SideInfo,
    enemy: &SideInfo,
    sink: &mut K,
) {
    let board = position.board();
    let color = S::COLOR;
    let theirs = board.color(!color) - board.kind(Kind::King);
    let pieces = theirs - board.kind(Kind::Pawn);
    // A square is guarded if an enemy pawn defends the square, or if the enemy defends the square
    // at least twice and `S` attacks the square at most once.
    let guarded = enemy.by(Kind::Pawn) | (enemy.twice - own.twice);
    let weak = theirs & (own.attacked - guarded);
    let by_pawns = own.by(Kind::Pawn) & pieces;
    if by_pawns.any() {
        let kinds = &TARGETS[1..];
        each::<S, K>(Term::PawnThreat, at::PAWN_THREAT, kinds, by_pawns, position, sink);
    }
    let by_minors = (weak | pieces) & (own.by(Kind::Knight) | own.by(Kind::Bishop));
    if by_minors.any() {
        each::<S, K>(Term::MinorThreat, at::MINOR_THREAT, &TARGETS, by_minors, position, sink);
    }
    let by_rooks = weak & own.by(Kind::Rook);
    if by_rooks.any() {
        each::<S, K>(Term::RookThreat, at::ROOK_THREAT, &TARGETS, by_rooks, position, sink);
    }
    if weak.any() {
        let hanging = (weak - enemy.attacked) | weak & pieces & own.twice;
        add_weights(sink, Term::Hanging, color, at::HANGING, hanging.len() as i32);
        if (weak & own.by(Kind::King)).any() {
            add_weight(sink, Term::Hanging, color, at::KING_THREAT);
        }
    }
    let restricted = enemy.attacked & (own.attacked - guarded);
    add_weights(sink, Term::Restricted, color, at::RESTRICTED, restricted.len() as i32);
    let pushes = pushes::<S>(position, own, enemy).pawn_attacks::<S>() & pieces;
    add_weights(sink, Term::PushThreat, color, at::PUSH_THREAT, pushes.len() as i32);
    add_weights(sink, Term::Space, color, at::SPACE, space::<S>(position, enemy));
}

/// Adds a weight for each threatened piece. The weight depends on the piece type.
#[inline(always)]
fn each<S: Side, K: Sink>(
    term: Term,
    place: usize,
    kinds: &[Kind],
    threatened: Bitboard,
    position: &Position,
    sink: &mut K,
) {
    for (index, &kind) in kinds.iter().enumerate() {
        let found = (threatened & position.board().kind(kind)).len() as i32;
        add_weights(sink, term, S::COLOR, place + index, found);
    }
}

/// Returns the destinations of safe pawn pushes. A safe destination is not attacked by any enemy
/// pawn, and is either attacked by `S` or not attacked by any enemy piece.
#[inline(always)]
fn pushes<S: Side>(position: &Position, own: &SideInfo, enemy: &SideInfo) -> Bitboard {
    let board = position.board();
    let free = !board.occupied();
    let single = board.pieces(S::COLOR, Kind::Pawn).forward(S::COLOR) & free;
    let third = Bitboard::rank(S::COLOR.relative_rank(2));
    let double = (single & third).forward(S::COLOR) & free;
    (single | double) & ((own.attacked | !enemy.attacked) - enemy.by(Kind::Pawn))
}

/// Returns the space of side `S`. The space is a count of squares on files c to f and on the side's
/// second to fourth ranks. Squares that friendly pawns occupy or enemy pawns attack do not count. A
/// square behind a friendly pawn counts twice if no enemy piece attacks it. The count is multiplied
/// by the number of friendly pieces and pawns, and divided by 8.
#[inline(always)]
fn space<S: Side>(position: &Position, enemy: &SideInfo) -> i32 {
    let board = position.board();
    let ranks = match S::COLOR {
        Color::White => Bitboard(0x0000_0000_FFFF_FF00),
        Color::Black => Bitboard(0x00FF_FFFF_0000_0000),
    };
    let pawns = board.pieces(S::COLOR, Kind::Pawn);
    let room = CENTRE_FILES & (ranks - pawns - enemy.by(Kind::Pawn));
    let behind = room & (pawns.forward_fill(!S::COLOR) - enemy.attacked);
    (room.len() + behind.len()) as i32 * board.color(S::COLOR).len() as i32 / 8
}
