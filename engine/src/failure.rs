//! Failures of commands, and their exit codes.

use std::io::{self, Write as _};

/// Failure of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    code: i32,
    /// Reason; empty if the output of the command shows it.
    reason: String,
}

impl Failure {
    /// A result that differs from the expected one, as the output shows.
    pub(crate) const fn mismatch() -> Failure {
        Failure { code: 1, reason: String::new() }
    }

    /// Arguments that cannot be used.
    pub(crate) fn usage(reason: impl ToString) -> Failure {
        Failure { code: 2, reason: reason.to_string() }
    }

    /// Input that cannot be read or is invalid.
    pub(crate) fn input(reason: impl ToString) -> Failure {
        Failure { code: 3, reason: reason.to_string() }
    }

    /// A machine without the memory, the disk or the instructions that are needed.
    pub(crate) fn environment(reason: impl ToString) -> Failure {
        Failure { code: 7, reason: reason.to_string() }
    }

    /// Prints the reason to standard error and returns the exit code.
    pub(crate) fn report(self) -> i32 {
        if !self.reason.is_empty() {
            // A reader that has closed its end is not an error of the engine.
            let _gone = writeln!(io::stderr(), "palimpsest: {}", self.reason);
        }
        self.code
    }
}
