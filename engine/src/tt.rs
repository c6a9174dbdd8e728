//! Transposition table: search results by position key.
//!
//! An entry consists of two atomic words: the key XOR the data, and the data. Words from different
//! writes do not match any key, so the threads share the table without locks.

#![allow(unsafe_code, reason = "zeroed memory of huge pages for the table, and prefetching")]

use std::alloc::{Layout, alloc_zeroed};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::chess::Move;
use crate::eval::Score;
use crate::eval::score::EVALUATION_MAX;

/// Relation of a stored score to the true score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Bound {
    /// No information.
    None,
    /// The true score is at most the stored score.
    Upper,
    /// The true score is at least the stored score.
    Lower,
    /// The stored score is the true score.
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

/// An entry of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Best move, or a move that caused a cutoff. The move may be illegal if two positions have the
    /// same key.
    pub mv: Option<Move>,
    /// Score in centipawns. Mate scores are relative to the position, not to the root.
    pub score: Score,
    /// Static evaluation, in centipawns; `None` if no evaluation was stored.
    pub evaluation: Option<Score>,
    /// Depth of the search, in plies, 0–255.
    pub depth: i32,
    /// Relation of `score` to the true score.
    pub bound: Bound,
    /// `true` if the position was a PV node.
    pub pv: bool,
}

impl Entry {
    /// Returns the score for a position that is `ply` plies from the root. Mate scores become
    /// relative to the root.
    pub fn score_at(&self, ply: usize) -> Score {
        match self.score {
            score if score > EVALUATION_MAX => score - ply as Score,
            score if score < -EVALUATION_MAX => score + ply as Score,
            score => score,
        }
    }

    /// Returns the score to store for a position that is `ply` plies from the root. The function is
    /// the inverse of [`score_at`](Self::score_at).
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
            | u64::from(self.pv) << 58
            | u64::from(age) << 59
    }

    fn unpack(data: u64) -> Entry {
        let evaluation = (data >> 32) as u16 as i16;
        Entry {
            mv: Move::from_bits(data as u16),
            score: Score::from((data >> 16) as u16 as i16),
            evaluation: (evaluation != NO_EVALUATION).then_some(Score::from(evaluation)),
            depth: i32::from((data >> 48) as u8),
            bound: Bound::from_bits(data >> 56),
            pv: data >> 58 & 1 == 1,
        }
    }
}

/// Stored value for a missing evaluation, outside the range of evaluations.
const NO_EVALUATION: i16 = i16::MIN;
/// Number of ages. The age occupies the remaining five bits of the data.
const AGES: u8 = 32;

struct Slot {
    /// Key XOR data.
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

/// Number of slots in a cluster. A cluster fills one cache line.
const CLUSTER: usize = 4;

/// Size of a cluster, in bytes.
const CLUSTER_BYTES: usize = CLUSTER * size_of::<Slot>();

/// Number of slots that a thread clears at a time (4 MiB).
const CLEARED_SLOTS: usize = (4 << 20) / size_of::<Slot>();

/// Increment of the salt: 2^64 divided by the golden ratio. The first multiples of the increment,
/// modulo 2^64, are far apart.
const SALT_STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Failure to allocate the requested memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfMemory {
    /// Requested size, in MiB.
    pub megabytes: usize,
}

impl fmt::Display for OutOfMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot allocate {} MiB for the hash table", self.megabytes)
    }
}

impl std::error::Error for OutOfMemory {}

/// Prefetches data into the cache.
#[inline]
pub(crate) fn prefetch<T>(soon: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no effect on memory and cannot fault.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(soon).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = soon;
}

/// The transposition table.
///
/// The memory is allocated zeroed, and no page is touched before the table is cleared or used. The
/// first access to a page takes time, which must not count on a player's clock. Therefore, call
/// [`clear`](Self::clear) before a game.
pub struct TranspositionTable {
    slots: Box<[Slot]>,
    /// Number of unused slots before the first cluster. The unused slots align the clusters to
    /// cache lines.
    skipped: usize,
    clusters: usize,
    /// Number of the current search, modulo [`AGES`].
    age: u8,
    /// Value that is XORed with keys, so that entries stored with another salt are not found.
    salt: u64,
    /// `true` if no search has begun since the table was cleared.
    cleared: bool,
}

