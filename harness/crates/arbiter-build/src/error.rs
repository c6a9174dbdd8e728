//! Why a revision did not become a program.

use std::path::PathBuf;

use thiserror::Error;

use arbiter_process::SpawnError;

/// A revision does not become a program that can be trusted.
#[derive(Debug, Error)]
pub enum BuildError {
    /// git is not installed.
    #[error(
        "git is not installed, and revisions need it; install it, or give the path of a program"
    )]
    NoGit,
    /// A command of git failed.
    #[error("git {what}: {reason}")]
    Git {
        /// Its arguments.
        what: String,
        /// The first line of its error output.
        reason: String,
    },
    /// What was asked for cannot be built or trusted; the text says why.
    #[error("{1}")]
    Failed(BuildFailure, String),
    /// A file or folder of the cache cannot be used.
    #[error("cannot use {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// A program cannot be started.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// The user interrupted the build.
    #[error("interrupted before the first game")]
    Cancelled,
}

/// The step from a revision to a trusted program that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildFailure {
    /// There is no repository.
    NoRepository,
    /// The repository has no such commit.
    UnknownRevision,
    /// The repository has a part of its history only, and the commit may be in the other.
    ShallowClone,
    /// The tree of files has no build that is known.
    NoRecipe,
    /// The recipe makes no sense.
    InvalidRecipe,
    /// The command of the build failed.
    Command,
    /// The build took too long.
    Timeout,
    /// The build left no program.
    NoBinary,
    /// The bench of the program ended well and told no number of nodes: there may be none.
    NoBench,
    /// The bench of the program failed.
    BenchFailed,
    /// Two copies of one program searched different trees.
    BenchDiffers,
    /// The bench of the program is not the one that its commit promises.
    BenchBroken,
}

impl BuildError {
    /// The recipe in `file` makes no sense.
    pub fn invalid_recipe(file: &str, reason: &str) -> BuildError {
        BuildError::Failed(BuildFailure::InvalidRecipe, format!("[build] of {file}: {reason}"))
    }

    /// Copies of one program counted different numbers of nodes.
    pub fn bench_differs(what: &str, counts: &[u64]) -> BuildError {
        let counts = counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let text = format!(
            "the bench of {what} differs between copies of it: {counts}; an engine that is not \
             deterministic with one thread has a bug, or reads memory that it did not write"
        );
        BuildError::Failed(BuildFailure::BenchDiffers, text)
    }
}

/// What a failure of the system at this path is to a build.
pub(super) fn io_error(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
    let path = path.into();
    move |source| BuildError::Io { path, source }
}
