//! Errors on the way from a revision to a program.

use std::path::PathBuf;

use thiserror::Error;

use arbiter_process::SpawnError;

/// Failure to turn a revision into a program that can be trusted.
#[derive(Debug, Error)]
pub enum BuildError {
    /// git is not installed.
    #[error("revisions require git, which is not installed\nhint: install it, or give a program")]
    NoGit,
    /// A command of git failed.
    #[error("git {what}: {reason}")]
    Git {
        /// Arguments of the command.
        what: String,
        /// First line of its error output.
        reason: String,
    },
    /// The revision cannot be built or trusted; the text says why.
    #[error("{1}")]
    Failed(BuildFailure, String),
    /// A file or folder of the cache cannot be used.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// Path of the file or folder.
        path: PathBuf,
        /// Reason given by the system.
        source: std::io::Error,
    },
    /// A program cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user interrupted the build.
    #[error("interrupted before the first game")]
    Cancelled,
}

/// Step from a revision to a trusted program that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFailure {
    /// There is no repository.
    NoRepository,
    /// The repository has no such commit.
    UnknownRevision,
    /// The clone has only a part of the history, and the commit may be in the rest.
    ShallowClone,
    /// No build of the tree of files is known.
    NoRecipe,
    /// The recipe makes no sense.
    InvalidRecipe,
    /// The command of the build failed.
    Command,
    /// The build took too long.
    Timeout,
    /// The build left no program.
    NoBinary,
    /// The bench of the program exited without an error and reported no number of nodes; perhaps
    /// the program has no bench.
    NoBench,
    /// The bench of the program failed.
    BenchFailed,
    /// Two copies of one program searched different trees.
    BenchDiffers,
    /// The bench of the program differs from the one that its commit promises.
    BenchBroken,
}

impl BuildError {
    /// Returns the error that the recipe in `file` makes no sense.
    pub fn invalid_recipe(file: &str, reason: &str) -> BuildError {
        BuildError::Failed(BuildFailure::InvalidRecipe, format!("[build] of {file}: {reason}"))
    }

    /// Returns the error that copies of one program counted different numbers of nodes.
    pub fn bench_differs(what: &str, counts: &[u64]) -> BuildError {
        let counts = counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let text = format!(
            "the bench of {what} differs between copies: {counts}; the engine is not deterministic \
             with one thread (a bug, such as uninitialized memory)"
        );
        BuildError::Failed(BuildFailure::BenchDiffers, text)
    }
}

/// Returns a function that turns an error of the system at a path into a [`BuildError`].
pub(super) fn io_error(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
    let path = path.into();
    move |source| BuildError::Io { path, source }
}
