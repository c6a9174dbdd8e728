//! Engine errors, and the resulting faults in a game.

use thiserror::Error;

use crate::referee::Fault;
use crate::text::printable;
use arbiter_process::{SpawnError, WriteError};
use arbiter_protocol::SessionError;

/// Maximum length, in characters, of each line quoted in the error for an engine that has exited.
const LAST_WORDS: usize = 200;

/// First words of protocol lines (UCI and CECP). Such lines do not explain the exit of an engine,
/// except `info string` lines.
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
    /// The engine was late during the handshake; the text quotes its last lines, in parentheses.
    #[error("{0}{1}")]
    Slow(SessionError, String),
    /// The engine closed its output but is still running.
    #[error("closed its output")]
    Closed,
    /// The engine exited or closed its output during the handshake, but after `uciok`, for example
    /// because of an option.
    #[error("sent uciok, then {0}")]
    Configured(Box<EngineError>),
    /// The request needs UCI, which the engine does not speak.
    #[error("does not speak UCI, which is required")]
    NotUci,
    /// The engine does not read its input.
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl EngineError {
    /// Creates the error of an engine that is `late` during the handshake.
    pub(super) fn slow(late: SessionError, words: &str) -> EngineError {
        let words = words.strip_prefix(", ").map(|words| format!(" ({words})"));
        EngineError::Slow(late, words.unwrap_or_default())
    }

    /// Quotes the last line of standard error that is not blank, and one of the last output lines.
    /// The output line is the first line that contains `ERROR`, because engines report the cause
    /// first. If no line contains `ERROR`, the output line is the last line that is not blank. The
    /// output line is omitted if it is a protocol line or repeats the line of standard error.
    pub(super) fn last_words(errors: &[String], last: &[&str]) -> String {
        // Blank lines explain nothing.
        let error = errors.iter().rev().map(|line| line.trim()).find(|line| !line.is_empty());
        let cause = last.iter().find(|line| line.contains("ERROR"));
        // An engine may also write the same message to standard error.
        let is_new = |line: &str| {
            let message = line.trim_start_matches("info string ");
            error.is_none_or(|error| !error.contains(message))
        };
        let output = cause.or(last.iter().rfind(|line| !line.trim().is_empty()));
        let output = output.map(|line| line.trim()).filter(|line| explains(line) && is_new(line));
        let shown = |line| printable(line, LAST_WORDS);
        let error = error.map(|line| format!(", last error output: {}", shown(line)));
        let output = output.map(|line| format!(", last output: {}", shown(line)));
        error.unwrap_or_default() + &output.unwrap_or_default()
    }

    /// Returns whether the machine, not the engine, caused the error.
    pub fn is_environment(&self) -> bool {
        matches!(self, EngineError::Spawn(error) if error.is_environment)
    }

    /// Returns the fault for which an engine with this error loses a game.
    pub fn fault(&self) -> Fault {
        match self {
            EngineError::Exited(how) => Fault::Crashed(how.clone()),
            EngineError::Configured(error) => error.fault(),
            EngineError::Spawn(error) => Fault::Crashed(error.to_string()),
            EngineError::Closed | EngineError::Write(WriteError::Closed) => {
                Fault::Disconnected(self.to_string())
            }
            EngineError::Session(_)
            | EngineError::Slow(..)
            | EngineError::NotUci
            | EngineError::Write(WriteError::Full) => Fault::Silent(self.to_string()),
        }
    }
}

/// Returns whether an output line may explain the exit of an engine.
fn explains(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| {
        !PROTOCOL.contains(&word) || (word == "info" && words.next() == Some("string"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_of_an_engine_is_explained_in_its_own_words() {
        let check =
            |last: &[&str], expect: &str| assert_eq!(EngineError::last_words(&[], last), expect);
        let cause = "info string ERROR: The network file none.nnue was not loaded.";
        let end = "info string ERROR: The engine will be terminated now.";
        check(&["info depth 1", cause, end, ""], &format!(", last output: {cause}"));
        check(&["uciok", "info string no book"], ", last output: info string no book");
        check(&["no book", "info depth 1 string"], "");
        check(&["cannot open the book"], ", last output: cannot open the book");
        check(&["Error: no book", "", " "], ", last output: Error: no book");
        check(&["", ""], "");
        check(&[], "");
        let (errors, last) = (["me: no network".to_owned()], ["info string no network"]);
        let words = EngineError::last_words(&errors, &last);
        assert_eq!(words, ", last error output: me: no network");
        let limit = std::time::Duration::from_secs(10);
        let late = || SessionError::Late { awaited: "uciok", limit };
        let text = |words| EngineError::slow(late(), words).to_string();
        assert_eq!(text(", last output: a"), "no 'uciok' within 10000 ms (last output: a)");
        assert_eq!(text(""), "no 'uciok' within 10000 ms");
    }
}
