//! Compressed files read as if they were not compressed.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod frames;

use std::io::{self, Cursor, Read};

use flate2::read::MultiGzDecoder;

use frames::{Frames, is_zstd};

/// The contents of `source`, which is gzip, Zstandard or neither. Its first bytes decide, not a
/// name.
pub fn decompressed<'a>(
    mut source: impl Read + Send + 'a,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let mut magic = Vec::new();
    (&mut source).take(4).read_to_end(&mut magic)?;
    let is_gzip = magic.starts_with(b"\x1f\x8b");
    let is_zstd = is_zstd(&magic);
    let source = Cursor::new(magic).chain(source);
    Ok(match (is_gzip, is_zstd) {
        (true, _) => Box::new(MultiGzDecoder::new(source)),
        (_, true) => Box::new(Frames::new(source)),
        _ => Box::new(source),
    })
}
