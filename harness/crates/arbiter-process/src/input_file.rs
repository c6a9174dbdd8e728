//! Regular files, and input files that users specify: regular files of limited size.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::output_file::FilesInUse;

/// Maximum size, in bytes, of a file that is read into memory. Without the limit, a wrong file name
/// could fill the memory.
const MAX_WHOLE: u64 = 1 << 28;

/// Maximum size, in bytes, of a settings or build file. The parser of such a file uses many times
/// the size of the file.
pub const MAX_SETTINGS: u64 = 1 << 20;

/// Opens a file for reading.
///
/// # Errors
///
/// Returns the system's error. Returns an error with a hint if the file is the redirected output of
/// this command, or if the path is `-` or not a regular file: a pipe or a device may block forever
/// or never end.
pub fn open_input(path: &Path) -> io::Result<File> {
    let in_use = FilesInUse::default().reads("an input", path);
    in_use.map_err(|conflict| io::Error::new(ErrorKind::InvalidInput, conflict))?;
    open_regular(path, File::options().read(true), 0)
}

/// Reads a file of at most 256 MiB.
///
/// # Errors
///
/// Returns the errors of [`open_input`], and an error for a larger file.
pub fn read_input(path: &Path) -> io::Result<Vec<u8>> {
    read_bounded(open_input(path)?)
}

/// Reads all bytes of a source of at most 256 MiB.
///
/// # Errors
///
/// Returns the errors of the source, and an error for a larger source.
pub fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    read_within(source, MAX_WHOLE)
}

/// Reads all bytes of a settings or build file of at most 1 MiB.
///
/// # Errors
///
/// Returns the errors of [`open_input`], and an error for a larger file.
pub fn read_settings(path: &Path) -> io::Result<Vec<u8>> {
    read_within(open_input(path)?, MAX_SETTINGS)
}

fn read_within(source: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Reading one byte beyond the limit detects an oversized file, even if the file grows during
    // the read.
    source.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let reason = format!("it exceeds the limit of {limit} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// Reads a text file of at most 256 MiB.
///
/// # Errors
///
/// Returns the errors of [`read_input`], and an error for a file that is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    utf8(read_input(path)?)
}

/// Converts the bytes of a file to text.
///
/// # Errors
///
/// Returns an error if the bytes are not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let byte = error.utf8_error().valid_up_to() + 1;
        let reason = format!("byte {byte} is not UTF-8; save the text as UTF-8");
        io::Error::new(ErrorKind::InvalidData, reason)
    })
}

/// Opens a regular file with `options` and the additional `flags`, without waiting for pipes. For
/// other kinds of files, the error contains a hint.
pub(crate) fn open_regular(path: &Path, options: &mut OpenOptions, flags: i32) -> io::Result<File> {
    // The kind is checked first, with `O_PATH`, because the errors of opening a pipe or a folder do
    // not name the kind.
    if let Ok(file) = File::options().read(true).custom_flags(libc::O_PATH | flags).open(path) {
        regular(file)?;
    }
    // The path may lead to another file now, so the open file is checked too. `O_NONBLOCK` avoids
    // waiting for a pipe; `O_NOCTTY` prevents a terminal from becoming the controlling terminal.
    regular(options.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY | flags).open(path)?)
}

/// Returns the file if it is a regular file; otherwise returns an error with a hint.
pub(crate) fn regular(file: File) -> io::Result<File> {
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        return Ok(file);
    }
    let reason = if kind.is_dir() {
        "it is a folder; name a file"
    } else if kind.is_symlink() {
        "it is a symbolic link; remove it"
    } else {
        "it is a pipe or a device; name a regular file"
    };
    Err(io::Error::new(ErrorKind::InvalidInput, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_size_limit_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        std::fs::write(&path, "text").unwrap();
        assert_eq!(read_text(&path).unwrap(), "text");
        let resize = |size| File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
        resize(MAX_SETTINGS + 1);
        assert!(read_settings(&path).unwrap_err().to_string().contains("bytes"));
        assert!(read_text(&path).is_ok());
        resize(MAX_WHOLE + 1);
        assert!(read_text(&path).unwrap_err().to_string().contains("bytes"));
        let pipe = dir.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        for (path, word) in
            [(&*pipe, "pipe"), (Path::new("/dev/zero"), "device"), (dir.path(), "folder")]
        {
            assert!(read_text(path).unwrap_err().to_string().contains(word), "{}", path.display());
        }
        let socket = dir.path().join("socket");
        std::os::unix::net::UnixListener::bind(&socket).unwrap();
        assert!(read_text(&socket).unwrap_err().to_string().contains("it is a pipe or a device"));
        for (bytes, byte) in [(&b"\xff\xfea\0"[..], 1), (b"caf\xe9", 4)] {
            std::fs::write(&path, bytes).unwrap();
            let expect = format!("byte {byte} is not UTF-8; save the text as UTF-8");
            assert_eq!(read_text(&path).unwrap_err().to_string(), expect);
        }
        let standard = open_input(Path::new("-")).unwrap_err().to_string();
        assert_eq!(standard, "'-' is not standard input here; give the path of a file");
        assert_eq!(open_input(&dir.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
    }
}
