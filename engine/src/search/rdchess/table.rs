//! Hash table of RDChess. Entries are kept between the moves of a game. Deep entries, and entries
//! that were found often or recently, are replaced last.

use crate::chess::{Game, Kind, Move};
use crate::eval::Score;
use crate::search::slots;
use crate::tt::{Bound, Entry, OutOfMemory};

/// Number of entries in a bucket.
const BUCKET: usize = 4;

/// Maximum use count, because the count has six bits in an entry.
const USES_MAX: u8 = 63;

/// Table entry, with data for the replacement strategy.
#[derive(Clone, Copy)]
struct StoredEntry {
    entry: Entry,
    /// Number of probes that found the entry, at most [`USES_MAX`].
    uses: u8,
    /// Game time at which the entry was last stored or found.
    last_used: u16,
}

impl StoredEntry {
    fn pack(&self) -> u64 {
        let Entry { mv, score, depth, bound, .. } = self.entry;
        u64::from(mv.map_or(0, Move::bits))
            | u64::from(score as i16 as u16) << 16
            | u64::from(depth.clamp(0, 255) as u8) << 32
            | (bound as u64) << 40
            | u64::from(self.uses) << 42
            | u64::from(self.last_used) << 48
    }

    fn unpack(word: u64) -> StoredEntry {
        let bound = match word >> 40 & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            3 => Bound::Exact,
            _ => Bound::None,
        };
        let entry = Entry {
            mv: Move::from_bits(word as u16),
            score: Score::from((word >> 16) as u16 as i16),
            evaluation: None,
            depth: i32::from((word >> 32) as u8),
            bound,
            pv: false,
        };
        StoredEntry { entry, uses: (word >> 42 & 63) as u8, last_used: (word >> 48) as u16 }
    }
}

/// The hash table.
pub(crate) struct Table {
    /// Pairs of key and content. Content 0 marks an empty slot.
    slots: Vec<slots::Slot>,
    /// Game time: the number of plies in the game; captures and pawn moves count twice.
    now: u16,
    /// `true` if old entries are replaced first.
    ages: bool,
}

impl Table {
    /// Returns an empty table of `megabytes` MiB, at least 1 MiB.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the memory cannot be allocated.
    pub(in crate::search) fn new(megabytes: usize) -> Result<Table, OutOfMemory> {
        Ok(Table { slots: slots::empty(megabytes)?, now: 0, ages: true })
    }

    /// Clears the table.
    pub(in crate::search) fn clear(&mut self) {
        self.slots.fill([0; 2]);
    }

    /// Prepares the table for a search of the current position of a game.
    pub(super) fn begin(&mut self, game: &Game, ages: bool) {
        self.ages = ages;
        self.now = time_of(game);
    }

    fn bucket(&mut self, key: u64) -> &mut [[u64; 2]] {
        let count = self.slots.len() / BUCKET;
        let first = ((u128::from(key) * count as u128) >> 64) as usize * BUCKET;
        &mut self.slots[first..first + BUCKET]
    }

    /// Returns the entry of a position, and updates the use count and last use of the entry.
    pub(super) fn probe(&mut self, key: u64) -> Option<Entry> {
        let now = self.now;
        let slot = self.bucket(key).iter_mut().find(|slot| slot[0] == key && slot[1] != 0)?;
        let mut stored = StoredEntry::unpack(slot[1]);
        stored.uses = (stored.uses + 1).min(USES_MAX);
        stored.last_used = now;
        slot[1] = stored.pack();
        Some(stored.entry)
    }

    /// Stores an entry. The new entry replaces the old entry of the position, an empty slot or the
    /// least valuable entry of the bucket, in this order of preference.
    pub(super) fn store(&mut self, key: u64, entry: Entry) {
        let now = self.now;
        let ages = self.ages;
        let worth = |slot: &[u64; 2]| {
            if slot[1] == 0 || slot[0] == key {
                return i32::MIN + i32::from(slot[1] == 0);
            }
            let stored = StoredEntry::unpack(slot[1]);
            // The game time wraps, so the difference must also wrap.
            let age = if ages { i32::from(now.wrapping_sub(stored.last_used)) } else { 0 };
            stored.entry.depth + i32::from(stored.uses) - 2 * age
        };
        let Some(slot) = self.bucket(key).iter_mut().min_by_key(|slot| worth(slot)) else { return };
        let uses = if slot[0] == key { StoredEntry::unpack(slot[1]).uses } else { 0 };
        *slot = [key, StoredEntry { entry, uses, last_used: now }.pack()];
    }

    /// Returns the share of slots in use, in permille, from a sample.
    pub(super) fn fullness_permille(&self) -> usize {
        slots::fullness_permille(&self.slots, |content| content != 0)
    }
}

/// Returns the game time at the current position of a game.
fn time_of(game: &Game) -> u16 {
    let mut position = *game.start();
    let mut time = 0u16;
    for &mv in game.moves() {
        let is_pawn = position.kind_at(mv.from()) == Some(Kind::Pawn);
        time = time.wrapping_add(if is_pawn || mv.is_capture() { 2 } else { 1 });
        position = position.play(mv);
    }
    time
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;
    use crate::chess::uci_move::{CastlingForm, parse};

    fn entry(depth: i32) -> Entry {
        let mv = Some(Position::startpos().legal_moves()[3]);
        Entry { mv, score: -321, evaluation: None, depth, bound: Bound::Lower, pv: false }
    }

    #[test]
    fn used_table_entries_are_kept() {
        let mut table = Table::new(1).unwrap();
        // Small keys are all in the first bucket.
        for key in 1..=4 {
            table.store(key, entry(5));
        }
        for _ in 0..3 {
            for key in [1, 3, 4] {
                assert_eq!(table.probe(key), Some(entry(5)));
            }
        }
        table.store(5, entry(1));
        assert_eq!(table.probe(2), None);
        assert_eq!(table.probe(5), Some(entry(1)));
        table.store(5, entry(7));
        assert_eq!(table.probe(5), Some(entry(7)));
    }

    #[test]
    fn irreversible_moves_age_the_table_faster() {
        let mut game = Game::new(Position::startpos());
        for (text, time) in [("e2e4", 2), ("g8f6", 3), ("b1c3", 4), ("f6e4", 6), ("c3e4", 8)] {
            game.play(parse(text, game.position(), CastlingForm::KingTo).unwrap());
            assert_eq!(time_of(&game), time);
        }
        for ages in [true, false] {
            let mut table = Table::new(1).unwrap();
            table.store(1, entry(9));
            table.begin(&game, ages);
            for key in 2..=5 {
                table.store(key, entry(1));
            }
            assert_eq!(table.probe(1).is_none(), ages);
        }
    }
}
