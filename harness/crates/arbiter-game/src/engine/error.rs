//! Engine errors, and the faults that they cause in a game.

use thiserror::Error;

use crate::referee::Fault;
use crate::text::printable;
use arbiter_process::{SpawnError, WriteError};
use arbiter_protocol::SessionError;

/// Maximum length, in characters, of each line that the error of an exited engine quotes.
const LAST_WORDS: usize = 200;

/// First words of protocol lines (UCI and CECP), which do not explain the exit of an engine.
const PROTOCOL: [&str; 8] =
    ["id", "option", "uciok", "readyok", "info", "bestmove", "feature", "move"];

/// Reason why an engine cannot be used; the message continues a sentence that begins with the
/// engine's name.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The engine could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The engine violated the protocol or was late.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The process exited; the text describes the exit status.
    #[error("exited ({0})")]
    Exited(String),
    /// The engine closed its output but is still running.
    #[error("closed its output")]
    Closed,
    /// The request needs UCI, which the engine does not speak.
    #[error("does not speak UCI, which is required")]
    NotUci,
    /// The engine does not read its input.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl EngineError {
    /// Creates the error of an exited process. The text contains the exit status `how`, the last
    /// line of stderr, and the last output line `last`, unless `last` is a protocol line.
    pub(super) fn exited(how: String, errors: &[String], last: &str) -> EngineError {
        // Blank lines explain nothing.
        let error = errors.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
        let first = last.split_whitespace().next();
        let output = first.filter(|word| !PROTOCOL.contains(word)).map(|_| last.trim());
        let shown = |line| printable(line, LAST_WORDS);
        let error = error.map(|line| format!(", last error output: {}", shown(line)));
        let output = output.map(|line| format!(", last output: {}", shown(line)));
        EngineError::Exited(how + &error.unwrap_or_default() + &output.unwrap_or_default())
    }

    /// Returns whether the machine, not the engine, caused the error.
    pub fn is_environment(&self) -> bool {
        matches!(self, EngineError::Spawn(error) if error.is_environment)
    }

    /// Returns the fault for which an engine with this error loses a game.
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
