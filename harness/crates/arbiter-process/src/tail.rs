//! The last lines of an engine's error output, kept for the report of a fault.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Lines kept.
const LINES: usize = 20;

/// A shared, bounded memory of the most recent lines.
#[derive(Debug, Clone, Default)]
pub(super) struct Tail(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    memory: Mutex<Memory>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Memory {
    lines: VecDeque<String>,
    ended: bool,
}

impl Tail {
    /// Remembers a line and forgets the oldest beyond the bound.
    pub(super) fn push(&self, line: String) {
        let mut memory = self.memory();
        if memory.lines.len() == LINES {
            memory.lines.pop_front();
        }
        memory.lines.push_back(line);
    }

    /// There is no more to come.
    pub(super) fn end(&self) {
        self.memory().ended = true;
        self.0.ended.notify_all();
    }

    /// Waits, at most `limit`, until nothing more can come. A child of the engine may hold its
    /// error output open for ever.
    pub(super) fn wait_end(&self, limit: Duration) {
        // Whether it ended or the limit passed makes no difference to the caller.
        drop(self.0.ended.wait_timeout_while(self.memory(), limit, |memory| !memory.ended));
    }

    /// The lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.memory().lines.iter().cloned().collect()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // A panic while holding the lock cannot leave the queue half changed.
        self.0.memory.lock().unwrap_or_else(PoisonError::into_inner)
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
