//! Input from the harness, read by a separate thread so that `stop` and `isready` are received
//! during a search.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Instant;

/// Event on standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Line without its line ending.
    Line(String),
    /// End of the input.
    Closed,
}

/// Lines of standard input.
pub struct Inbox {
    lines: Receiver<String>,
}

impl Inbox {
    /// Starts the thread that reads; it also appends the input to `PID.log` in the folder `log`.
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

    /// Waits for the next event until `deadline`, or for ever without a deadline.
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
