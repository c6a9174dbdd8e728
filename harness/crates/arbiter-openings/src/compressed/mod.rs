//! Reader of compressed files that returns the uncompressed contents.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod frames;

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};

use flate2::bufread::GzDecoder;

use frames::{Frames, is_zstd};

/// Returns whether a file that starts with these bytes is a zip archive.
pub(crate) fn is_zip(start: &[u8]) -> bool {
    start.starts_with(b"PK\x03\x04") || start.starts_with(b"PK\x05\x06")
}

/// Number of bytes at the start of a file that are examined to detect the format. The first block
/// of a tar archive has this size and contains the magic bytes at offset 257.
const HEAD_BYTES: u64 = 512;

/// First bytes of files that are not usable as text, each with advice for the user.
const FOREIGN: [(&[u8], &str); 14] = [
    (b"PK\x03\x04", "a zip archive; unpack it, and name a file of it"),
    (b"PK\x05\x06", "a zip archive; unpack it, and name a file of it"),
    (b"\xfd7zXZ\0", "compressed with xz; unpack it first"),
    (b"\x5d\0\0", "compressed with lzma; unpack it first"),
    (b"BZh", "compressed with bzip2; unpack it first"),
    (b"LZIP", "compressed with lzip; unpack it first"),
    (b"\x04\x22\x4d\x18", "compressed with lz4; unpack it first"),
    (b"\x1f\x9d", "compressed with compress; unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it, and name a file of it"),
    (b"Rar!\x1a\x07", "a rar archive; unpack it, and name a file of it"),
    (b"version https://git-lfs", "a pointer of Git LFS, not the file; fetch it with: git lfs pull"),
    (b"/annex/objects/", "a pointer of git-annex, not the file; fetch it with: git annex get"),
    (b"<!doctype", "a web page, not the file itself; download the file"),
    (b"<html", "a web page, not the file itself; download the file"),
];

/// Returns a description of a file whose first bytes show that the file is neither text nor gzip
/// nor Zstandard; `None` for other files.
fn foreign(head: &[u8]) -> Option<&'static str> {
    let is_tar = head.get(257..262) == Some(b"ustar");
    // Web pages and Git LFS pointers may start with a byte order mark or spaces, and may contain
    // capital letters.
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let text = text.trim_ascii_start().to_ascii_lowercase();
    let begins = |magic: &[u8]| head.starts_with(magic) || text.starts_with(magic);
    let found = FOREIGN.iter().find(|(magic, _)| begins(magic)).map(|(_, what)| *what);
    found.or(is_tar.then_some("a tar archive; unpack it, and name a file of it"))
}

fn is_gzip(start: &[u8]) -> bool {
    start.starts_with(b"\x1f\x8b")
}

/// Reads the first bytes of a file. Fails if these bytes show that the file is neither text nor
/// gzip nor Zstandard.
fn read_head(source: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    match source.take(HEAD_BYTES).read_to_end(&mut head) {
        // The reader of the text meets the end of a truncated file again, and reports it there.
        Err(error) if error.kind() != ErrorKind::UnexpectedEof => return Err(error),
        _ => {}
    }
    match foreign(&head) {
        Some(what) => Err(io::Error::new(ErrorKind::InvalidData, format!("it is {what}"))),
        None => Ok(head),
    }
}

/// Returns a reader of the uncompressed contents of `source`. The source may be gzip, Zstandard or
/// uncompressed. The first bytes determine the format; the file name is not used.
///
/// # Errors
///
/// Fails for other compression formats, archives (even if compressed with gzip or Zstandard), web
/// pages, and pointer files of Git LFS and git-annex.
pub fn decompressed<'a>(
    mut source: impl Read + Send + 'a,
) -> io::Result<Box<dyn Read + Send + 'a>> {
    let head = read_head(&mut source)?;
    let has_gzip = is_gzip(&head);
    let has_zstd = is_zstd(&head);
    // The examined bytes are part of the file, so the reader must receive these bytes again.
    let source = Cursor::new(head).chain(source);
    let decoder: Box<dyn Read + Send + 'a> = if has_gzip {
        Box::new(GzipMembers(Some(GzDecoder::new(BufReader::new(source)))))
    } else if has_zstd {
        Box::new(Frames::new(source))
    } else {
        return Ok(Box::new(source));
    };
    let mut contents = Decompressor { source: decoder, is_truncated: false };
    let head = read_head(&mut contents)?;
    if is_gzip(&head) || is_zstd(&head) {
        let reason = "it is compressed twice; unpack it once";
        return Err(io::Error::new(ErrorKind::InvalidData, reason));
    }
    Ok(Box::new(Cursor::new(head).chain(contents)))
}

/// Reader of the members of a gzip file. Parallel compressors write several members. The reader
/// contains the decoder of the current member; `None` after the last member.
struct GzipMembers<R>(Option<GzDecoder<BufReader<R>>>);

impl<R: Read> Read for GzipMembers<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(member) = &mut self.0 {
            let count = member.read(buffer)?;
            if count > 0 || buffer.is_empty() {
                return Ok(count);
            }
            let Some(mut rest) = self.0.take().map(GzDecoder::into_inner) else { break };
            match rest.fill_buf()?.first() {
                Some(0x1f) => self.0 = Some(GzDecoder::new(rest)),
                _ => check_padding(rest)?,
            }
        }
        Ok(0)
    }
}

/// Checks that only zeros and line endings follow compressed data. Tapes and archives pad files
/// with zeros.
fn check_padding(mut rest: impl BufRead) -> io::Result<()> {
    loop {
        let padding = rest.fill_buf()?;
        if padding.iter().any(|byte| !b"\0\r\n".contains(byte)) {
            return Err(other_data());
        }
        let length = padding.len();
        if length == 0 {
            return Ok(());
        }
        rest.consume(length);
    }
}

fn other_data() -> io::Error {
    let reason = "other data follows the compressed data; unpack the file first";
    io::Error::new(ErrorKind::InvalidData, reason)
}

/// Reader of compressed data that reports truncated data with a message for the user.
struct Decompressor<R> {
    source: R,
    /// `true` if the end of the data is missing. Not all decoders report the missing end a second
    /// time.
    is_truncated: bool,
}

impl<R: Read> Read for Decompressor<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if !self.is_truncated {
            let result = self.source.read(buffer);
            self.is_truncated =
                result.as_ref().is_err_and(|error| error.kind() == ErrorKind::UnexpectedEof);
            if !self.is_truncated {
                return result;
            }
        }
        let reason = "the compressed file is cut short; copy or download it again";
        Err(io::Error::new(ErrorKind::UnexpectedEof, reason))
    }
}
