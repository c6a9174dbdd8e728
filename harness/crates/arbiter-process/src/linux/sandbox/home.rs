//! Temporary home folders of sandboxed programs.

use std::fs::{self, File};
use std::io;
use std::path::PathBuf;

use super::Sandbox;
use crate::files::{create_locked_folder, leftover_folders, remove_folder};

/// Prefix of the names of temporary home folders.
const PREFIX: &str = "arbiter-home-";

/// Temporary home folder for one process, initially empty. Dropping the value removes the folder.
/// The lock shows other Arbiter processes that the folder is still in use.
#[derive(Debug)]
pub(crate) struct Home {
    pub(super) path: PathBuf,
    lock: Option<File>,
}

impl Home {
    pub(super) fn make() -> io::Result<Home> {
        let (folder, lock) = create_locked_folder(&std::env::temp_dir(), PREFIX)?;
        Ok(Home { path: folder.keep(), lock: Some(lock) })
    }
}

impl Sandbox {
    /// Removes the temporary home folders that killed Arbiter processes left behind.
    pub fn remove_leftovers() {
        for (path, lock) in leftover_folders(&std::env::temp_dir(), PREFIX) {
            drop(Home { path, lock: Some(lock) });
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        // Usually, the folder is empty. Otherwise, a separate thread removes the files, because
        // removing files takes time, and no game should wait.
        if fs::remove_dir(&self.path).is_err() {
            let path = self.path.clone();
            let lock = self.lock.take();
            std::thread::spawn(move || {
                // If the removal fails, the next Arbiter process tries again.
                let _ = remove_folder(&path);
                drop(lock);
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::process::Command;

    use super::*;

    #[test]
    fn homes_are_removed_unless_their_owner_runs() {
        let home = Home::make().unwrap();
        assert_eq!(fs::metadata(&home.path).unwrap().mode() & 0o777, 0o700);
        let script = "mkdir -p d/e; echo > d/e/f; chmod 0 d/e d";
        Command::new("sh").args(["-c", script]).current_dir(&home.path).status().unwrap();
        Sandbox::remove_leftovers();
        std::thread::sleep(std::time::Duration::from_millis(200));
        let path = home.path.clone();
        assert!(path.join("d").exists(), "its owner lives");
        // The lock is released without removing the home, as when this process is killed.
        drop(std::mem::ManuallyDrop::new(home).lock.take());
        for _ in 0..500 {
            // A child process of another test may also hold the lock until it calls exec.
            Sandbox::remove_leftovers();
            if !path.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        panic!("{} is still there", path.display());
    }
}
