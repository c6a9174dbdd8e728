//! Keeps a file from being written by two processes, also where the file system has no locks.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::Failure;
use arbiter_process::{has_no_locks, host_name};

/// A file beside the one that is written, which one process alone can make; removed when dropped.
///
/// One that a killed process left is for the user to remove. To see that the process is gone and to
/// remove the file are two steps: in between another run could have done both and made its own, and
/// that one would be removed.
#[derive(Debug)]
pub(super) struct LockFile(PathBuf);

impl Drop for LockFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Locks an open file, with its name in messages and the flag that names it, by `lock`, which is
/// [`File::try_lock`], or by a file beside it.
pub(super) fn lock(
    file: &File,
    path: &Path,
    (name, flag): (&str, &str),
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Option<LockFile>, Failure> {
    match lock(file) {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Err(Failure::invalid(format!(
            "{name} is being written by another run; give another file with {flag}"
        ))),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".lock");
            create(beside.into(), name, flag).map(Some)
        }
        Err(TryLockError::Error(error)) => Err(Failure::environment(format!("{name}: {error}"))),
    }
}

fn create(path: PathBuf, name: &str, flag: &str) -> Result<LockFile, Failure> {
    let shown = path.display();
    let failed = |error| Failure::environment(format!("{name}: {shown}: {error}"));
    let mut file = match File::create_new(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Empty in the moment between its creation and its first line.
            let holder = std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty());
            let holder = holder.unwrap_or_else(|| "another run".to_owned());
            return Err(Failure::invalid(format!(
                "{name} is being written by {holder}; if that has ended remove {shown}, or give \
                 another file with {flag}"
            )));
        }
        Err(error) => return Err(failed(error)),
    };
    let lock = LockFile(path.clone());
    let written = write!(file, "process {} on host {}", std::process::id(), host_name());
    written.map_err(failed).map(|()| lock)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit_code::ExitCode;

    #[test]
    fn a_file_has_one_writer_where_there_are_no_locks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        let file = File::create(&path).unwrap();
        let open = |code| {
            let refuse =
                |_: &File| Err(TryLockError::Error(std::io::Error::from_raw_os_error(code)));
            lock(&file, &path, ("PGN file", "--pgn"), refuse)
        };
        for code in [libc::ENOLCK, libc::EOPNOTSUPP, libc::ENOSYS] {
            let first = open(code).unwrap();
            let Err(Failure { message, .. }) = open(code) else {
                panic!("two writers, with {code}");
            };
            assert!(message.contains(&format!("process {} ", std::process::id())), "{message}");
            let lock = dir.path().join("games.pgn.lock");
            assert!(message.contains(&format!("remove {}, or", lock.display())), "{message}");
            drop(first);
            open(code).unwrap();
        }
        assert_eq!(open(libc::EIO).unwrap_err().code, ExitCode::Environment);
        let busy = |_: &File| Err(TryLockError::WouldBlock);
        let failure = lock(&file, &path, ("PGN file", "--pgn"), busy).unwrap_err();
        assert_eq!(failure.code, ExitCode::Invalid);
        assert!(failure.message.contains("by another run; give another file with --pgn"));
    }
}
