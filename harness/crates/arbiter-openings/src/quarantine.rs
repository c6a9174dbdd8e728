//! Faults in a book: the number of faults, and descriptions of the first faults.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde::{Deserialize, Serialize};

/// Maximum number of descriptions of faults that are kept for a book; further faults are only
/// counted.
pub const MAX_FAULTS: usize = 20;

/// Faults in the lines or games of a book. A fault belongs either to a skipped entry, from which
/// no game can start, or to a corrected entry. Every report of the run shows the faults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Quarantine {
    /// Number of faults.
    pub count: u64,
    /// Descriptions of the first faults, each with its file and line number.
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

    /// Returns whether there are no faults.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Returns the descriptions of the first faults (at most `most`), and a line with the number of
    /// remaining faults, if any.
    pub fn first(&self, most: usize) -> Vec<String> {
        let listed = &self.faults[..self.faults.len().min(most)];
        let others = self.count.saturating_sub(listed.len() as u64);
        let others = (others > 0).then(|| format!("and {others} more"));
        listed.iter().cloned().chain(others).collect()
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
