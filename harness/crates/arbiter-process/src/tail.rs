//! Last lines of the output of a process.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use super::{Chunk, lock};

/// Maximum wait for the last lines after the exit of a program. The thread that reads the lines may
/// have to wait for a busy processor. Without the limit, a child process that keeps the output open
/// would block the caller.
const LAST_LINES_GRACE: Duration = Duration::from_secs(1);

/// Maximum total size of the lines that are kept, in bytes.
const MOST_BYTES: usize = 4 << 20;

/// Shared, bounded buffer of the most recent lines.
#[derive(Debug, Clone)]
pub(super) struct Tail(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Maximum number of lines that are kept.
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
    /// Creates a buffer for the last `most` lines.
    pub(super) fn new(most: usize) -> Tail {
        Tail(Arc::new(Shared { most, memory: Mutex::default(), ended: Condvar::new() }))
    }

    /// Appends the lines of a chunk, and drops the oldest lines while a limit is exceeded.
    pub(super) fn take(&self, chunk: Chunk) {
        let mut memory = lock(&self.0.memory);
        memory.bytes += chunk.lines.iter().map(String::len).sum::<usize>();
        memory.lines.extend(chunk.lines);
        // A line can have 64 KiB, so a limit on the number of lines alone would not limit the
        // memory enough.
        while memory.lines.len() > self.0.most || memory.bytes > MOST_BYTES {
            let Some(line) = memory.lines.pop_front() else { break };
            memory.bytes -= line.len();
        }
        memory.ended |= chunk.closed;
        if memory.ended {
            self.0.ended.notify_all();
        }
    }

    /// Waits for the end of the output, for at most [`LAST_LINES_GRACE`].
    pub(super) fn wait_end(&self) {
        // The result is ignored, because the caller reads the available lines even after a timeout.
        let memory = lock(&self.0.memory);
        drop(self.0.ended.wait_timeout_while(memory, LAST_LINES_GRACE, |memory| !memory.ended));
    }

    /// Returns the lines, oldest first.
    pub(super) fn lines(&self) -> Vec<String> {
        lock(&self.0.memory).lines.iter().cloned().collect()
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
