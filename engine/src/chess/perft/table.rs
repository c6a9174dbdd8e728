//! Table of cached counts, for perft with a hash table.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts by position and depth, shared by the threads without a lock.
///
/// An entry has two words. The second word is the count, and the first word is the key XOR the
/// count. An entry with words from two threads therefore matches neither key (Hyatt and Mann 2002).
pub struct PerftTable {
    entries: Vec<[AtomicU64; 2]>,
}

impl PerftTable {
    /// Returns a table of `megabytes` MiB, at least 1 MiB; `None` if the memory cannot be
    /// allocated.
    pub fn new(megabytes: usize) -> Option<PerftTable> {
        let length = megabytes.max(1).checked_mul(1 << 20)? / size_of::<[AtomicU64; 2]>();
        let mut entries = Vec::new();
        entries.try_reserve_exact(length).ok()?;
        entries.resize_with(length, || [AtomicU64::new(0), AtomicU64::new(0)]);
        Some(PerftTable { entries })
    }

    pub(super) fn get(&self, key: u64) -> Option<u64> {
        let [mixed, count] = self.entry(key);
        let count = count.load(Ordering::Relaxed);
        // Zero marks an unused entry. A stored count of zero is therefore not found, and the leaves
        // are counted again.
        (count != 0 && mixed.load(Ordering::Relaxed) ^ count == key).then_some(count)
    }

    pub(super) fn put(&self, key: u64, leaves: u64) {
        let [mixed, count] = self.entry(key);
        mixed.store(key ^ leaves, Ordering::Relaxed);
        count.store(leaves, Ordering::Relaxed);
    }

    fn entry(&self, key: u64) -> &[AtomicU64; 2] {
        let scaled = u128::from(key) * self.entries.len() as u128;
        &self.entries[(scaled >> 64) as usize]
    }
}
