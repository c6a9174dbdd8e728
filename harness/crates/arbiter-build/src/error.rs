//! Why a revision did not become a program.

use std::path::PathBuf;
use std::time::Duration;

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
    /// There is no repository.
    #[error("'{}' is in no git repository that can be read ({reason}); give one with --repo", .path.display())]
    NoRepository {
        /// The folder that was to be in one.
        path: PathBuf,
        /// What git printed, or why it was not asked.
        reason: String,
    },
    /// The repository has no such commit.
    #[error("no revision '{revision}' in {}, and no program of that name", .repo.display())]
    Unknown {
        /// The revision as typed.
        revision: String,
        /// The repository.
        repo: PathBuf,
    },
    /// The repository has a part of its history only, and the commit may be in the other.
    #[error(
        "no revision '{revision}' in {}, which is a shallow clone; get the rest with `git fetch \
         --unshallow`, or set fetch-depth: 0 for actions/checkout", .repo.display()
    )]
    Shallow {
        /// The revision as typed.
        revision: String,
        /// The repository.
        repo: PathBuf,
    },
    /// The tree of files has no build that is known.
    #[error(
        "{what} has no Cargo.toml, go.mod, Makefile, src/Makefile or CMakeLists.txt; say how it is \
         built with command and binary in [build] of arbiter.toml"
    )]
    NoRecipe {
        /// The revision.
        what: String,
    },
    /// The recipe makes no sense.
    #[error("[build] of {file}: {reason}")]
    Recipe {
        /// The file with the recipe.
        file: String,
        /// What is wrong.
        reason: String,
    },
    /// A command of git failed.
    #[error("git {what}: {reason}")]
    Git {
        /// Its arguments.
        what: String,
        /// The first line of its error output.
        reason: String,
    },
    /// The build failed.
    #[error("the build of {what} failed ({how}): {first}; the log is {}", .log.display())]
    Failed {
        /// The revision.
        what: String,
        /// How the command ended.
        how: String,
        /// The first error of the log.
        first: String,
        /// The log of the build.
        log: PathBuf,
    },
    /// The build took too long.
    #[error(
        "the build of {what} was ended after {} s, the timeout of [build]; the log is {}",
        .limit.as_secs_f64(), .log.display()
    )]
    Late {
        /// The revision.
        what: String,
        /// How long it had.
        limit: Duration,
        /// The log of the build.
        log: PathBuf,
    },
    /// The build left no program.
    #[error("the build of {what} left no program: {reason}; the log is {}", .log.display())]
    NoBinary {
        /// The revision.
        what: String,
        /// What was looked for.
        reason: String,
        /// The log of the build.
        log: PathBuf,
    },
    /// The program has no bench that can be read.
    #[error(
        "{what} has no bench signature: `{command}` {reason}; set bench and bench-pattern in [build] \
         of arbiter.toml, or give --no-bench"
    )]
    NoBench {
        /// The engine.
        what: String,
        /// The command.
        command: String,
        /// What was wrong.
        reason: String,
    },
    /// Two copies of one program searched different trees.
    #[error(
        "the bench of {what} differs between copies of it: {}; an engine that is not deterministic \
         with one thread has a bug, or reads memory that it did not write", list(.counts)
    )]
    Unsteady {
        /// The engine.
        what: String,
        /// The nodes that each copy counted.
        counts: Vec<u64>,
    },
    /// The program is not what its commit says it is.
    #[error(
        "the bench of {what} is {found}, but its commit says {promised}; the build differs from its \
         author's, or the message was not brought up to date"
    )]
    Broken {
        /// The engine.
        what: String,
        /// The nodes that its bench counted.
        found: u64,
        /// What the message of its commit says.
        promised: u64,
    },
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

/// What a failure of the system at this path is to a build.
pub(super) fn io_error(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
    let path = path.into();
    move |source| BuildError::Io { path, source }
}

fn list(counts: &[u64]) -> String {
    counts.iter().map(u64::to_string).collect::<Vec<_>>().join(", ")
}
