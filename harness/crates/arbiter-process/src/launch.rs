//! Program to start, and the error if the program cannot be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use rustix::io::Errno;
use thiserror::Error;

use super::no_start::cause;
use crate::system::limits::ResourceLimits;
use crate::system::sandbox::Sandbox;

/// Program to start, and the settings for its process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Launch {
    /// Path of the program; a bare name is looked up in `PATH`.
    pub program: PathBuf,
    /// Arguments of the program.
    pub args: Vec<String>,
    /// Working folder. If `None`, the program starts in the home folder of the sandbox or, without
    /// a sandbox, in the working folder of this process.
    pub dir: Option<PathBuf>,
    /// File to which stderr is appended, if any.
    pub stderr: Option<PathBuf>,
    /// Resource limits of the program and each of its children.
    pub limits: ResourceLimits,
    /// Processors on which the program may run; if empty, all processors that this process may use.
    pub cpus: Vec<usize>,
    /// Environment variables; a sandbox also sets `HOME` and `TMPDIR`. If `None`, the program
    /// inherits the environment except Arbiter's secrets or, in a sandbox, only the variables that
    /// the sandbox allows.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Sandbox of the program, if any.
    pub sandbox: Option<Sandbox>,
}

/// Reason why a process could not be started.
#[derive(Debug, Error)]
#[error("{text}")]
pub struct SpawnError {
    text: String,
    /// `true` if the machine, not the program, caused the failure, for example because the machine
    /// has run out of memory, processes or file descriptors.
    pub is_environment: bool,
}

impl SpawnError {
    pub(super) fn of_program(launch: &Launch, source: &io::Error) -> SpawnError {
        let scarce = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
        // The kind `Unsupported` means that the system cannot enforce the sandbox.
        let is_environment = source.kind() == io::ErrorKind::Unsupported
            || Errno::from_io_error(source).is_some_and(|no| scarce.contains(&no));
        let program = &launch.program;
        let cause = cause(program, launch.dir.as_deref(), source);
        let text = format!("cannot start '{}': {cause}", program.display());
        SpawnError { text, is_environment }
    }

    pub(super) fn of_environment(text: String) -> SpawnError {
        SpawnError { text, is_environment: true }
    }
}