impl TranspositionTable {
    /// Returns an empty table of `megabytes` MiB, at least 1 MiB.
    ///
    /// # Errors
    ///
    /// Returns [`OutOfMemory`] if the memory cannot be allocated.
    pub fn new(megabytes: usize) -> Result<TranspositionTable, OutOfMemory> {
        let megabytes = megabytes.max(1);
        let clusters = megabytes.saturating_mul((1 << 20) / CLUSTER_BYTES);
        let count = clusters.saturating_mul(CLUSTER).saturating_add(CLUSTER - 1);
        let slots = zeroed_slots(count).ok_or(OutOfMemory { megabytes })?;
        let misaligned = slots.as_ptr().addr() % CLUSTER_BYTES;
        let skipped = (CLUSTER_BYTES - misaligned) % CLUSTER_BYTES / size_of::<Slot>();
        Ok(TranspositionTable { slots, skipped, clusters, age: 0, salt: 0, cleared: false })
    }

    /// Clears the table with at most `threads` threads, but at least one thread.
    pub fn clear(&mut self, threads: usize) {
        self.age = 0;
        self.salt = 0;
        if std::mem::replace(&mut self.cleared, true) {
            return;
        }
        let threads = threads.min(self.slots.len() / CLEARED_SLOTS);
        let parts = Mutex::new(self.slots.chunks_mut(CLEARED_SLOTS));
        let clear = || {
            loop {
                let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(part) = part else { return };
                // Zeros are written even if the memory is already zero, because the kernel provides
                // a page only at the first access. Otherwise, the first access would take place on
                // a player's clock: with 256 MiB, 5 of 80 games at 0.2 s + 2 ms were lost on time.
                for slot in part {
                    *slot.check.get_mut() = 0;
                    *slot.data.get_mut() = 0;
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // If a thread cannot be started, the other threads clear all parts, because each
                // thread takes one part at a time.
                let _thread = thread::Builder::new().spawn_scoped(scope, clear);
            }
            clear();
        });
    }

    /// Begins a search. Entries from earlier searches are then more likely to be replaced.
    pub fn new_search(&mut self) {
        self.cleared = false;
        self.age = (self.age + 1) % AGES;
    }

    /// Begins a search that finds no entries from earlier searches. Unlike [`clear`](Self::clear),
    /// the function takes constant time.
    pub fn new_isolated_search(&mut self) {
        self.new_search();
        self.salt = self.salt.wrapping_add(SALT_STEP);
    }

    /// Returns the cluster of a key that is already mixed with the salt.
    #[inline]
    fn cluster(&self, key: u64) -> &[Slot] {
        // The high half of the product is uniformly distributed for any number of clusters. The
        // method needs no division (D. Lemire, "Fast random integer generation in an interval",
        // 2019).
        let index = (u128::from(key) * self.clusters as u128) >> 64;
        let first = self.skipped + index as usize * CLUSTER;
        &self.slots[first..first + CLUSTER]
    }

    /// Returns the entry with this key; `None` if the table contains no such entry.
    #[inline]
    pub fn probe(&self, key: u64) -> Option<Entry> {
        let key = key ^ self.salt;
        self.cluster(key).iter().find_map(|slot| slot.data_of(key)).map(Entry::unpack)
    }

