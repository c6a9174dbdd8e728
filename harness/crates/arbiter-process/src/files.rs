//! File owners, modes, links and locks, and Arbiter's folders for each user.

use std::fs::{DirBuilder, File, Metadata, Permissions, TryLockError, remove_file};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::geteuid;
use tempfile::TempDir;

use super::commands::set_own_group;
use super::output_file::{Links, is_at, open_output};

/// Returns the user ID of a file's owner; `None` if the owner is the user of this process.
pub fn foreign_owner(file: &Metadata) -> Option<u32> {
    Some(file.uid()).filter(|uid| *uid != geteuid().as_raw())
}

/// Returns the time of the last change of a file's contents or attributes, as Unix time in
/// milliseconds, rounded down to whole seconds.
pub fn changed_ms(file: &Metadata) -> i64 {
    file.ctime().saturating_mul(1000)
}

/// Returns whether other users may read, write or execute a file.
pub fn is_open_to_others(file: &Metadata) -> bool {
    file.mode() & 0o077 != 0
}

/// Returns whether other users may write to a file or folder.
pub fn is_writable_by_others(file: &Metadata) -> bool {
    file.mode() & 0o022 != 0
}

/// Returns whether a path leads to an executable file.
pub fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|about| about.is_file() && about.mode() & 0o111 != 0)
}

/// Returns whether a file has more than one hard link.
pub fn has_other_names(path: &Path) -> bool {
    // Each subfolder adds a link to a folder.
    path.metadata().is_ok_and(|about| about.is_file() && about.nlink() > 1)
}

/// Removes a folder of any depth, even if its subfolders are read-only.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    // The standard library needs stack and open files for each level of folders.
    let script = "chmod -R u+rwx \"$0\"; rm -rf \"$0\"";
    let mut command = Command::new("sh");
    command.args(["-c", script]).arg(std::path::absolute(folder)?).stderr(Stdio::null());
    // Ctrl-C must not end the removal.
    set_own_group(&mut command);
    let status = command.status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("removal failed with {status}")))
    }
}

/// Removes a file if it exists.
pub fn remove_if_there(file: &Path) -> io::Result<()> {
    match remove_file(file) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

/// Creates the symbolic link `link` to `target`, replacing an existing link. Fails if a file or a
/// folder exists at `link`.
pub fn replace_link(link: &Path, target: &Path) -> io::Result<()> {
    if link.is_symlink() {
        remove_file(link)?;
    }
    symlink(target, link)
}

/// Creates a folder and its missing parent folders, all accessible only to the user. Existing
/// folders stay unchanged.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Returns the working folder. If the folder has been deleted, the error reports the deletion.
pub fn working_folder() -> Result<PathBuf, String> {
    std::env::current_dir().map_err(|error| {
        let link = std::fs::read_link("/proc/self/cwd").unwrap_or_default();
        match link.to_string_lossy().strip_suffix(" (deleted)") {
            Some(folder) => format!(
                "the working folder {folder} has been deleted; change to an existing folder"
            ),
            None => format!("the working folder is unknown: {error}"),
        }
    })
}

/// Returns the path of a folder named `arbiter`. Its parent folder is the value of the environment
/// variable `variable` or, if the value is not an absolute path, the subfolder `below` of HOME.
/// Returns `None` if HOME is not an absolute path either.
pub fn user_folder(variable: &str, below: &str) -> Option<PathBuf> {
    // An empty or relative path would refer to the current folder.
    let absolute =
        |name| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = absolute(variable).or_else(|| absolute("HOME").map(|home| home.join(below)));
    folder.map(|folder| folder.join("arbiter"))
}

/// Locks an open file or folder without waiting. The kernel releases the lock when `file` is closed
/// or the process ends, even after a crash. Returns `false` if another process holds the lock.
pub fn try_lock(file: &File) -> io::Result<bool> {
    match file.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Opens a lock file (created if missing), and locks the file with [`try_lock`]. Returns `None` if
/// another process holds the lock.
pub fn lock_file(path: &Path) -> io::Result<Option<File>> {
    loop {
        let file = open_output(path, File::options().write(true), Links::Refused)?;
        if !try_lock(&file)? {
            return Ok(None);
        }
        // The last holder of the lock may have removed the file after this process opened the file
        // and before this process locked the file. The next attempt creates a new file.
        if is_at(&file, path) {
            return Ok(Some(file));
        }
    }
}

/// Creates and locks a temporary folder in `near`. The name of the new folder begins with `prefix`.
/// Only the user can access the folder.
pub fn create_locked_folder(near: &Path, prefix: &str) -> io::Result<(TempDir, File)> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(prefix).permissions(Permissions::from_mode(0o700));
    loop {
        // Until the folder is locked, another process may mistake the folder for a leftover and
        // remove the folder.
        let folder = builder.tempdir_in(near)?;
        let lock = match File::open(folder.path()) {
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened?,
        };
        // Some network file systems do not support locks.
        if try_lock(&lock).unwrap_or(true) && is_at(&lock, folder.path()) {
            return Ok((folder, lock));
        }
    }
}

/// Locks and returns the folders that this user's processes created with [`create_locked_folder`]
/// and left behind when these processes were killed. Each folder stays locked until its `File` is
/// dropped.
pub fn leftover_folders(near: &Path, prefix: &str) -> impl Iterator<Item = (PathBuf, File)> {
    let entries = near.read_dir().into_iter().flatten().flatten();
    entries.filter_map(move |entry| {
        if !entry.file_name().as_encoded_bytes().starts_with(prefix.as_bytes()) {
            return None;
        }
        // Other users may write to the folder of temporary files, so links and the folders of other
        // users are skipped.
        let about = entry.metadata().ok()?;
        if !about.is_dir() || foreign_owner(&about).is_some() {
            return None;
        }
        let lock = File::open(entry.path()).ok()?;
        lock.try_lock().is_ok().then(|| (entry.path(), lock))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_folders_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join("top").join(name);
        std::fs::create_dir_all(path("all")).unwrap();
        for _ in 0..20_000 {
            std::fs::create_dir(path("new")).unwrap();
            std::fs::rename(path("all"), path("new/all")).unwrap();
            std::fs::rename(path("new"), path("all")).unwrap();
        }
        std::fs::set_permissions(path("all"), Permissions::from_mode(0o000)).unwrap();
        remove_folder(&path("")).unwrap();
        assert!(!path("").exists());
    }
}
