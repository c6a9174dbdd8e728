//! Entries of the histories: their index by moves, and their update.

use crate::chess::{Kind, Move, Position};

/// Index of a coloured piece and its destination square, 0–767.
pub(super) type PieceTo = usize;

/// Number of [`PieceTo`] indices.
pub(super) const PIECE_TO_COUNT: usize = 2 * 6 * 64;

/// Returns the index of a move that is legal in `position`.
#[inline]
pub(super) fn piece_to(position: &Position, mv: Move) -> PieceTo {
    let kind = position.kind_at(mv.from()).map_or(0, Kind::index);
    (position.turn().index() * 6 + kind) * 64 + mv.to().index()
}

/// Adds a bonus with gravity: the nearer an entry is to ±`LIMIT`, the less is added.
#[inline]
pub(super) fn apply_bonus<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*entry);
    // If entry and bonus are within ±`LIMIT`, so is the result, which therefore fits in 16 bits:
    // the subtracted part grows with the entry.
    *entry = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}
