//! Input from the other side, read by a thread of its own so that `stop` and `isready` are received
//! during a search.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

/// One event on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// A line, without its ending.
    Line(String),
    /// There will be no more lines.
    Closed,
}

/// The lines of standard input.
pub struct Inbox {
    lines: Receiver<String>,
}

impl Inbox {
    /// Starts to read; the input is also appended to `log`/PID.log.
    pub fn open(log: Option<&Path>) -> Result<Inbox, String> {
        let mut log = log.map(open_log).transpose()?;
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().split(b'\n') {
                let Ok(line) = line else { return };
                let line = String::from_utf8_lossy(&line).trim().to_owned();
                if let Some(log) = &mut log {
                    writeln!(log, "{line}").expect("the log can be written");
                }
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Ok(Inbox { lines })
    }

    /// Waits for the next event.
    pub fn next(&self) -> Input {
        self.lines.recv().map_or(Input::Closed, Input::Line)
    }

    /// Waits for the next event until `deadline`; without one, for ever.
    pub fn next_until(&self, deadline: Option<Instant>) -> Option<Input> {
        let Some(deadline) = deadline else { return Some(self.next()) };
        let patience = deadline.saturating_duration_since(Instant::now());
        match self.lines.recv_timeout(patience) {
            Ok(line) => Some(Input::Line(line)),
            Err(RecvTimeoutError::Disconnected) => Some(Input::Closed),
            Err(RecvTimeoutError::Timeout) => None,
        }
    }
}

fn open_log(dir: &Path) -> Result<File, String> {
    let path = dir.join(format!("{}.log", std::process::id()));
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&path)
        .map_err(|error| format!("cannot write {}: {error}", path.display()))
}
