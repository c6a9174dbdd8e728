//! Output files of a command, with a check that no file has two conflicting uses.

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, stderr, stdout};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs;

use super::input_file::open_regular;

/// Maximum number of names that are tried in a folder before the next folder is tried.
const MAX_SAVED: u32 = 1000;

/// Identity of a file, regardless of names and links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    /// Inode of the file or, if the file does not exist, of the nearest existing parent folder.
    inode: u64,
    /// Path of the file relative to the folder in `inode`; empty if the file exists.
    missing: PathBuf,
}

impl From<&Metadata> for FileId {
    fn from(about: &Metadata) -> FileId {
        FileId { device: about.dev(), inode: about.ino(), missing: PathBuf::new() }
    }
}

impl FileId {
    /// Returns the identity of the file at `path`; the file need not exist.
    ///
    /// # Errors
    ///
    /// Returns the system's error if the path is not accessible or does not end with a name.
    pub fn of(path: &Path) -> io::Result<FileId> {
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A link may point to a file that will be created. Circular links lead to a
                // different error.
                if let Ok(target) = path.read_link() {
                    return FileId::of(&folder_of(path).join(target));
                }
                let folder = FileId::of(folder_of(path))?;
                Ok(FileId {
                    missing: folder.missing.join(path.file_name().ok_or(error)?),
                    ..folder
                })
            }
            about => about.map(|about| FileId::from(&about)),
        }
    }
}

/// Returns the folder of a file; `.` if the path contains no folder.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns new paths for data that could not be written to `path`, in the order in which the paths
/// should be tried: in the folder of `path`, in the parent folders, and in the folder of temporary
/// files.
pub fn places_near(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    // Only an absolute path has all parent folders.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = path.extension().unwrap_or_default().to_owned();
    let folders: Vec<PathBuf> = folder_of(&path).ancestors().map(Path::to_owned).collect();
    folders.into_iter().chain([std::env::temp_dir()]).filter_map(move |folder| {
        let named = |number| folder.join(format!("{stem}-saved-{number}")).with_extension(&ending);
        (1..=MAX_SAVED).map(named).find(|place| !place.exists())
    })
}

/// Returns whether the user may write to the file or folder at `path`; if `path` does not exist,
/// returns whether the user may create `path`.
pub fn may_write(path: &Path) -> bool {
    let place = if path.exists() { path } else { folder_of(path) };
    fs::access(place, fs::Access::WRITE_OK).is_ok()
}

/// Returns whether `path` leads to the open file `file`.
pub fn is_at(file: &File, path: &Path) -> bool {
    let open = file.metadata().ok().map(|about| FileId::from(&about));
    open.is_some() && open == FileId::of(path).ok()
}

/// Files that a command uses, each with a description of the use.
#[derive(Debug)]
pub struct FilesInUse(Vec<(FileId, String, Access)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Written,
}

impl Default for FilesInUse {
    /// Creates a list of the files to which the output of the command is redirected.
    fn default() -> FilesInUse {
        let mut files = FilesInUse(Vec::new());
        for stream in [stdout().as_fd(), stderr().as_fd()] {
            // The descriptor is copied, because dropping a `File` closes the descriptor.
            let about = stream.try_clone_to_owned().and_then(|copy| File::from(copy).metadata());
            if let Ok(about) = about
                && about.is_file()
            {
                let usage = "the redirected output of this command".to_owned();
                files.0.push((FileId::from(&about), usage, Access::Written));
            }
        }
        files
    }
}

impl FilesInUse {
    /// Adds a file that the command reads, or that the command must not write.
    ///
    /// # Errors
    ///
    /// Returns a description of the conflict if the command also writes the file.
    pub fn reads(&mut self, usage: impl Display, path: &Path) -> Result<(), String> {
        self.add(usage.to_string(), path, Access::Read)
    }

    /// Adds a file that the command will write. Uses with equal descriptions may share a file.
    ///
    /// # Errors
    ///
    /// Returns a description of the conflict if the file has another use.
    pub fn writes(&mut self, usage: impl Display, path: &Path) -> Result<(), String> {
        self.add(usage.to_string(), path, Access::Written)
    }

    fn add(&mut self, usage: String, path: &Path, access: Access) -> Result<(), String> {
        if path.file_name().is_some_and(|name| name == "-") {
            let stream = if access == Access::Read { "input" } else { "output" };
            return Err(format!("'-' is not standard {stream} here; give the path of a file"));
        }
        // If the file is not accessible, the later attempt to open the file gives a better error.
        let Ok(id) = FileId::of(path) else { return Ok(()) };
        let conflict = self.0.iter().find(|(other, its, its_access)| {
            *other == id && *its != usage && [access, *its_access].contains(&Access::Written)
        });
        if let Some((_, other, _)) = conflict {
            let path = path.display();
            return Err(format!("{path} is both {other} and {usage}; give two different files"));
        }
        self.0.push((id, usage, access));
        Ok(())
    }
}

