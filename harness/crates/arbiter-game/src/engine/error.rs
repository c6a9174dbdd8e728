//! Errors of engines, and their consequences in a game.

use thiserror::Error;

use crate::outcome::printable;
use crate::referee::Fault;
use arbiter_process::{SpawnError, WriteError};
use arbiter_protocol::SessionError;

/// Length of the reported part of a dead engine's last line of error output, in characters.
const LAST_WORDS: usize = 200;

/// First words of lines of both protocols that do not explain the end of an engine.
const PROTOCOL: [&str; 8] =
    ["id", "option", "uciok", "readyok", "info", "bestmove", "feature", "move"];

/// Reason why an engine cannot be used. The text is made to follow the engine's name.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The engine could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The engine broke the protocol or was late.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The process ended; the text says how.
    #[error("exited ({0})")]
    Exited(String),
    /// The engine closed its output but still runs.
    #[error("closed its output")]
    Closed,
    /// The engine cannot be asked such a thing.
    #[error("does not speak UCI, which is required")]
    NotUci,
    /// The engine takes no more input.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl EngineError {
    /// Describes the end of a process: `how`, with the last of the lines of its error output, and
    /// the last line of its output if that is not of the protocol.
    pub(super) fn exited(how: String, errors: &[String], said: &str) -> EngineError {
        // A last line that is blank explains nothing.
        let error = errors.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
        let first = said.split_whitespace().next();
        let said = first.filter(|word| !PROTOCOL.contains(word)).map(|_| said.trim());
        let shown = |line| printable(line, LAST_WORDS);
        let error = error.map(|line| format!(", last error output: {}", shown(line)));
        let said = said.map(|line| format!(", last output: {}", shown(line)));
        EngineError::Exited(how + &error.unwrap_or_default() + &said.unwrap_or_default())
    }

    /// Returns whether the machine and not the engine is to blame.
    pub fn is_environment(&self) -> bool {
        matches!(self, EngineError::Spawn(error) if error.is_environment)
    }

    /// Returns the fault of an engine in a game for this error.
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
