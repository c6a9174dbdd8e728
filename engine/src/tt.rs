//! The transposition table: what was found out about positions, by key.
//!
//! Entries are two relaxed atomic words, the key mixed with the data and the data; a torn pair does
//! not match its key and is simply not found. So the table may be shared without locks.

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::chess::Move;
use crate::eval::Score;
use crate::eval::score::EVALUATION_MAX;

/// How a stored score relates to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// Nothing is known.
    None,
    /// The true score is at most this.
    Upper,
    /// The true score is at least this.
    Lower,
    /// The true score.
    Exact,
}

impl Bound {
    const fn from_bits(bits: u64) -> Bound {
        match bits & 3 {
            1 => Bound::Upper,
            2 => Bound::Lower,
            3 => Bound::Exact,
            _ => Bound::None,
        }
    }
}

/// What the table knows about a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The best move, or one that was good enough. It may be illegal if two keys collided.
    pub mv: Option<Move>,
    /// The score as seen from the position, mates counted from it.
    pub score: Score,
    /// The static evaluation, if it was stored.
    pub evaluation: Option<Score>,
    /// Plies searched below the position, 0–255.
    pub depth: i32,
    /// The meaning of `score`.
    pub bound: Bound,
}

impl Entry {
    /// The score seen from a root `ply` plies above the position.
    pub fn score_at(&self, ply: usize) -> Score {
        match self.score {
            score if score > EVALUATION_MAX => score - ply as Score,
            score if score < -EVALUATION_MAX => score + ply as Score,
            score => score,
        }
    }

    /// The inverse of [`score_at`](Self::score_at): a score as it is to be stored.
    pub fn score_from(score: Score, ply: usize) -> Score {
        match score {
            score if score > EVALUATION_MAX => score + ply as Score,
            score if score < -EVALUATION_MAX => score - ply as Score,
            score => score,
        }
    }

    fn pack(&self, age: u8) -> u64 {
        let evaluation = self.evaluation.map_or(NO_EVALUATION, |score| score as i16);
        u64::from(self.mv.map_or(0, Move::bits))
            | u64::from(self.score as i16 as u16) << 16
            | u64::from(evaluation as u16) << 32
            | u64::from(self.depth.clamp(0, 255) as u8) << 48
            | (self.bound as u64) << 56
            | u64::from(age) << 58
    }

    fn unpack(data: u64) -> Entry {
        let evaluation = (data >> 32) as u16 as i16;
        Entry {
            mv: Move::from_bits(data as u16),
            score: Score::from((data >> 16) as u16 as i16),
            evaluation: (evaluation != NO_EVALUATION).then_some(Score::from(evaluation)),
            depth: i32::from((data >> 48) as u8),
            bound: Bound::from_bits(data >> 56),
        }
    }
}

const NO_EVALUATION: i16 = i16::MIN;
const AGES: u8 = 64;

struct Slot {
    /// Key xor data.
    check: AtomicU64,
    data: AtomicU64,
}

impl Slot {
    fn data(&self) -> u64 {
        self.data.load(Ordering::Relaxed)
    }

    fn data_of(&self, key: u64) -> Option<u64> {
        let data = self.data();
        (self.check.load(Ordering::Relaxed) ^ data == key && data != 0).then_some(data)
    }
}

/// One cache line.
#[repr(align(64))]
struct Cluster([Slot; 4]);

/// The memory asked for could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Size asked for, in mebibytes.
    pub megabytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot allocate {} MiB for the hash table", self.megabytes)
    }
}

impl std::error::Error for OutOfMemory {}

/// The table.
pub struct TranspositionTable {
    clusters: Box<[Cluster]>,
    /// Counts searches, modulo [`AGES`].
    age: u8,
}

impl TranspositionTable {
    /// An empty table of `megabytes` MiB, at least one.
    ///
    /// # Errors
    ///
    /// If the memory cannot be had.
    pub fn new(megabytes: usize) -> Result<TranspositionTable, OutOfMemory> {
        let megabytes = megabytes.max(1);
        let count = megabytes * ((1 << 20) / size_of::<Cluster>());
        let clusters = zeroed_clusters(count).ok_or(OutOfMemory { megabytes })?;
        Ok(TranspositionTable { clusters, age: 0 })
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.age = 0;
        for slot in self.clusters.iter_mut().flat_map(|cluster| &mut cluster.0) {
            *slot.check.get_mut() = 0;
            *slot.data.get_mut() = 0;
        }
    }