/// Returns the error message for a file that cannot be written, with a hint, if any.
pub fn cannot_write(path: &Path, error: &io::Error) -> String {
    let hint = match error.kind() {
        ErrorKind::NotFound if path.is_symlink() => "; create the folder to which this link leads",
        ErrorKind::NotFound => "; create its folder first",
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => "; give a writable path",
        _ => "",
    };
    format!("cannot write {}: {error}{hint}", path.display())
}

/// Checks that the name of a file does not promise compressed contents.
///
/// # Errors
///
/// Returns a message that proposes another name.
pub fn plain_name(path: &Path) -> Result<(), String> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    if !["gz", "zst", "xz", "bz2", "zip", "7z"].map(OsStr::new).contains(&&*ending) {
        return Ok(());
    }
    let (path, plain) = (path.display(), path.with_extension(""));
    Err(format!("{path} is written uncompressed; name it {}", plain.display()))
}

/// Treatment of a path that is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The target of the link is opened, as for paths that the user names.
    Followed,
    /// A link is an error. This treatment is for Arbiter's own files in folders to which other
    /// users may write.
    Refused,
}

/// Opens a file with `options`, creating the file if none exists. Neither truncates the file nor
/// waits for pipes.
///
/// # Errors
///
/// Returns the system's error, or an error with a hint if the path does not lead to a regular file.
pub fn open_output(path: &Path, options: &mut OpenOptions, links: Links) -> io::Result<File> {
    let no_links = if links == Links::Refused { libc::O_NOFOLLOW } else { 0 };
    open_regular(path, options.create(true), no_links)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn file_identity_ignores_the_name_even_before_creation() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("book"), "text").unwrap();
        std::fs::hard_link(at("book"), at("hard")).unwrap();
        symlink("book", at("soft")).unwrap();
        symlink("new", at("dangling")).unwrap();
        symlink("circle", at("circle")).unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        symlink(dir.path(), at("folder/up")).unwrap();
        let mut files = FilesInUse::default();
        files.reads("the book", &at("book")).unwrap();
        files.reads("the suite", &at("book")).unwrap();
        files.writes("the PGN file", &at("new")).unwrap();
        files.writes("the PGN file", &at("new")).unwrap();
        files.writes("the log", &at("other")).unwrap();
        for name in ["book", "hard", "soft", "dangling", "folder/up/book", "folder/../new"] {
            let error = files.writes("the report", &at(name)).unwrap_err();
            assert!(error.ends_with(" and the report; give two different files"), "{error}");
        }
        let error = files.reads("the suite", &at("dangling")).unwrap_err();
        assert!(error.ends_with("is both the PGN file and the suite; give two different files"));
        assert!(FileId::of(&at("circle")).is_err());
        files.writes("the report", &at("no/folder")).unwrap();
        let error = files.writes("the report", &at("-")).unwrap_err();
        assert_eq!(error, "'-' is not standard output here; give the path of a file");
        files.reads("the suite", &at("folder/up/no/folder")).unwrap_err();
    }

    #[test]
    fn names_of_compressed_files_are_rejected_for_text() {
        assert_eq!(plain_name(Path::new("a.gz/b.pgn")), Ok(()));
        let error = plain_name(Path::new("a/b.pgn.GZ")).unwrap_err();
        assert_eq!(error, "a/b.pgn.GZ is written uncompressed; name it a/b.pgn");
    }

    #[test]
    fn only_regular_files_are_opened_and_not_truncated() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink("file", at("link")).unwrap();
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        let fifo = rustix::fs::FileType::Fifo;
        rustix::fs::mknodat(rustix::fs::CWD, at("pipe"), fifo, mode, 0).unwrap();
        let open =
            |name, links| open_output(&at(name), File::options().read(true).write(true), links);
        open("new", Links::Refused).unwrap();
        assert_eq!(open("link", Links::Followed).unwrap().metadata().unwrap().len(), 4);
        std::fs::create_dir(at("folder")).unwrap();
        let refused = |name: &'static str| open(name, Links::Refused).unwrap_err().to_string();
        assert_eq!(refused("link"), "it is a symbolic link; remove it");
        assert_eq!(refused("pipe"), "it is a pipe or a device; name a regular file");
        assert_eq!(refused("folder"), "it is a folder; name a file");
    }
}
