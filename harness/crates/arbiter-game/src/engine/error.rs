//! Why an engine cannot be used, and what that amounts to in a game.

use thiserror::Error;

use crate::outcome::printable;
use crate::referee::Fault;
use arbiter_process::{SpawnError, WriteError};
use arbiter_protocol::SessionError;

/// How much of a dead engine's last line of error output is reported, in characters.
const LAST_WORDS: usize = 200;

/// Why an engine cannot be used. The text is made to follow the engine's name.
#[derive(Debug, Error)]
pub enum EngineError {
    /// It could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// It broke the protocol or was late.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// Its process ended; the text says how.
    #[error("exited ({0})")]
    Exited(String),
    /// It closed its output but lives.
    #[error("closed its output")]
    Closed,
    /// It cannot be asked such a thing.
    #[error("does not speak UCI, which this needs")]
    NotUci,
    /// It takes no more input.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl EngineError {
    /// The process ended: `how`, and the last it had to say, from the lines of its error output.
    pub(super) fn exited(how: String, errors: &[String]) -> EngineError {
        match errors.iter().rev().find(|line| !line.trim().is_empty()) {
            Some(line) => {
                let words = printable(line.trim(), LAST_WORDS);
                EngineError::Exited(format!("{how}, last words: {words}"))
            }
            None => EngineError::Exited(how),
        }
    }

    /// Whether the machine and not the engine is to blame.
    pub fn is_environment(&self) -> bool {
        matches!(self, EngineError::Spawn(error) if error.is_environment)
    }

    /// What this error amounts to in a game.
    pub fn fault(&self) -> Fault {
        match self {
            EngineError::Exited(how) => Fault::Crashed(how.clone()),
            EngineError::Spawn(error) => Fault::Crashed(error.to_string()),
            EngineError::Closed | EngineError::Write(WriteError::Closed) => {
                Fault::Disconnected(self.to_string())
            }
            EngineError::Session(_)
            | EngineError::NotUci
            | EngineError::Write(WriteError::Full) => Fault::Silent(self.to_string()),
        }
    }
}
