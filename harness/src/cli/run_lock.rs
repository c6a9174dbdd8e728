//! One process at a time may play a run.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The run cannot be had.
#[derive(Debug, Error)]
pub enum LockError {
    /// The name would not make a file name.
    #[error("'{0}' is no name for a run; use letters, digits, '.', '_' and '-'")]
    Name(String),
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
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if run.is_empty() || run.starts_with(['.', '-']) || !run.chars().all(plain) {
            return Err(LockError::Name(run.to_owned()));
        }
        let path = results.join(format!("{run}.lock"));
        let fail = |source| LockError::Io { path: path.clone(), source };
        let file = File::create(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => Ok(RunLock { path, _file: file }),
            Err(TryLockError::WouldBlock) => Err(LockError::Busy(run.to_owned())),
            Err(TryLockError::Error(source)) => Err(fail(source)),
        }
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
        }
    }
}
