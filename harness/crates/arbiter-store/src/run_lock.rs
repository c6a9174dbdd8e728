//! Lock of a run. The lock allows only one process at a time to play the run.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::LATEST;
use arbiter_process::{host_name, lock_file, read_text, remote_source};

/// Maximum length of a run's name, in bytes. File names may have at most 255 bytes, and the files
/// of a run have extensions after the name of the run.
const MAX_NAME: usize = 200;

/// Reason why a run cannot be locked.
#[derive(Debug, Error)]
pub enum LockError {
    /// The name is not a valid file name.
    #[error(
        "invalid run name '{0}': use up to {MAX_NAME} ASCII letters, digits, '_', '.' and '-', the \
         last two not at the start"
    )]
    Name(String),
    /// The name is reserved for the newest run.
    #[error("'{LATEST}' means the newest run; give another name")]
    Latest,
    /// Another process is playing the run.
    #[error("run '{0}' is being played by another arbiter")]
    Busy(String),
    /// The folder is on a network file system, and another machine is playing or has played a run
    /// in the folder.
    #[error("{0}")]
    Elsewhere(String),
    /// The system refused the lock.
    #[error("cannot lock {}: {source}", .path.display())]
    Io {
        /// Path of the lock file.
        path: PathBuf,
        /// Error from the operating system.
        source: std::io::Error,
    },
}

/// Lock that this process holds on a run. The kernel releases the lock when the process ends, even
/// after a crash. The lock file is removed if the process ends normally.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    _file: File,
}

impl RunLock {
    /// Takes the lock of a run. Fails if another process holds the lock, or if the folder is on a
    /// network file system and another machine holds a lock in the folder.
    pub fn take(results: &Path, run: &str) -> Result<RunLock, LockError> {
        RunLock::check_name(run)?;
        let path = results.join(format!("{run}.lock"));
        let fail = |source| LockError::Io { path: path.clone(), source };
        let file = lock_file(&path).map_err(fail)?;
        let file = file.ok_or_else(|| LockError::Busy(run.to_owned()))?;
        if let Some(remote) = remote_source(results) {
            check_machines(results, &remote, &file).map_err(fail)??;
        }
        Ok(RunLock { path, _file: file })
    }

    /// Returns an error unless a new run may have this name. Only a run that an older version
    /// created can have the name that is reserved for the newest run.
    pub fn check_new_name(run: &str) -> Result<(), LockError> {
        if run == LATEST { Err(LockError::Latest) } else { RunLock::check_name(run) }
    }

    /// Returns an error unless `run` can be the name of a file.
    pub fn check_name(run: &str) -> Result<(), LockError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        // A leading dot would hide the files of the run, and a leading dash would look like a flag.
        let fits = (1..=MAX_NAME).contains(&run.len()) && !run.starts_with(['.', '-']);
        if fits && run.chars().all(plain) { Ok(()) } else { Err(LockError::Name(run.to_owned())) }
    }
}

/// Writes the process and the host that hold a lock into the lock file. Fails if any lock file in
/// the folder, including the lock file of this run, contains an entry of another machine. Two
/// machines must not share a folder, because network file systems may enforce locks within one
/// machine only, and SQLite needs memory that all processes with the same store share. If two
/// machines start in succession, the second machine finds the entry of the first machine.
fn check_machines(
    results: &Path,
    remote: &str,
    mut lock: &File,
) -> io::Result<Result<(), LockError>> {
    let machine = format!(" on host {}", host_name());
    let others = || -> io::Result<Option<LockError>> {
        for entry in results.read_dir()? {
            let path = entry?.path();
            let is_lock = path.extension().is_some_and(|ending| ending == "lock");
            let holder = if is_lock { read_text(&path).unwrap_or_default() } else { String::new() };
            if holder.contains(" on host ") && !holder.ends_with(&machine) {
                return Ok(Some(LockError::Elsewhere(format!(
                    "{} is on {remote}, where locks are unreliable, and {holder} plays or played \
                     there\nhint: give a local folder with --results, or remove {} if that run has \
                     ended",
                    results.display(),
                    path.display()
                ))));
            }
        }
        Ok(None)
    };
    if let Some(error) = others()? {
        return Ok(Err(error));
    }
    lock.set_len(0)?;
    lock.rewind()?;
    write!(lock, "process {}{machine}", std::process::id())?;
    // Two machines may have written at the same time. Then each machine finds the entry of the
    // other machine, and neither machine plays.
    let other = others()?;
    if other.is_some() {
        lock.set_len(0)?;
    }
    Ok(other.map_or(Ok(()), Err))
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // On a local file system, a lock file that is not removed does no harm, because only the
        // lock on the file counts.
        let _ = std::fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_process_plays_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let lock = RunLock::take(dir.path(), "a").unwrap();
        assert!(matches!(RunLock::take(dir.path(), "a"), Err(LockError::Busy(_))));
        RunLock::take(dir.path(), "b").unwrap();
        drop(lock);
        RunLock::take(dir.path(), "a").unwrap();
    }

    #[test]
    fn machines_that_share_a_folder_do_not_play_in_it_together() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("run.lock");
        let lock = File::create(&path).unwrap();
        let check = || check_machines(dir.path(), "server:/home", &lock).unwrap();
        check().unwrap();
        let own = std::fs::read_to_string(&path).unwrap();
        assert_eq!(own, format!("process {} on host {}", std::process::id(), host_name()));
        check().unwrap();
        for name in ["other.lock", "run.lock"] {
            let path = dir.path().join(name);
            std::fs::write(&path, "process 7 on host far").unwrap();
            let folder = dir.path().display();
            let expect = format!(
                "{folder} is on server:/home, where locks are unreliable, and process 7 on host \
                 far plays or played there\nhint: give a local folder with --results, or remove {folder}/{name} if that run has ended"
            );
            assert_eq!(check().unwrap_err().to_string(), expect);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn run_names_must_be_valid_file_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["", "../x", "a b", ".hidden", "-flag"] {
            assert!(matches!(RunLock::take(dir.path(), name), Err(LockError::Name(_))), "{name}");
            assert!(matches!(RunLock::check_new_name(name), Err(LockError::Name(_))), "{name}");
        }
        assert!(matches!(RunLock::check_new_name(LATEST), Err(LockError::Latest)));
        RunLock::take(dir.path(), LATEST).unwrap();
    }
}
