//! Non-blocking writer to the input of an engine.

use std::io::{ErrorKind, Write};
use std::process::ChildStdin;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use thiserror::Error;

/// Reason why commands could not be written to the engine.
#[derive(Debug, Error)]
pub enum WriteError {
    /// The engine does not read its input and the pipe is full.
    #[error("does not read its input")]
    Full,
    /// The engine closed its input or exited.
    #[error("closed its input")]
    Closed,
}

/// Input of an engine. A pipe can contain 64 KiB, far more than a correct engine leaves unread.
/// Therefore a full pipe is an engine fault and not a reason to wait.
#[derive(Debug)]
pub(super) struct Writer(ChildStdin);

impl Writer {
    pub(super) fn new(stdin: ChildStdin) -> std::io::Result<Writer> {
        let flags = fcntl_getfl(&stdin)?;
        // A blocking write to an engine that reads nothing would block this thread and thereby
        // other games.
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
                // After any other error, no more data can be written; the exit status of the
                // process is more informative than the error.
                Err(_) => return Err(WriteError::Closed),
            }
        }
        Ok(())
    }
}
