//! What is wrong with a book, counted, with the first faults as text.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde::{Deserialize, Serialize};

/// Faults of a book that are kept as text; the others are only counted.
pub const MAX_FAULTS: usize = 20;

/// What is wrong with lines or games of a book: those that no game can begin from and that are
/// skipped, or those that are corrected. Every report of the run says so.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Quarantine {
    /// How many there are.
    pub count: u64,
    /// The first of them, each with its file, its line and what is wrong.
    pub faults: Vec<String>,
}

impl Quarantine {
    /// Adds faults.
    pub(super) fn extend(&mut self, faults: impl IntoIterator<Item = impl ToString>) {
        for fault in faults {
            self.count += 1;
            if self.faults.len() < MAX_FAULTS {
                self.faults.push(fault.to_string());
            }
        }
    }

    /// Whether there is no fault.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The first faults, `most` or as many as are kept, and how many others there are.
    pub fn first(&self, most: usize) -> Vec<String> {
        let told = &self.faults[..self.faults.len().min(most)];
        let others = self.count.saturating_sub(told.len() as u64);
        let others = (others > 0).then(|| format!("and {others} more"));
        told.iter().cloned().chain(others).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_faults_are_kept_and_all_are_counted() {
        let mut quarantine = Quarantine::default();
        assert!(quarantine.is_empty() && quarantine.first(9).is_empty());
        for line in 1..=23 {
            quarantine.extend([format!("a.epd:{line}: bad")]);
        }
        let lines = quarantine.first(99);
        assert_eq!((quarantine.count, lines.len()), (23, 21));
        assert_eq!((lines[0].as_str(), lines[20].as_str()), ("a.epd:1: bad", "and 3 more"));
        assert_eq!(quarantine.first(1), ["a.epd:1: bad", "and 22 more"]);
    }
}