    /// Marks the beginning of a search: what is older gives way sooner.
    pub fn new_search(&mut self) {
        self.age = (self.age + 1) % AGES;
    }

    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        let index = (u128::from(key) * self.clusters.len() as u128) >> 64;
        &self.clusters[index as usize]
    }

    /// What is known about the position with this key.
    #[inline]
    pub fn probe(&self, key: u64) -> Option<Entry> {
        self.cluster(key).0.iter().find_map(|slot| slot.data_of(key)).map(Entry::unpack)
    }

    /// Asks the processor to fetch the cluster of a key that will be probed soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let cluster: *const Cluster = self.cluster(key);
            // SAFETY: prefetching has no effect on memory and cannot fault.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(cluster.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// Remembers an entry, in place of what is least worth keeping.
    pub fn store(&self, key: u64, mut entry: Entry) {
        let slots = &self.cluster(key).0;
        let mut victim = &slots[0];
        let mut lowest = i32::MAX;
        for slot in slots {
            if let Some(data) = slot.data_of(key) {
                let old = Entry::unpack(data);
                // A shallow bound must not wipe out a deep result of this same search.
                let keep = entry.bound != Bound::Exact
                    && old.depth > entry.depth + 3
                    && self.years(data) == 0;
                if keep {
                    return;
                }
                entry.mv = entry.mv.or(old.mv);
                victim = slot;
                break;
            }
            let data = slot.data();
            let worth = if data == 0 {
                i32::MIN
            } else {
                Entry::unpack(data).depth - 4 * i32::from(self.years(data))
            };
            if worth < lowest {
                lowest = worth;
                victim = slot;
            }
        }
        let data = entry.pack(self.age);
        victim.check.store(key ^ data, Ordering::Relaxed);
        victim.data.store(data, Ordering::Relaxed);
    }

    /// Searches since the entry was stored.
    fn years(&self, data: u64) -> u8 {
        let stored = (data >> 58) as u8;
        (self.age + AGES - stored) % AGES
    }

    /// How full the table is with entries of the current search, in permille, from a sample.
    pub fn fullness_permille(&self) -> usize {
        let sample = self.clusters.len().min(250);
        let current = |slot: &&Slot| slot.data() != 0 && self.years(slot.data()) == 0;
        let used = self.clusters[..sample].iter().flat_map(|cluster| &cluster.0).filter(current);
        used.count() * 1000 / (sample * 4)
    }
}

fn zeroed_clusters(count: usize) -> Option<Box<[Cluster]>> {
    let layout = Layout::array::<Cluster>(count).ok()?;
    assert!(layout.size() > 0, "a table has at least one cluster");
    // SAFETY: the layout has a size other than zero.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<Cluster>();
    if memory.is_null() {
        return None;
    }
    // SAFETY: the memory was allocated by the global allocator with the layout of `count` clusters,
    // is owned by nothing else, and zero bytes are valid atomic words.
    Some(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, count)) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::{MoveKind, Square};
    use crate::eval::score::{mate_in, mated_in};

    fn entry(depth: i32, bound: Bound) -> Entry {
        let mv = Move::new(Square::new(12), Square::new(28), MoveKind::DoublePush);
        Entry { mv: Some(mv), score: -321, evaluation: Some(17), depth, bound }
    }

    #[test]
    fn what_is_stored_is_found() {
        let table = TranspositionTable::new(1).unwrap();
        assert_eq!(table.probe(42), None);
        for (key, evaluation) in [(42, Some(-5)), (u64::MAX, None)] {
            let stored = Entry { evaluation, ..entry(7, Bound::Lower) };
            table.store(key, stored);
            assert_eq!(table.probe(key), Some(stored));
        }
    }

    #[test]
    fn the_old_move_survives_a_result_without_one() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(9, entry(3, Bound::Lower));
        table.store(9, Entry { mv: None, ..entry(5, Bound::Upper) });
        assert_eq!(table.probe(9).unwrap().mv, entry(0, Bound::None).mv);
    }

    #[test]
    fn shallow_and_old_entries_give_way() {
        let mut table = TranspositionTable::new(1).unwrap();
        // Small keys share the first cluster.
        for key in 1..=4 {
            table.store(key, entry(key as i32 * 4, Bound::Exact));
        }
        table.store(5, entry(1, Bound::Exact));
        assert_eq!(table.probe(1), None);
        table.new_search();
        table.new_search();
        table.store(6, entry(2, Bound::Exact));
        assert_eq!(table.probe(5), None);
        table.clear();
        assert_eq!(table.probe(6), None);
    }

    #[test]
    fn mates_are_stored_relative_to_the_position() {
        for score in [mate_in(7), mated_in(8), 120, 0] {
            let stored = Entry { score: Entry::score_from(score, 5), ..entry(1, Bound::Exact) };
            assert_eq!(stored.score_at(5), score);
        }
        assert_eq!(Entry::score_from(mate_in(7), 5), mate_in(2));
    }
}
