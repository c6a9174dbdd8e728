//! Reading of keys from the terminal, and detection of the systemd journal.

use std::io::{self, IsTerminal, stderr, stdin};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// Terminal of standard input in a mode that delivers keys immediately and without echo. Dropping
/// the value restores the previous mode. The terminal still handles Ctrl-C.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
}

impl Keys {
    /// Switches the mode of the terminal. Returns `None` unless standard input and stderr are
    /// terminals and this process is in the foreground.
    pub fn open() -> Option<Keys> {
        if !stdin().is_terminal() || !stderr().is_terminal() || !is_in_front() {
            return None;
        }
        let before = termios::tcgetattr(stdin()).ok()?;
        let mut now = before.clone();
        now.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        termios::tcsetattr(stdin(), OptionalActions::Now, &now).ok()?;
        Some(Keys { before })
    }

    /// Returns the bytes of the keys pressed within `timeout`; empty while this process is in the
    /// background. Fails if the terminal has been closed.
    pub fn read(&self, timeout: Duration) -> io::Result<Vec<u8>> {
        let input = stdin();
        let limit = Timespec::try_from(timeout).ok();
        match poll(&mut [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)], limit.as_ref()) {
            Ok(1) => {}
            Ok(_) | Err(Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        if !is_in_front() {
            // The terminal would stop a background process that reads.
            std::thread::sleep(timeout);
            return Ok(Vec::new());
        }
        let mut bytes = [0; 16];
        match rustix::io::read(&input, &mut bytes)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => Ok(bytes[..length].to_vec()),
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // The terminal would stop a background process that changes the mode; the shell has already
        // restored the mode.
        if is_in_front() {
            // An error means that the terminal was closed.
            let _ = termios::tcsetattr(stdin(), OptionalActions::Now, &self.before);
        }
    }
}

/// Returns whether stderr is connected to the systemd journal; `journal_stream` is the value of the
/// environment variable `JOURNAL_STREAM`.
pub fn is_journal(journal_stream: &str) -> bool {
    fstat(stderr()).is_ok_and(|file| format!("{}:{}", file.st_dev, file.st_ino) == journal_stream)
}

/// Returns whether this process group is in the foreground of the terminal of standard input.
fn is_in_front() -> bool {
    termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}
