//! Log of a build's output, limited to its beginning and end.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Write};

/// Maximum length, in bytes, of the stored beginning and of the stored end of a log. Without a
/// limit, one log grew to 287 MB.
const MOST: usize = 1 << 20;

/// Log that is being written.
#[derive(Debug)]
pub(super) struct Log {
    file: File,
    /// Number of bytes written to the beginning of the log. Set to [`MOST`] when the beginning is
    /// full; further lines go to `tail`.
    written: usize,
    tail: VecDeque<String>,
    tail_bytes: usize,
    omitted: u64,
    /// Result of writing; nothing more is written after the first error.
    outcome: io::Result<()>,
}

impl Log {
    pub(super) fn new(file: File) -> Log {
        let tail = VecDeque::new();
        Log { file, written: 0, tail, tail_bytes: 0, omitted: 0, outcome: Ok(()) }
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &str) {
        if self.written + line.len() < MOST {
            self.written += line.len() + 1;
            return self.write(line);
        }
        // From now on, lines belong to the end of the log.
        self.written = MOST;
        self.tail_bytes += line.len() + 1;
        self.tail.push_back(line.to_owned());
        while self.tail_bytes > MOST
            && let Some(old) = self.tail.pop_front()
        {
            self.tail_bytes -= old.len() + 1;
            self.omitted += old.len() as u64 + 1;
        }
    }

    /// Writes the end of the log, which was held back until now. Returns the first error of all
    /// writes.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        if self.omitted > 0 {
            self.write(&format!("[{} bytes omitted]", self.omitted));
        }
        for line in std::mem::take(&mut self.tail) {
            self.write(&line);
        }
        std::mem::replace(&mut self.outcome, Ok(()))
    }

    fn write(&mut self, line: &str) {
        if self.outcome.is_ok() {
            self.outcome = writeln!(self.file, "{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn logged(lines: &[String]) -> String {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut log = Log::new(file.reopen().unwrap());
        lines.iter().for_each(|line| log.add(line));
        log.finish().unwrap();
        std::fs::read_to_string(file.path()).unwrap()
    }

    #[test]
    fn the_middle_of_a_long_log_is_omitted() {
        let short: Vec<String> = (0..200_000).map(|n| n.to_string()).collect();
        assert_eq!(logged(&short), short.join("\n") + "\n");
        let long: Vec<String> = (0..1_000_000).map(|n| n.to_string()).collect();
        let text = logged(&long);
        assert!(text.len() < 2 * MOST + 100);
        assert!(text.starts_with("0\n1\n") && text.ends_with("999998\n999999\n"));
        let (before, after) = text.split_once("\n[").unwrap();
        let (count, after) = after.split_once(" bytes omitted]\n").unwrap();
        let complete = long.join("\n") + "\n";
        let omitted: usize = count.parse().unwrap();
        assert_eq!(before.len() + 1 + omitted + after.len(), complete.len());
    }
}
