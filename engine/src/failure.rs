//! Failures of commands, and their exit codes.

use std::io::{self, Write as _};

/// Failure of a command.
#[derive(Debug)]
pub(crate) struct Failure {
    code: i32,
    /// Reason; empty if the output of the command already shows the reason.
    reason: String,
}

impl Failure {
    /// Returns the failure for a result that differs from the expected result. The output already
    /// shows the difference.
    pub(crate) const fn mismatch() -> Failure {
        Failure { code: 1, reason: String::new() }
    }

    /// Returns the failure for invalid arguments.
    pub(crate) fn usage(reason: impl ToString) -> Failure {
        Failure { code: 2, reason: reason.to_string() }
    }

    /// Returns the failure for input that is invalid or cannot be read.
    pub(crate) fn input(reason: impl ToString) -> Failure {
        Failure { code: 3, reason: reason.to_string() }
    }

    /// Returns the failure for a machine that lacks memory, disk space or CPU instructions.
    pub(crate) fn environment(reason: impl ToString) -> Failure {
        Failure { code: 7, reason: reason.to_string() }
    }

    /// Prints the reason to standard error and returns the exit code.
    pub(crate) fn report(self) -> i32 {
        if !self.reason.is_empty() {
            // A closed standard error is not a failure of the engine, so write errors are ignored.
            let _gone = writeln!(io::stderr(), "palimpsest: {}", self.reason);
        }
        self.code
    }
}
