//! Files that appear complete or not at all, even if their writer is killed.

use std::fs::{File, Permissions, create_dir_all, remove_file, rename};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, AtFlags, CWD, access, linkat};
use tempfile::NamedTempFile;

use crate::folder_of;
use crate::input_file::regular;

/// File that gets its name only when the file is complete.
#[derive(Debug)]
pub struct WholeFile {
    path: PathBuf,
    part: Part,
}

#[derive(Debug)]
enum Part {
    /// Unnamed file, which the kernel removes when no process has the file open.
    Unnamed(File),
    /// Temporary file, on file systems without unnamed files.
    Named(NamedTempFile),
}

/// Removes the name of a temporary file or folder from an error, because the name means nothing to
/// the user.
pub fn without_name(error: io::Error) -> io::Error {
    error.kind().into()
}

/// Writes one line to a new file that only the owner of the file can read. An existing file stays
/// unchanged. The new file appears complete or not at all.
///
/// # Errors
///
/// Returns the system's error, without the name of a temporary file.
pub fn write_secret(path: &Path, text: &str) -> io::Result<()> {
    match WholeFile::create_private(path)?.finish_new(&format!("{text}\n")) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        done => done,
    }
}

/// Writes a program file that only its owner can read and execute; creates missing parent folders.
/// The program appears complete or not at all, and replaces an existing file.
///
/// # Errors
///
/// Returns the system's error, without the name of a temporary file.
pub fn write_program(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = folder_of(path);
    create_dir_all(folder)?;
    let mut file = NamedTempFile::new_in(folder).map_err(without_name)?;
    file.as_file_mut().write_all(bytes)?;
    file.as_file().set_permissions(Permissions::from_mode(0o500))?;
    file.as_file().sync_all()?;
    // The handle is closed first: Linux refuses to start a file that is open for writing (ETXTBSY).
    file.into_temp_path().persist(path).map_err(|error| error.error)
}

impl WholeFile {
    /// Creates an unnamed file that gets the path `path` when the file is finished. The folder of
    /// `path` must exist. An existing file at `path`, or the target of a link at `path`, must be
    /// writable, and is replaced when the new file is finished. The new file gets the mode of the
    /// existing file.
    ///
    /// # Errors
    ///
    /// Returns the system's error, or an error with a hint if `path` is a folder, a pipe or a
    /// device.
    pub fn create(path: impl Into<PathBuf>) -> io::Result<WholeFile> {
        let whole = WholeFile::with_mode(path.into(), 0o666)?;
        if let Ok(existing) = whole.path.metadata() {
            whole.file().set_permissions(existing.permissions())?;
        }
        Ok(whole)
    }

    /// Creates an unnamed file as [`WholeFile::create`] does, but only the owner can read and write
    /// the file.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`WholeFile::create`].
    pub fn create_private(path: impl Into<PathBuf>) -> io::Result<WholeFile> {
        WholeFile::with_mode(path.into(), 0o600)
    }

    fn with_mode(mut path: PathBuf, mode: u32) -> io::Result<WholeFile> {
        // Links are followed, as in a shell, because a rename would replace the link.
        if let Ok(existing) = path.canonicalize() {
            regular(File::options().read(true).custom_flags(libc::O_PATH).open(&existing)?)?;
            // A rename replaces even read-only files, so write permission is checked here.
            access(&existing, Access::WRITE_OK)?;
            path = existing;
        }
        let folder = folder_of(&path);
        let mut options = File::options();
        let unnamed = options.write(true).mode(mode).custom_flags(libc::O_TMPFILE).open(folder);
        let part = match unnamed {
            Ok(file) => Part::Unnamed(file),
            Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
                Part::Named(NamedTempFile::new_in(folder).map_err(without_name)?)
            }
            Err(error) => return Err(error),
        };
        Ok(WholeFile { path, part })
    }

    /// Syncs the file to disk, and then moves the file to its path; replaces an existing file.
    ///
    /// # Errors
    ///
    /// Returns the system's error; an existing file stays unchanged.
    pub fn finish(self) -> io::Result<()> {
        self.place(true)
    }

    /// Appends `text`, syncs the file to disk, and then moves the file to its path. Fails if a file
    /// exists at the path.
    ///
    /// # Errors
    ///
    /// Returns the system's error; [`io::ErrorKind::AlreadyExists`] if a file or a link exists at
    /// the path.
    pub fn finish_new(mut self, text: &str) -> io::Result<()> {
        self.write_all(text.as_bytes())?;
        self.place(false)
    }

    fn place(self, replaces: bool) -> io::Result<()> {
        // The bytes are on disk before the file gets its name, so a power failure leaves either the
        // old file or the complete new file.
        self.file().sync_all()?;
        let path = self.path;
        let file = match self.part {
            Part::Named(file) => {
                let named =
                    if replaces { file.persist(path) } else { file.persist_noclobber(path) };
                return named.map(drop).map_err(|error| error.error);
            }
            Part::Unnamed(file) => file,
        };
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        let link = |name: &Path| linkat(CWD, &open, CWD, name, AtFlags::SYMLINK_FOLLOW);
        if !replaces {
            return Ok(link(&path)?);
        }
        // `linkat` cannot replace a file. Therefore the file gets a temporary name, and the rename
        // replaces the old file atomically.
        let beside = folder_of(&path).join(format!(".arbiter-{}", std::process::id()));
        link(&beside)?;
        rename(&beside, &path).inspect_err(|_| drop(remove_file(&beside)))
    }

    fn file(&self) -> &File {
        match &self.part {
            Part::Unnamed(file) => file,
            Part::Named(file) => file.as_file(),
        }
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_do_not_contain_names_of_temporary_files() {
        let error = NamedTempFile::new_in("/nonexistent").unwrap_err();
        assert!(error.to_string().contains(".tmp"));
        assert!(!without_name(error).to_string().contains("tmp"));
    }

    #[test]
    fn a_file_appears_complete_or_not_at_all() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let names = || dir.path().read_dir().unwrap().count();
        let mut killed = WholeFile::create(&path).unwrap();
        killed.write_all(b"part").unwrap();
        // The destructor does not run, so the file is in the state that a killed process leaves
        // behind.
        std::mem::forget(killed);
        assert_eq!(names(), 0);
        for text in ["first", "second"] {
            let mut file = WholeFile::create(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.finish().unwrap();
            assert_eq!((std::fs::read_to_string(&path).unwrap().as_str(), names()), (text, 1));
        }
        std::fs::set_permissions(&path, Permissions::from_mode(0o604)).unwrap();
        std::os::unix::fs::symlink("file", dir.path().join("name")).unwrap();
        let mut file = WholeFile::create(dir.path().join("name")).unwrap();
        file.write_all(b"third").unwrap();
        file.finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "third");
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o604);
        std::fs::remove_file(dir.path().join("name")).unwrap();
        let secret = dir.path().join("secret");
        let write = |text: &str| WholeFile::create_private(&secret)?.finish_new(text);
        write("first").unwrap();
        assert_eq!(secret.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(write("second").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!((std::fs::read_to_string(&secret).unwrap().as_str(), names()), ("first", 2));
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        let linked = WholeFile::create(dir.path().join("link")).unwrap();
        assert_eq!(linked.finish_new("").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(WholeFile::create(dir.path()).unwrap_err().to_string().contains("folder"));
        assert!(WholeFile::create("/dev/null").unwrap_err().to_string().contains("device"));
    }
}
