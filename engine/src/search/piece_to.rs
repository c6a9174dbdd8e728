//! Index of a move in the history tables, and update of a history entry.

use crate::chess::{Kind, Move, Position};

/// Index of the coloured piece and the destination of a move, 0–767.
pub(super) type PieceTo = usize;

/// Number of [`PieceTo`] indices.
pub(super) const PIECE_TO_COUNT: usize = 2 * 6 * 64;

/// Returns the index of a move that is legal in `position`.
#[inline]
pub(super) fn piece_to(position: &Position, mv: Move) -> PieceTo {
    let kind = position.kind_at(mv.from()).map_or(0, Kind::index);
    (position.turn().index() * 6 + kind) * 64 + mv.to().index()
}

/// Adds a bonus to a history entry, and subtracts a part of the entry in proportion to the absolute
/// bonus (history gravity). The entry stays within ±`LIMIT`.
#[inline]
pub(super) fn apply_bonus<const LIMIT: i32>(entry: &mut i16, bonus: i32) {
    let bonus = bonus.clamp(-LIMIT, LIMIT);
    let old = i32::from(*entry);
    // The entry and the bonus are within ±`LIMIT`. The result is therefore also within ±`LIMIT`,
    // and fits in 16 bits.
    *entry = (old + bonus - old * bonus.abs() / LIMIT) as i16;
}
