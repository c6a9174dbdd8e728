//! Communication with a UCI engine over pipes.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use super::{PATIENCE, wait_for};

/// A running engine.
pub struct Talk {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
}

impl Talk {
    /// Starts `command` with piped input and output.
    pub fn start(command: &mut Command) -> Talk {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the engine can be started");
        let stdout = child.stdout.take().expect("stdout is piped");
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Talk { stdin: child.stdin.take(), child, lines }
    }

    /// Sends one line. A write error is ignored: if the engine has exited, the missing reply shows
    /// this.
    pub fn send(&mut self, line: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = writeln!(stdin, "{line}").and_then(|()| stdin.flush());
        }
    }

    /// Ends the engine's input.
    pub fn hang_up(&mut self) {
        self.stdin = None;
    }

    /// Returns the next line; `None` at the end of the output.
    pub fn line(&mut self) -> Option<String> {
        match self.lines.recv_timeout(PATIENCE) {
            Ok(line) => Some(String::from_utf8_lossy(&line).into_owned()),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => panic!("the engine said nothing for {PATIENCE:?}"),
        }
    }

    /// Returns the lines up to and including the first that starts with `start`.
    pub fn read_until(&mut self, start: &str) -> Vec<String> {
        let mut received_lines = Vec::new();
        while let Some(line) = self.line() {
            let found = line.starts_with(start);
            received_lines.push(line);
            if found {
                return received_lines;
            }
        }
        panic!("the engine left without saying `{start}`; it said {received_lines:?}");
    }

    /// Asserts that the engine prints nothing for a moment. A moment cannot prove silence, but a
    /// puppet that wants to reply needs less than a millisecond.
    pub fn assert_silent(&mut self) {
        let received = self.lines.recv_timeout(Duration::from_millis(200));
        assert!(
            matches!(received, Err(RecvTimeoutError::Timeout)),
            "expected silence, got {received:?}"
        );
    }

    /// Waits for the engine to exit by itself.
    pub fn exit(&mut self) -> ExitStatus {
        let child = &mut self.child;
        wait_for("the engine leaves", || child.try_wait().expect("a child can be waited for"))
    }

    /// Returns whether the engine is still running.
    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("a child can be waited for").is_none()
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // The engine may already have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
