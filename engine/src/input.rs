//! Opening and reading of input files.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Opens an input file. Pipes and devices are rejected, because reading from a pipe or device may
/// block or never end.
pub(crate) fn open(file: &Path) -> io::Result<File> {
    if std::fs::metadata(file)?.is_file() {
        File::open(file)
    } else {
        Err(io::Error::other("it is not a regular file; save its content in one"))
    }
}

/// Reads a whole input file.
pub(crate) fn read(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}
