//! Last lines of the output of a process.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::Chunk;

/// Largest number of bytes of lines that are kept.
const MOST_BYTES: usize = 4 << 20;

/// Shared, bounded memory of the most recent lines.
#[derive(Debug, Clone)]
pub(super) struct Tail(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Largest number of lines that are kept.
    most: usize,
    memory: Mutex<Memory>,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct Memory {
    lines: VecDeque<String>,
    bytes: usize,
    ended: bool,
}

impl Tail {
    /// Creates a memory of the last `most` lines.
    pub(super) fn new(most: usize) -> Tail {
        Tail(Arc::new(Shared { most, memory: Mutex::default(), ended: Condvar::new() }))
    }

    /// Remembers the lines of a chunk and forgets the oldest beyond the bound.
    pub(super) fn take(&self, chunk: Chunk) {
        let mut memory = self.memory();
        memory.bytes += chunk.lines.iter().map(String::len).sum::<usize>();
        memory.lines.extend(chunk.lines);
        // Lines may have 64 KiB each, so that their number does not bound the memory.
        while memory.lines.len() > self.0.most || memory.bytes > MOST_BYTES {
            let Some(line) = memory.lines.pop_front() else { break };
            memory.bytes -= line.len();
        }
        memory.ended |= chunk.closed;
        if memory.ended {
            self.0.ended.notify_all();
        }
    }

    /// Waits, at most `limit`, until nothing more can come. A child of the process may keep its
    /// output open forever.
    pub(super) fn wait_end(&self, limit: Duration) {
        // The caller reads the lines that there are, whether the output has ended or not.
        drop(self.0.ended.wait_timeout_while(self.memory(), limit, |memory| !memory.ended));
    }

    /// Returns the lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        self.memory().lines.iter().cloned().collect()
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        // A panic under this lock cannot leave the queue half changed.
        self.0.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn only_the_last_lines_are_kept() {
        let tail = Tail::new(20);
        for n in 0..50 {
            tail.take(Chunk { at: Instant::now(), lines: vec![n.to_string()], closed: false });
        }
        assert_eq!(tail.lines().len(), 20);
        assert_eq!(tail.lines()[0], "30");
        let lines = vec!["x".repeat(MOST_BYTES / 4); 6];
        tail.take(Chunk { at: Instant::now(), lines, closed: false });
        assert_eq!(tail.lines().len(), 4);
    }
}
