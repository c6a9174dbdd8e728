//! Output files of a command: never one that the same command has in use for something else.

use std::fmt::Display;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, stderr, stdout};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs;

use super::input_file::open_regular;

/// Largest number of files that are saved in one folder. Then the next folder is tried.
const MAX_SAVED: u32 = 1000;

/// Identity of a file, whatever names and links lead to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileId {
    device: u64,
    /// Inode of the file, or of the nearest folder above as long as there is no such file.
    inode: u64,
    /// Path from that folder on.
    missing: PathBuf,
}

impl From<&Metadata> for FileId {
    fn from(about: &Metadata) -> FileId {
        FileId { device: about.dev(), inode: about.ino(), missing: PathBuf::new() }
    }
}

impl FileId {
    /// Returns the identity of the file at `path`, which may not exist yet.
    ///
    /// # Errors
    ///
    /// The error of the system if the path is not accessible or does not end in a name.
    pub fn of(path: &Path) -> io::Result<FileId> {
        match path.metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // A link may lead to where a file will be made. Links in a circle are another
                // error.
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

/// Returns the folder of a file.
pub fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Returns new files for data that could not be written to `path`, each to be tried after the ones
/// before: beside it, in the folders above, and in that of temporary files.
pub fn places_near(path: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    // A relative path has no folders above it to try.
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let ending = path.extension().unwrap_or_default().to_owned();
    let folders: Vec<PathBuf> = folder_of(&path).ancestors().map(Path::to_owned).collect();
    folders.into_iter().chain([std::env::temp_dir()]).filter_map(move |folder| {
        let named = |number| folder.join(format!("{stem}-saved-{number}")).with_extension(&ending);
        (1..=MAX_SAVED).map(named).find(|place| !place.exists())
    })
}

/// Returns whether this user may write to a file or folder, or create it in its folder.
pub fn may_write(path: &Path) -> bool {
    let place = if path.exists() { path } else { folder_of(path) };
    fs::access(place, fs::Access::WRITE_OK).is_ok()
}

/// Returns whether an open file is the one that the path leads to.
pub fn is_at(file: &File, path: &Path) -> bool {
    let open = file.metadata().ok().map(|about| FileId::from(&about));
    open.is_some() && open == FileId::of(path).ok()
}

/// The files that a command has in use, each with the description of its use.
#[derive(Debug)]
pub struct FilesInUse(Vec<(FileId, String, Access)>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Written,
}

impl Default for FilesInUse {
    /// Starts with the files to which the shell has redirected the command's output.
    fn default() -> FilesInUse {
        let mut files = FilesInUse(Vec::new());
        for stream in [stdout().as_fd(), stderr().as_fd()] {
            // The descriptor is copied, because a `File` closes its descriptor when it is dropped.
            let about = stream.try_clone_to_owned().and_then(|copy| File::from(copy).metadata());
            if let Ok(about) = about
                && about.is_file()
            {
                let words = "the redirected output of this command".to_owned();
                files.0.push((FileId::from(&about), words, Access::Written));
            }
        }
        files
    }
}

impl FilesInUse {
    /// Adds a file that the command reads, or that is not the command's to write.
    ///
    /// # Errors
    ///
    /// A sentence that explains the conflict if the command writes the file.
    pub fn reads(&mut self, words: impl Display, path: &Path) -> Result<(), String> {
        self.add(words.to_string(), path, Access::Read)
    }

    /// Adds a file that the command is going to write. Uses with the same description may share a
    /// file.
    ///
    /// # Errors
    ///
    /// A sentence that explains the conflict if the file is in use for something else.
    pub fn writes(&mut self, words: impl Display, path: &Path) -> Result<(), String> {
        self.add(words.to_string(), path, Access::Written)
    }

    fn add(&mut self, words: String, path: &Path, access: Access) -> Result<(), String> {
        if path.file_name().is_some_and(|name| name == "-") {
            let stream = if access == Access::Read { "input" } else { "output" };
            return Err(format!("'-' is not standard {stream} here; give the path of a file"));
        }
        // If the file cannot be reached, the attempt to open it gives a better error.
        let Ok(id) = FileId::of(path) else { return Ok(()) };
        let conflict = self.0.iter().find(|(other, its, its_access)| {
            *other == id && *its != words && [access, *its_access].contains(&Access::Written)
        });
        if let Some((_, other, _)) = conflict {
            let path = path.display();
            return Err(format!("{path} is both {other} and {words}; give two different files"));
        }
        self.0.push((id, words, access));
        Ok(())
    }
}

/// Treatment of a path whose last part is a symbolic link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// The file that the link leads to is opened, as for paths of the user.
    Followed,
    /// The link is an error, as for our own names in a folder where others may write.
    Refused,
}

/// Opens a file with `options`, and creates the file if there is none. Truncates nothing, and does
/// not wait for pipes.
///
/// # Errors
///
/// The error of the system, or one that tells the user what to name instead if the path leads to no
/// regular file.
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
