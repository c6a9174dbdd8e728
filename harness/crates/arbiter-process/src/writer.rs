//! Writer to an engine that never waits for it.

use std::io::{ErrorKind, Write};
use std::process::ChildStdin;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use thiserror::Error;

/// Reason why a line could not be written to the engine.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The engine does not read its input and the pipe is full.
    #[error("does not read its input")]
    Full,
    /// The engine closed its input or ended.
    #[error("closed its input")]
    Closed,
}

/// Input of an engine. A pipe holds 64 KiB, far more than a well-behaved engine leaves unread, so a
/// full pipe is a fault of the engine and not a reason to wait.
#[derive(Debug)]
pub(super) struct Writer(ChildStdin);

impl Writer {
    pub(super) fn new(stdin: ChildStdin) -> std::io::Result<Writer> {
        let flags = fcntl_getfl(&stdin)?;
        // A blocking write would hold up this thread, and with it other games, as long as the
        // engine reads nothing.
        fcntl_setfl(&stdin, flags | OFlags::NONBLOCK)?;
        Ok(Writer(stdin))
    }

    /// Writes all bytes or fails.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), WriteError> {
        while !bytes.is_empty() {
            match self.0.write(bytes) {
                Ok(0) => return Err(WriteError::Closed),
                Ok(written) => bytes = &bytes[written..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Err(WriteError::Full);
                }
                // Nothing can be written after any other error, and the end of the process names
                // the cause.
                Err(_) => return Err(WriteError::Closed),
            }
        }
        Ok(())
    }
}
