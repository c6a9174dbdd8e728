//! Errors of commands, each with its exit code.

use crate::exit_code::ExitCode;
use arbiter_build::{BuildError, BuildFailure};
use arbiter_process::working_folder;
use arbiter_report::log_error;
use arbiter_runner::{PreflightError, StopSignal};
use arbiter_store::{LockError, StoreError};
use arbiter_suite::mine::JournalError;

/// Error of a command, with its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub code: ExitCode,
    pub message: String,
}

impl Failure {
    /// Creates an error with an exit code.
    pub(crate) fn new(code: ExitCode, error: impl std::fmt::Display) -> Failure {
        Failure { code, message: error.to_string() }
    }

    /// Creates an error caused by the environment.
    pub(crate) fn environment(error: impl std::fmt::Display) -> Failure {
        Failure::new(ExitCode::Environment, error)
    }

    /// Creates an error caused by the input.
    pub(crate) fn invalid(error: impl std::fmt::Display) -> Failure {
        Failure::new(ExitCode::Invalid, error)
    }

    /// Creates an error caused by the command line.
    pub(crate) fn usage(error: impl std::fmt::Display) -> Failure {
        Failure::new(ExitCode::Usage, error)
    }

    /// Creates the error for a command that finds nothing to do.
    pub(crate) fn nothing_to_run(error: impl std::fmt::Display) -> Failure {
        Failure::new(ExitCode::NothingToRun, error)
    }

    /// Creates an error caused by the environment or, if `is_environment` is `false`, by the input.
    pub(crate) fn classify(is_environment: bool, error: impl std::fmt::Display) -> Failure {
        if is_environment { Failure::environment(error) } else { Failure::invalid(error) }
    }

    /// Creates the error for a command that a signal ended; `when` describes the progress of the
    /// command.
    pub(crate) fn interrupted(signal: StopSignal, when: &str) -> Failure {
        let code = match signal {
            StopSignal::Interrupt => ExitCode::Interrupted,
            StopSignal::Terminate => ExitCode::Terminated,
        };
        Failure::new(code, format!("interrupted {when}"))
    }

    /// Returns whether a signal ended the command.
    pub(crate) fn is_interruption(&self) -> bool {
        matches!(self.code, ExitCode::Interrupted | ExitCode::Terminated)
    }

    /// Prints the error and returns its exit code.
    pub(crate) fn report(self) -> ExitCode {
        // In a deleted working folder, the system's error for a relative path is misleading.
        let gone = working_folder().err().filter(|why| !self.message.contains(why));
        log_error(self.message + &gone.map_or_else(String::new, |why| format!("\nhint: {why}")));
        self.code
    }
}

impl From<PreflightError> for Failure {
    fn from(error: PreflightError) -> Failure {
        Failure::classify(error.environment, error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let is_input = matches!(
            error,
            StoreError::Exists(_)
                | StoreError::IsOutput(_)
                | StoreError::NoRun { .. }
                | StoreError::Empty(_)
                | StoreError::Missing(_)
        );
        Failure::classify(!is_input, error)
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        Failure::classify(matches!(error, LockError::Io { .. }), error)
    }
}

impl From<JournalError> for Failure {
    fn from(error: JournalError) -> Failure {
        Failure::classify(matches!(error, JournalError::Io { .. }), error)
    }
}

impl From<BuildError> for Failure {
    fn from(error: BuildError) -> Failure {
        let code = match &error {
            BuildError::NoGit => ExitCode::NoRepository,
            BuildError::Failed(failure, _) => match failure {
                BuildFailure::NoRepository => ExitCode::NoRepository,
                BuildFailure::UnknownRevision => ExitCode::NoRevision,
                BuildFailure::ShallowClone => ExitCode::Shallow,
                BuildFailure::NoRecipe | BuildFailure::Command => ExitCode::BuildFailed,
                BuildFailure::Timeout => ExitCode::BuildTimeout,
                BuildFailure::NoBinary => ExitCode::NoBinary,
                BuildFailure::NoBench | BuildFailure::BenchFailed => ExitCode::NoBench,
                BuildFailure::BenchDiffers => ExitCode::BenchNondeterministic,
                BuildFailure::BenchBroken => ExitCode::BenchBroken,
                BuildFailure::InvalidRecipe => ExitCode::Invalid,
            },
            BuildError::Git { .. } | BuildError::Io { .. } | BuildError::Spawn(_) => {
                ExitCode::Environment
            }
            BuildError::Cancelled => ExitCode::Interrupted,
        };
        Failure::new(code, error)
    }
}
