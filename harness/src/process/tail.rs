//! The last lines of an engine's error output, kept for the report of a fault.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

/// Lines kept.
const LINES: usize = 20;

/// A shared, bounded memory of the most recent lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Arc<Mutex<VecDeque<String>>>);

impl Tail {
    /// Remembers a line and forgets the oldest beyond the bound.
    pub(super) fn push(&self, line: String) {
        // A panic while holding the lock cannot leave the queue half changed.
        let mut lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }

    /// The lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_lines_are_kept() {
        let tail = Tail::default();
        (0..50).for_each(|n| tail.push(n.to_string()));
        assert_eq!(tail.lines().len(), LINES);
        assert_eq!(tail.lines()[0], "30");
    }
}