    /// Prefetches the cluster of a key.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.cluster(key ^ self.salt)[0]);
    }

    /// Stores an entry. The new entry replaces the entry with the same key or, if no entry has this
    /// key, the least valuable entry of the cluster. A bound does not replace an entry that is from
    /// the same search and more than three plies deeper. A search must have begun.
    pub fn store(&self, key: u64, mut entry: Entry) {
        debug_assert!(!self.cleared, "entries stored before a search would not be cleared");
        let key = key ^ self.salt;
        let slots = self.cluster(key);
        let mut victim = &slots[0];
        let mut lowest = i32::MAX;
        for slot in slots {
            if let Some(data) = slot.data_of(key) {
                let old = Entry::unpack(data);
                // A bound does not replace a much deeper result of the same search, because the
                // deeper result took longer to find and is valid for more lookups.
                let keep = entry.bound != Bound::Exact
                    && old.depth > entry.depth + 3
                    && self.age_of(data) == 0;
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
                Entry::unpack(data).depth - 4 * i32::from(self.age_of(data))
            };
            if worth < lowest {
                lowest = worth;
                victim = slot;
            }
        }
        let data = entry.pack(self.age);
        // Another thread may read or write between the two stores. The XOR of words from different
        // entries is not the key, so such an entry is not found (R. Hyatt and T. Mann, "A lock-less
        // transposition table implementation for parallel search", 2002). Relaxed ordering
        // therefore suffices.
        victim.check.store(key ^ data, Ordering::Relaxed);
        victim.data.store(data, Ordering::Relaxed);
    }

    /// Returns the number of searches since the entry was stored.
    fn age_of(&self, data: u64) -> u8 {
        let stored = (data >> 59) as u8;
        (self.age + AGES - stored) % AGES
    }

    /// Returns the share of slots with entries of the current search, in permille, from a sample of
    /// 1,000 slots.
    pub fn fullness_permille(&self) -> usize {
        let sample = &self.slots[self.skipped..][..1000];
        let current = |slot: &&Slot| slot.data() != 0 && self.age_of(slot.data()) == 0;
        sample.iter().filter(current).count()
    }
}

/// Returns empty slots; `None` if the memory cannot be allocated. The slots have the default
/// alignment, because only memory with this alignment is obtained zeroed from the operating system
/// without being touched.
fn zeroed_slots(count: usize) -> Option<Box<[Slot]>> {
    let layout = Layout::array::<Slot>(count).ok()?;
    assert!(layout.size() > 0, "a table has at least one slot");
    // SAFETY: the layout has a size other than zero.
    let memory = unsafe { alloc_zeroed(layout) }.cast::<Slot>();
    if memory.is_null() {
        return None;
    }
    #[cfg(target_os = "linux")]
    ask_for_huge_pages(memory, layout.size());
    // SAFETY: the memory was allocated by the global allocator with the layout of `count` slots and
    // has no other owner. Zero bytes are valid atomic words.
    Some(unsafe { Box::from_raw(std::ptr::slice_from_raw_parts_mut(memory, count)) })
}

/// Requests huge pages, because accesses are spread over the whole table and the TLB of a CPU
/// covers few pages. If the kernel refuses huge pages, the search is only slower.
#[cfg(target_os = "linux")]
fn ask_for_huge_pages(memory: *mut Slot, bytes: usize) {
    let page = rustix::param::page_size();
    let skipped = memory.addr().next_multiple_of(page) - memory.addr();
    let length = bytes.saturating_sub(skipped) / page * page;
    let start = memory.wrapping_byte_add(skipped).cast();
    // SAFETY: the pages belong only to the table, and their contents do not change.
    let _refused = unsafe { rustix::mm::madvise(start, length, rustix::mm::Advice::LinuxHugepage) };
}

#[cfg(test)]
mod tests {
    use std::hint::black_box;

    use super::*;
    use crate::chess::{MoveKind, Square};
    use crate::eval::score::{mate_in, mated_in};

    fn table(megabytes: usize) -> TranspositionTable {
        let mut table = TranspositionTable::new(megabytes).unwrap();
        table.new_search();
        table
    }

