//! Results of pairs that the dispatcher has not requested yet. After a restart of the coordinator,
//! these are the results that arrived while the coordinator was not running.

use std::collections::BTreeMap;

use super::Receipt;

/// Maximum number of pairs with parked results.
const MAX_PAIRS: usize = 10_000;

/// Maximum number of parked results per pair. Several results are kept because results can be
/// checked only after the pair is requested, and a false result may arrive first.
const MAX_PER_PAIR: usize = 8;

/// Maximum total size of the parked results in packed form, in bytes. Parked results are not
/// checked, so only this limit prevents senders from filling the memory.
const MAX_BYTES: usize = 128 << 20;

/// Maximum distance, in pairs, between the last requested pair and a parked result for which more
/// pairs are requested. Without this limit, a result with an invented number would make the
/// dispatcher request all pairs up to that number.
const MAX_AHEAD: u64 = 1_000;

/// Parked results with their sizes in bytes, by pair and in order of arrival.
#[derive(Debug, Default)]
pub(crate) struct ParkedResults {
    by_pair: BTreeMap<u64, Vec<(Receipt, usize)>>,
    /// Total size of all results, in bytes.
    bytes: usize,
}

impl ParkedResults {
    /// Adds a result of `bytes` bytes. Returns `false` if there is no room.
    pub(crate) fn add(&mut self, pair: u64, receipt: Receipt, bytes: usize) -> bool {
        let is_full = self.bytes + bytes > MAX_BYTES;
        // At the limit on pairs, results are still accepted for pairs that already have a parked
        // result.
        let room = if self.by_pair.len() < MAX_PAIRS { 0 } else { 1 };
        let waiting = self.by_pair.get(&pair).map_or(0, Vec::len);
        if is_full || !(room..MAX_PER_PAIR).contains(&waiting) {
            return false;
        }
        self.by_pair.entry(pair).or_default().push((receipt, bytes));
        self.bytes += bytes;
        true
    }

    /// Removes and returns the results of a pair.
    pub(super) fn take(&mut self, pair: u64) -> Option<Vec<Receipt>> {
        let parked = self.by_pair.remove(&pair)?;
        self.bytes -= parked.iter().map(|(_, bytes)| bytes).sum::<usize>();
        Some(parked.into_iter().map(|(receipt, _)| receipt).collect())
    }

    /// Returns whether there are results of any of the [`MAX_AHEAD`] pairs from `requested` on; if
    /// `requested` is `None`, whether there are any results.
    pub(super) fn has_upcoming(&self, requested: Option<u64>) -> bool {
        let is_near = |pair: &u64| {
            requested.is_none_or(|requested| (requested..requested + MAX_AHEAD).contains(pair))
        };
        self.by_pair.keys().any(is_near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parked_results_are_bounded_in_number_and_size() {
        let mut parked = ParkedResults::default();
        for receipt in 0..MAX_PER_PAIR as Receipt {
            assert!(parked.add(4, receipt, 10));
        }
        assert!(!parked.add(4, 99, 10), "of one pair");
        assert!(!parked.add(5, 99, MAX_BYTES), "in bytes");
        for pair in 5..4 + MAX_PAIRS as u64 {
            assert!(parked.add(pair, pair, 1));
        }
        assert!(!parked.add(0, 99, 1), "in pairs");
        assert!(parked.add(5, 99, 1));
        assert_eq!(parked.take(5), Some(vec![5, 99]));
        assert_eq!(parked.take(4).map(|receipts| receipts.len()), Some(MAX_PER_PAIR));
        assert_eq!(parked.bytes, MAX_PAIRS - 2);
    }
}
