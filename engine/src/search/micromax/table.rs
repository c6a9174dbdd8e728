//! Hash table of micro-Max: score, depth, bounds and best move by position.

use super::board::Square88;
use crate::eval::Score;
use crate::search::slots;
use crate::tt::OutOfMemory;

/// Number of adjacent slots that are scanned for an entry, as in micro-Max.
const TRIES: usize = 9;

/// Lowest bit of the search number in the content of a slot.
const SEARCH_SHIFT: u32 = 48;

/// Best move, or only the square at which move generation begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Best {
    /// Square at which move generation begins; the origin of the best move.
    pub(super) from: Square88,
    /// Destination of the move.
    pub(super) to: Square88,
    /// `true` if there is a best move that can be searched first. Castling cannot be searched
    /// first.
    pub(super) simple: bool,
}

/// Result of the search of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Score from the point of view of the side to move, in 1/99 pawn.
    pub(super) score: Score,
    /// Depth of the search, in plies; [`DEPTH_INDEPENDENT`](super::DEPTH_INDEPENDENT) for scores
    /// that are valid at any depth.
    pub(super) depth: i32,
    /// `true` if the true score is at least `score`.
    pub(super) is_lower: bool,
    /// `true` if the true score is at most `score`.
    pub(super) is_upper: bool,
    /// The best move.
    pub(super) best: Best,
}

impl Entry {
    /// Returns whether the score of the entry can be used for a search with the window `alpha` to
    /// `beta`.
    pub(super) fn settles(&self, alpha: Score, beta: Score) -> bool {
        (self.score >= beta || self.is_upper) && (self.score <= alpha || self.is_lower)
    }

    fn is_exact(&self) -> bool {
        self.is_lower && self.is_upper
    }

    fn pack(&self) -> u64 {
        u64::from(self.score as i16 as u16)
            | u64::from(self.depth as u8) << 16
            | u64::from(self.best.from as u8) << 24
            | u64::from(self.best.to as u8) << 32
            | u64::from(self.best.simple) << 40
            | u64::from(self.is_lower) << 41
            | u64::from(self.is_upper) << 42
    }

    fn unpack(word: u64) -> Entry {
        Entry {
            score: Score::from(word as u16 as i16),
            depth: i32::from((word >> 16) as u8),
            best: Best {
                from: Square88::from((word >> 24) as u8),
                to: Square88::from((word >> 32) as u8),
                simple: word >> 40 & 1 != 0,
            },
            is_lower: word >> 41 & 1 != 0,
            is_upper: word >> 42 & 1 != 0,
        }
    }
}

/// Slot of a position in the table; `None` if other positions occupy all slots for this position.
#[derive(Clone, Copy)]
pub(super) struct Slot(Option<usize>);

/// The hash table.
pub struct Table {
    /// Pairs of key and content. The high bits of the content are the number of the search that
    /// wrote the slot.
    slots: Vec<slots::Slot>,
    /// Number of the current search, from 1. Slots written by earlier searches count as empty.
    search: u16,
}

impl Table {
    /// Returns an empty table of `megabytes` MiB, at least 1 MiB.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the memory cannot be allocated.
    pub(in crate::search) fn new(megabytes: usize) -> Result<Table, OutOfMemory> {
        Ok(Table { slots: slots::empty(megabytes)?, search: 1 })
    }

    /// Clears the table before a search. Only the search number is incremented, because overwriting
    /// the table before each search would take too long.
    pub(in crate::search) fn clear(&mut self) {
        self.search = self.search.wrapping_add(1);
        // After the number wraps, slots written by old searches would count as entries of the
        // current search, so all slots are reset. Empty slots have the number 0, which no search
        // has.
        if self.search == 0 {
            self.slots.fill([0; 2]);
            self.search = 1;
        }
    }

    /// Returns whether the slot is empty.
    fn is_empty(&self, content: u64) -> bool {
        content >> SEARCH_SHIFT != u64::from(self.search)
    }

    /// Returns the slot in which the position is or would be stored, and the entry of the position,
    /// if any.
    pub(super) fn find(&self, key: u64) -> (Slot, Option<Entry>) {
        // The scanned slots must not extend past the end of the table.
        let last = self.slots.len() - TRIES;
        let first = ((u128::from(key) * last as u128) >> 64) as usize;
        for (index, &[there, content]) in self.slots[first..first + TRIES].iter().enumerate() {
            if self.is_empty(content) {
                return (Slot(Some(first + index)), None);
            }
            if there == key {
                return (Slot(Some(first + index)), Some(Entry::unpack(content)));
            }
        }
        (Slot(None), None)
    }

    /// Stores an entry, unless the slot contains an exact entry with a greater depth.
    pub(super) fn store(&mut self, slot: Slot, key: u64, entry: &Entry) {
        let Some(index) = slot.0 else { return };
        let content = self.slots[index][1];
        let old = Entry::unpack(content);
        if self.is_empty(content) || !old.is_exact() || old.depth <= entry.depth {
            self.slots[index] = [key, entry.pack() | u64::from(self.search) << SEARCH_SHIFT];
        }
    }

    /// Returns the share of slots in use, in permille, from a sample.
    pub(super) fn fullness_permille(&self) -> usize {
        slots::fullness_permille(&self.slots, |content| !self.is_empty(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(depth: i32, is_lower: bool, is_upper: bool) -> Entry {
        let best = Best { from: 0x64, to: 0x44, simple: true };
        Entry { score: -321, depth, is_lower, is_upper, best }
    }

    #[test]
    fn exact_entries_are_replaced_only_by_entries_as_deep() {
        let mut table = Table::new(1).unwrap();
        let (slot, nothing) = table.find(7);
        assert_eq!(nothing, None);
        for (new, kept) in [
            (entry(5, true, false), entry(5, true, false)),
            (entry(2, true, true), entry(2, true, true)),
            (entry(1, true, true), entry(2, true, true)),
            (entry(2, false, true), entry(2, false, true)),
        ] {
            table.store(slot, 7, &new);
            assert_eq!(table.find(7).1, Some(kept));
        }
        table.clear();
        assert_eq!(table.find(7).1, None);
    }

    #[test]
    fn bounds_decide_windows() {
        for (is_lower, is_upper, window, settled) in [
            (true, true, (-1000, 1000), true),
            (true, false, (-1000, -321), true),
            (true, false, (-1000, -320), false),
            (false, true, (-321, 0), true),
            (false, true, (-322, 0), false),
        ] {
            assert_eq!(entry(1, is_lower, is_upper).settles(window.0, window.1), settled);
        }
    }
}
