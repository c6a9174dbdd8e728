//! King steps and castling.

use super::node::Node;
use super::visitor::{Mover, Visitor};
use crate::chess::attacks::{self, Cpu};
use crate::chess::bitboard::Bitboard;
use crate::chess::color::{Color, Side};
use crate::chess::piece::Kind;
use crate::chess::position::{Board, castled_squares};
use crate::chess::square::Square;

/// Castling rook, and the squares that the castling king crosses or reaches. An attack on one of
/// these squares prevents castling. The set of squares is empty if castling is blocked.
pub(super) type CastlingPath = (Square, Bitboard);

/// No castling path on either side.
pub(super) const NO_PATHS: [CastlingPath; 2] = [(Square::new(0), Bitboard::EMPTY); 2];

/// Passes to the visitor the king's steps to squares in `wanted`. Returns the squares that the
/// enemy attacks, or all squares if the king has neither a step nor a castling path.
#[inline(always)]
pub(super) fn steps<S: Side, C: Cpu, V: Visitor>(
    cpu: C,
    node: Node<'_>,
    wanted: Bitboard,
    paths: [CastlingPath; 2],
    visitor: &mut V,
) -> Bitboard {
    let board = node.board;
    let king = node.king;
    let candidates = attacks::king(king) & wanted;
    if (candidates | paths[0].1 | paths[1].1).is_empty() {
        return Bitboard::ALL;
    }
    // The king does not shield the squares behind the king from a slider, so the king is removed
    // from the board.
    let occupied = board.occupied() ^ Bitboard::of(king);
    let attacked = attacked_by::<S::Opponent, C>(cpu, board, occupied);
    visitor.piece(Mover::King, king, candidates - attacked);
    attacked
}

/// Returns all squares that the pieces of `S` attack; pieces on `occupied` block sliders.
#[inline(always)]
fn attacked_by<S: Side, C: Cpu>(cpu: C, board: &Board, occupied: Bitboard) -> Bitboard {
    let own = board.color(S::COLOR);
    let mut attacked =
        (own & board.kind(Kind::Pawn)).pawn_attacks::<S>() | attacks::king(board.king(S::COLOR));
    for from in own & board.kind(Kind::Knight) {
        attacked |= attacks::knight(from);
    }
    for from in own & board.diagonal_sliders() {
        attacked |= cpu.bishop(from, occupied);
    }
    for from in own & board.straight_sliders() {
        attacked |= cpu.rook(from, occupied);
    }
    attacked
}

/// Returns the castling paths of a king that is not in check. The paths may cross attacked squares.
#[inline(always)]
pub(super) fn castling_paths<S: Side>(node: Node<'_>) -> [CastlingPath; 2] {
    let mut paths = NO_PATHS;
    // In Chess960 the castling rook may be the only piece that shields the king's new square from a
    // slider on the same rank. Such a rook is pinned, and castling is illegal.
    let back_rank = Bitboard::rank(S::COLOR.relative_rank(0));
    let rooks = (node.rights.castling & back_rank) - node.check_info.straight_pins;
    if rooks.any() {
        let occupied = node.board.occupied();
        // There is at most one castling rook on each side of the king.
        let outer = [rooks.first(), rooks.last()];
        for (rook, path) in outer.into_iter().zip(&mut paths) {
            *path = (rook, castling_path(S::COLOR, node.king, rook, occupied));
        }
        if !rooks.has_several() {
            paths[1] = NO_PATHS[1];
        }
    }
    paths
}

/// Returns the squares that a castling king crosses or reaches; empty if a piece blocks the king or
/// the rook.
#[inline(always)]
pub(super) fn castling_path(
    color: Color,
    king: Square,
    rook: Square,
    occupied: Bitboard,
) -> Bitboard {
    let path = &FILES[king.file() as usize][rook.file() as usize];
    let shift = 8 * color.relative_rank(0);
    let is_free = occupied.0 >> shift & u64::from(path.both) == 0;
    Bitboard(u64::from(path.king) << shift).when(is_free)
}

/// Passes to the visitor the castling moves whose paths are not attacked. The king must not be in
/// check.
#[inline(always)]
pub(super) fn castling<V: Visitor>(
    king: Square,
    paths: [CastlingPath; 2],
    attacked: Bitboard,
    visitor: &mut V,
) {
    if (paths[0].1 | paths[1].1).is_empty() {
        return;
    }
    for (rook, path) in paths {
        if path.any() && (path & attacked).is_empty() {
            visitor.castle(king, rook);
        }
    }
}

/// Files on the castling path, as bits.
#[derive(Clone, Copy)]
struct Files {
    /// Files that must be empty except for the castling king and rook.
    both: u8,
    /// Files that the king crosses or reaches.
    king: u8,
}

/// Castling paths, indexed by the files of the king and the rook.
static FILES: [[Files; 8]; 8] = files();

const fn files() -> [[Files; 8]; 8] {
    let mut table = [[Files { both: 0, king: 0 }; 8]; 8];
    let mut king = 0;
    while king < 8 {
        let mut rook = 0;
        while rook < 8 {
            let (king_to, rook_to) = castled_squares(Square::at(king, 0), Square::at(rook, 0));
            let standing = 1 << king | 1 << rook;
            let king_path = files_between(king, king_to.file());
            let rook_path = files_between(rook, rook_to.file());
            table[king as usize][rook as usize] =
                Files { both: (king_path | rook_path) & !standing, king: king_path };
            rook += 1;
        }
        king += 1;
    }
    table
}

/// Returns the files from `a` to `b`, both included, as bits.
const fn files_between(a: u8, b: u8) -> u8 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    (0xFF << low) & (0xFF >> (7 - high))
}