    fn entry(depth: i32, bound: Bound) -> Entry {
        let mv = Move::new(Square::new(12), Square::new(28), MoveKind::DoublePush);
        Entry { mv: Some(mv), score: -321, evaluation: Some(17), depth, bound, pv: depth % 2 == 1 }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn huge_pages_are_requested() {
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return;
        }
        let table = table(8);
        let middle = table.slots.as_ptr().addr() + (4 << 20);
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
        // A mapping begins with a line of addresses and ends with a line of flags.
        let mut has_middle = false;
        let flags = maps.lines().find(|line| {
            let addresses = line.split(' ').next().and_then(|range| range.split_once('-'));
            if let Some((start, end)) = addresses {
                let address = |text| usize::from_str_radix(text, 16).unwrap();
                has_middle = (address(start)..address(end)).contains(&middle);
            }
            has_middle && line.starts_with("VmFlags:")
        });
        assert!(flags.unwrap().split(' ').any(|flag| flag == "hg"), "{flags:?}");
    }

    #[test]
    fn stored_entries_are_found() {
        let table = table(1);
        assert_eq!(table.probe(42), None);
        for (key, evaluation) in [(42, Some(-5)), (u64::MAX, None)] {
            let stored = Entry { evaluation, ..entry(7, Bound::Lower) };
            table.store(key, stored);
            assert_eq!(table.probe(key), Some(stored));
        }
    }

    #[test]
    fn a_result_without_a_move_keeps_the_old_move() {
        let table = table(1);
        table.store(9, entry(3, Bound::Lower));
        table.store(9, Entry { mv: None, ..entry(5, Bound::Upper) });
        assert_eq!(table.probe(9).unwrap().mv, entry(0, Bound::None).mv);
    }

    #[test]
    fn shallow_and_old_entries_are_replaced() {
        let mut table = table(1);
        // Small keys are all in the first cluster.
        for key in 1..=4 {
            table.store(key, entry(key as i32 * 4, Bound::Exact));
        }
        table.store(5, entry(1, Bound::Exact));
        assert_eq!(table.probe(1), None);
        table.new_search();
        table.new_search();
        table.store(6, entry(2, Bound::Exact));
        assert_eq!(table.probe(5), None);
        table.clear(1);
        assert_eq!(table.probe(6), None);
    }

    #[test]
    fn cleared_entries_are_missing_until_stored_again() {
        let mut table = table(1);
        for _ in 0..3 {
            table.new_isolated_search();
            assert_eq!(table.probe(42), None);
            table.store(42, entry(7, Bound::Exact));
            assert_eq!(table.probe(42), Some(entry(7, Bound::Exact)));
        }
    }

    #[test]
    fn all_threads_together_clear_everything() {
        let mut table = table(33);
        // The keys are odd multiples of 1/64 of the key range, so they are spread over the table.
        let keys = || (0..32).map(|part| (2 * part + 1) << 58);
        for threads in [1, 2, 8, 1000] {
            table.new_search();
            keys().for_each(|key| table.store(key, entry(3, Bound::Exact)));
            assert!(keys().all(|key| table.probe(key).is_some()));
            table.clear(threads);
            assert!(keys().all(|key| table.probe(key).is_none()), "{threads}");
            assert!(table.slots.iter().all(|slot| slot.data() == 0), "{threads}");
        }
    }

    #[test]
    fn clusters_are_cache_lines_and_the_last_one_is_usable() {
        let table = table(3);
        for key in [0, 1 << 40, u64::MAX] {
            assert_eq!(table.cluster(key).as_ptr().addr() % CLUSTER_BYTES, 0);
            table.store(key, entry(1, Bound::Exact));
            assert!(table.probe(key).is_some());
        }
        assert_eq!(table.clusters * CLUSTER_BYTES, 3 << 20);
    }

    #[test]
    fn impossible_table_sizes_are_rejected() {
        for megabytes in [1 << 36, usize::MAX] {
            // `black_box` prevents the compiler from removing the unused allocation.
            let refused = black_box(TranspositionTable::new(megabytes)).map(drop);
            assert_eq!(refused, Err(OutOfMemory { megabytes }));
        }
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
