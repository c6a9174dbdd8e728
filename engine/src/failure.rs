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
    /// Returns the failure of a result that differs from the expected result, as the output shows.
    pub(crate) const fn mismatch() -> Failure {
        Failure { code: 1, reason: String::new() }
    }

    /// Returns the failure of invalid arguments.
    pub(crate) fn usage(reason: impl ToString) -> Failure {
        Failure { code: 2, reason: reason.to_string() }
    }

    /// Returns the failure of input that cannot be read or is invalid.
    pub(crate) fn input(reason: impl ToString) -> Failure {
        Failure { code: 3, reason: reason.to_string() }
    }

    /// Returns the failure of a machine that lacks memory, disk space or instructions.
    pub(crate) fn environment(reason: impl ToString) -> Failure {
        Failure { code: 7, reason: reason.to_string() }
    }

    /// Prints the reason to standard error and returns the exit code.
    pub(crate) fn report(self) -> i32 {
        if !self.reason.is_empty() {
            // An output that the reader has closed is not an error of the engine.
            let _gone = writeln!(io::stderr(), "palimpsest: {}", self.reason);
        }
        self.code
    }
}
