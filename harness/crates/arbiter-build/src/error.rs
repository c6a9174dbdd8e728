//! Errors that can occur when a program is built from a revision.

use std::path::PathBuf;

use thiserror::Error;

use arbiter_process::SpawnError;

/// Failure to build a trusted program from a revision.
#[derive(Debug, Error)]
pub enum BuildError {
    /// git is not installed.
    #[error("revisions require git, which is not installed\nhint: install git, or give a program")]
    NoGit,
    /// A git command failed.
    #[error("git {what}: {reason}")]
    Git {
        /// Arguments of the command.
        what: String,
        /// First line on standard error.
        reason: String,
    },
    /// The revision cannot be built or trusted; the text contains the reason.
    #[error("{1}")]
    Failed(BuildFailure, String),
    /// A file or folder of the cache cannot be used.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// Error from the operating system.
        source: std::io::Error,
    },
    /// A program cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user interrupted the build.
    #[error("interrupted before the first game")]
    Cancelled,
}

pub(crate) type Result<T, E = BuildError> = std::result::Result<T, E>;

/// Reason why no trusted program could be built from a revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFailure {
    /// There is no repository.
    NoRepository,
    /// The repository does not contain the revision.
    UnknownRevision,
    /// The clone contains only a part of the history, and the commit may be in the missing part.
    ShallowClone,
    /// No recipe matches the source tree.
    NoRecipe,
    /// The recipe is invalid.
    InvalidRecipe,
    /// The build command failed.
    Command,
    /// The build exceeded its time limit.
    Timeout,
    /// The build produced no program.
    NoBinary,
    /// The bench exited without an error but reported no node count; the program may have no bench.
    NoBench,
    /// The bench failed.
    BenchFailed,
    /// Parallel runs of the bench reported different node counts.
    BenchDiffers,
    /// The node count differs from the count in the commit message.
    BenchBroken,
}

impl BuildError {
    /// Returns the error for an invalid recipe in `file`.
    pub fn invalid_recipe(file: &str, reason: &str) -> BuildError {
        BuildError::Failed(BuildFailure::InvalidRecipe, format!("[build] of {file}: {reason}"))
    }

    /// Returns the error for parallel runs of one program with different node counts.
    pub fn bench_differs(what: &str, counts: &[u64]) -> BuildError {
        let counts = counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let text = format!(
            "the bench of {what} differs between parallel runs: {counts}; the engine is not \
             deterministic with one thread (a bug, such as uninitialized memory)"
        );
        BuildError::Failed(BuildFailure::BenchDiffers, text)
    }
}

/// Returns a function that converts a system error at a path into a [`BuildError`].
pub(super) fn io_error(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
    let path = path.into();
    move |source| BuildError::Io { path, source }
}
