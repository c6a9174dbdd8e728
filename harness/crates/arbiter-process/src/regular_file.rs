//! Functions that open only regular files.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

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
