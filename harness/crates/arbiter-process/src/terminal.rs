//! Terminal of standard input, read key by key, and the destination of standard error.

use std::io::{self, IsTerminal, stderr, stdin};
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::fstat;
use rustix::io::Errno;
use rustix::termios::{self, LocalModes, OptionalActions, Termios};

/// Terminal of standard input in a mode which gives keys as they are pressed and does not echo
/// them. Dropping it restores the previous mode. Ctrl-C is left to the terminal.
#[derive(Debug)]
pub struct Keys {
    before: Termios,
}

impl Keys {
    /// Starts to take keys; `None` unless standard input and standard error are a terminal in whose
    /// foreground this process group is.
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

    /// Returns the bytes of the keys pressed within `timeout`; none while this process is in the
    /// background. Fails if the terminal has gone.
    pub fn read(&self, timeout: Duration) -> io::Result<Vec<u8>> {
        let input = stdin();
        let limit = Timespec::try_from(timeout).ok();
        match poll(&mut [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::IN)], limit.as_ref()) {
            Ok(1) => {}
            Ok(_) | Err(Errno::INTR) => return Ok(Vec::new()),
            Err(error) => return Err(error.into()),
        }
        if !is_in_front() {
            // The terminal stops a process that reads from the background.
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
        // The terminal stops a process that changes its mode from the background, and the shell has
        // restored the mode by then.
        if is_in_front() {
            // A terminal that is gone needs no repair.
            let _ = termios::tcsetattr(stdin(), OptionalActions::Now, &self.before);
        }
    }
}

/// Returns whether standard error is the stream to systemd's journal that `JOURNAL_STREAM` names.
pub fn is_journal(journal_stream: &str) -> bool {
    fstat(stderr()).is_ok_and(|file| format!("{}:{}", file.st_dev, file.st_ino) == journal_stream)
}

/// Returns whether our process group is in the foreground of the terminal of standard input.
fn is_in_front() -> bool {
    termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}
