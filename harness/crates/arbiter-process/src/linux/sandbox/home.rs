//! Temporary homes of sandboxed programs: empty folders that are removed after them.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

/// Prefix of their names; they are in the folder of temporary files.
const PREFIX: &str = "arbiter-home-";

/// Empty folder for one process, removed when it is dropped. It is locked as long as this process
/// runs.
#[derive(Debug)]
pub(crate) struct Home {
    path: PathBuf,
    lock: Option<File>,
}

impl Home {
    pub(super) fn make() -> io::Result<Home> {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).permissions(Permissions::from_mode(0o700)).disable_cleanup(true);
        loop {
            let path = builder.tempdir()?.keep();
            let lock = match File::open(&path) {
                Ok(lock) => lock,
                // Another Arbiter that removes leftovers took the new folder for one of them.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            // Between its creation and the lock, the folder may have been removed as a leftover.
            if lock.try_lock().is_ok() && path.exists() {
                return Ok(Home { path, lock: Some(lock) });
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the homes whose owners were killed.
    pub(super) fn remove_old() {
        let Ok(entries) = fs::read_dir(std::env::temp_dir()) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            // Everybody may write in the folder of temporary files, so that links and files of
            // others are left alone.
            let is_ours = |data: fs::Metadata| data.is_dir() && data.uid() == geteuid().as_raw();
            if name.starts_with(PREFIX)
                && fs::symlink_metadata(&path).is_ok_and(is_ours)
                && let Ok(lock) = File::open(&path)
                && lock.try_lock().is_ok()
            {
                drop(Home { path, lock: Some(lock) });
            }
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // The home nearly always is empty. Removing a full one takes time, for which no game should
        // wait.
        if fs::remove_dir(&self.path).is_err() {
            let (path, lock) = (self.path.clone(), self.lock.take());
            std::thread::spawn(move || {
                // These can handle folders that are deeper than our stack. What cannot be removed
                // is left to the next one.
                let script = "chmod -R u+rwx \"$0\"; rm -rf \"$0\"";
                let _ = Command::new("sh").arg("-c").arg(script).arg(path).status();
                drop(lock);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn homes_are_removed_unless_their_owner_lives() {
        let home = Home::make().unwrap();
        assert_eq!(fs::metadata(home.path()).unwrap().mode() & 0o777, 0o700);
        let script = "mkdir -p d/e; echo > d/e/f; chmod 0 d/e d";
        Command::new("sh").args(["-c", script]).current_dir(home.path()).status().unwrap();
        Home::remove_old();
        std::thread::sleep(std::time::Duration::from_millis(200));
        let path = home.path().to_owned();
        assert!(path.join("d").exists(), "its owner lives");
        // As if we had been killed.
        drop(std::mem::ManuallyDrop::new(home).lock.take());
        for _ in 0..500 {
            // What another test forks has the lock, too, until it becomes its program.
            Home::remove_old();
            if !path.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{} is still there", path.display());
    }
}
