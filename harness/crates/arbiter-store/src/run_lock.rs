//! One process at a time may play a run.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::LATEST;
use arbiter_process::{Links, is_at, open_output};

/// Longest name of a run, in bytes.
const MAX_NAME: usize = 200;

/// The run cannot be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// The name would not make a file name.
    #[error("'{0}' is no name for a run; use up to {MAX_NAME} letters, digits, '.', '_' and '-'")]
    Name(String),
    /// It means another run.
    #[error("'{LATEST}' stands for the newest run; give this one another name")]
    Latest,
    /// Another process plays it.
    #[error("run '{0}' is being played by another arbiter")]
    Busy(String),
    /// The system refuses.
    #[error("cannot lock {}: {source}", .path.display())]
    Io {
        /// The lock file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
}

/// A held lock. The kernel releases it however the process ends; the file is removed if it ends
/// well.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Takes the lock of a run.
    pub fn take(results: &Path, run: &str) -> Result<RunLock, LockError> {
        RunLock::check_name(run)?;
        let path = results.join(format!("{run}.lock"));
        let fail = |source| LockError::Io { path: path.clone(), source };
        loop {
            let mut options = File::options();
            let file = open_output(&path, options.write(true), Links::Refused).map_err(fail)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => return Ok(RunLock { path, _file: file }),
                // Its last holder removed it between our opening and locking it.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Err(LockError::Busy(run.to_owned())),
                Err(TryLockError::Error(source)) => return Err(fail(source)),
            }
        }
    }

    /// An error unless a new run can have this name. An older one may have it that stands for the newest.
    pub fn check_new_name(run: &str) -> Result<(), LockError> {
        if run == LATEST { Err(LockError::Latest) } else { RunLock::check_name(run) }
    }

    /// An error unless `run` can be the name of a file.
    pub fn check_name(run: &str) -> Result<(), LockError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        let fits = (1..=MAX_NAME).contains(&run.len()) && !run.starts_with(['.', '-']);
        if fits && run.chars().all(plain) { Ok(()) } else { Err(LockError::Name(run.to_owned())) }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // A file that stays behind does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_has_one_player() {
        let dir = tempfile::tempdir().unwrap();
        let lock = RunLock::take(dir.path(), "a").unwrap();
        assert!(matches!(RunLock::take(dir.path(), "a"), Err(LockError::Busy(_))));
        RunLock::take(dir.path(), "b").unwrap();
        drop(lock);
        RunLock::take(dir.path(), "a").unwrap();
    }

    #[test]
    fn names_are_file_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "../x", "a b", ".hidden", "-flag"] {
            assert!(matches!(RunLock::take(dir.path(), name), Err(LockError::Name(_))), "{name}");
            assert!(matches!(RunLock::check_new_name(name), Err(LockError::Name(_))), "{name}");
        }
        assert!(matches!(RunLock::check_new_name(LATEST), Err(LockError::Latest)));
        RunLock::take(dir.path(), LATEST).unwrap();
    }
}
