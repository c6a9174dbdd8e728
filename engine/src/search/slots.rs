//! Slots of the hash tables of micro-Max and RDChess. A slot consists of a key and a content;
//! content 0 marks an unused slot.

use crate::tt::OutOfMemory;

/// A slot: key and content.
pub(super) type Slot = [u64; 2];

/// Allocates `megabytes` MiB of unused slots, at least 1 MiB.
///
/// # Errors
///
/// Returns [`OutOfMemory`] if the memory cannot be allocated.
pub(super) fn empty(megabytes: usize) -> Result<Vec<Slot>, OutOfMemory> {
    let megabytes = megabytes.max(1);
    let count = megabytes * ((1 << 20) / size_of::<Slot>());
    // `vec!` aborts the process if there is not enough memory, so a fallible reservation is tested
    // first. The reservation is dropped, because filling the reserved memory would touch all pages.
    let mut probe: Vec<Slot> = Vec::new();
    probe.try_reserve_exact(count).map_err(|_| OutOfMemory { megabytes })?;
    drop(probe);
    // `vec!` of zeros obtains zeroed memory from the operating system, and touches no page.
    Ok(vec![[0; 2]; count])
}

/// Returns the share of used slots, in permille, from a sample.
pub(super) fn fullness_permille(slots: &[Slot], is_used: impl Fn(u64) -> bool) -> usize {
    let sample = &slots[..slots.len().min(1000)];
    sample.iter().filter(|slot| is_used(slot[1])).count() * 1000 / sample.len().max(1)
}
