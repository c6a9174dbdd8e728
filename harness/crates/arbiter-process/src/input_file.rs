//! Files that users name as input: they have an end, and texts are not larger than what can be held.

use std::fs::File;
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::output_file::FilesInUse;

/// Largest file that is read as a whole, in bytes.
const MAX_WHOLE: u64 = 1 << 28;

/// Opens a file to read it.
///
/// # Errors
///
/// That of the system, or one that says what to name instead if it is no regular file: a pipe or a
/// device may let us wait for ever, or never end; and what is printed here would be read again.
pub fn open_input(path: &Path) -> io::Result<File> {
    let in_use = FilesInUse::default().reads("an input", path);
    in_use.map_err(|conflict| io::Error::new(ErrorKind::InvalidInput, conflict))?;
    // So that a pipe is not waited for; it changes nothing for regular files.
    regular(File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?)
}

/// The file, or an error that says what to name instead if it is none.
pub(crate) fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    let reason = match (kind.is_file(), kind.is_dir()) {
        (true, _) => return Ok(file),
        (false, true) => "it is a folder; name a file",
        (false, false) => "it is a pipe or a device; name a regular file",
    };
    Err(io::Error::new(ErrorKind::InvalidInput, reason))
}

/// Reads a file of at most 256 MiB.
///
/// # Errors
///
/// Those of [`open_input`], and for a larger file.
pub fn read_input(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_input(path)?.take(MAX_WHOLE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_WHOLE {
        let reason = format!("it has more than {MAX_WHOLE} bytes, which is too much");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// Reads a text of at most 256 MiB.
///
/// # Errors
///
/// Those of [`read_input`], and for what is no UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_input(path)?);
    text.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_that_can_be_held_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "text").unwrap();
        assert_eq!(read_text(&path).unwrap(), "text");
        File::options().write(true).open(&path).unwrap().set_len(MAX_WHOLE + 1).unwrap();
        assert!(read_text(&path).unwrap_err().to_string().contains("bytes"));
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for (path, word) in
            [(&*pipe, "pipe"), (Path::new("/dev/zero"), "device"), (dir.path(), "folder")]
        {
            assert!(read_text(path).unwrap_err().to_string().contains(word), "{}", path.display());
        }
        assert_eq!(open_input(&dir.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
