//! Keeps a file from being written by two processes, also where the file system has no locks.

use std::fs::{File, TryLockError};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::Problem;
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

/// Locks an open file, which `flag` names, by `lock`, which is [`File::try_lock`], or by a file beside
/// it.
pub(super) fn lock(
    file: &File,
    path: &Path,
    flag: &'static str,
    lock: impl Fn(&File) -> Result<(), TryLockError>,
) -> Result<Option<LockFile>, Problem> {
    match lock(file) {
        Ok(()) => Ok(None),
        Err(TryLockError::WouldBlock) => Err(Problem::Busy(flag)),
        Err(TryLockError::Error(error)) if has_no_locks(&error) => {
            let mut beside = path.as_os_str().to_owned();
            beside.push(".lock");
            create(beside.into(), flag).map(Some)
        }
        Err(TryLockError::Error(source)) => Err(Problem::Io(source)),
    }
}

fn create(path: PathBuf, flag: &'static str) -> Result<LockFile, Problem> {
    let mut file = match File::create_new(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            // Empty in the moment between its creation and its first line.
            let holder = std::fs::read_to_string(&path).ok().filter(|text| !text.is_empty());
            let holder = holder.unwrap_or_else(|| "another run".to_owned());
            return Err(Problem::Held { lock: path, holder, flag });
        }
        Err(error) => return Err(beside(&path, &error)),
    };
    let lock = LockFile(path);
    let written = write!(file, "process {} on host {}", std::process::id(), host_name());
    written.map_err(|error| beside(&lock.0, &error))?;
    Ok(lock)
}

/// An error of the file beside the games file.
fn beside(path: &Path, error: &std::io::Error) -> Problem {
    Problem::Io(std::io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_writer_where_there_are_no_locks() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("games.pgn");
        let file = File::create(&path).unwrap();
        let open = |code| {
            let refuse =
                |_: &File| Err(TryLockError::Error(std::io::Error::from_raw_os_error(code)));
            lock(&file, &path, "--pgn", refuse)
        };
        for code in [libc::ENOLCK, libc::EOPNOTSUPP, libc::ENOSYS] {
            let first = open(code).unwrap();
            let Err(Problem::Held { lock, holder, .. }) = open(code) else {
                panic!("two writers, with {code}");
            };
            assert_eq!(lock, dir.path().join("games.pgn.lock"));
            assert!(holder.contains(&format!("process {} ", std::process::id())), "{holder}");
            drop(first);
            open(code).unwrap();
        }
        assert!(matches!(open(libc::EIO), Err(Problem::Io(_))));
        let busy = |_: &File| Err(TryLockError::WouldBlock);
        assert!(matches!(lock(&file, &path, "--pgn", busy), Err(Problem::Busy(_))));
    }
}
