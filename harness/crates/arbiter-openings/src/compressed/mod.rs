//! Compressed files read as if they were not compressed.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod frames;

use std::io::{self, Cursor, ErrorKind, Read};

use flate2::read::MultiGzDecoder;

use frames::{Frames, is_zstd};

/// Whether a file that begins with these bytes is a zip archive.
pub(crate) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// The contents of `source`, which is gzip, Zstandard or neither. Its first bytes decide, not a
/// name. A zip archive is an error: it holds files, and may do so without compressing them.
pub fn decompressed<'a>(
    mut source: impl Read + Send + 'a,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut magic = Vec::new();
    (&mut source).take(4).read_to_end(&mut magic)?;
    if is_zip(&magic) {
        let reason = "it is a zip archive; unpack it, and name a file of it";
        return Err(io::Error::new(ErrorKind::InvalidData, reason));
    }
    let is_gzip = magic.starts_with(b"\x1f\x8b");
    let is_zstd = is_zstd(&magic);
    let source = Cursor::new(magic).chain(source);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(source)),
        (_, true) => Box::new(Frames::new(source)),
        _ => Box::new(source),
    })
}
