//! The lists in a file: decompression, archive members, detection of the format.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{ZipArchive, result::ZipError};

use super::error::OpeningError;
use super::{Collector, epd, pgn, polyglot};
use crate::compressed::{decompressed, is_zip};
use arbiter_process::open_input;

/// Most bytes of a text that is read as a whole, unpacked.
const MAX_UNPACKED: u64 = 1 << 28;

/// How much of a text of unknown kind is looked at.
const SNIFFED_BYTES: u64 = 4096;

/// Reads a list of one of the formats that a book may consist of.
type ListReader = fn(&str, &mut dyn Read, &mut Collector) -> Result<(), OpeningError>;

/// Reads the file at `path`, called `name` in errors.
pub(super) fn read_file(path: &Path, name: &str, book: &mut Collector) -> Result<(), OpeningError> {
    let cannot_open = |reason: io::Error| {
        OpeningError::new(name, format_args!("cannot open the opening book: {reason}"))
    };
    let mut file = open_input(path).map_err(cannot_open)?;
    let mut magic = Vec::new();
    (&mut file).take(4).read_to_end(&mut magic).map_err(cannot_open)?;
    file.seek(SeekFrom::Start(0)).map_err(cannot_open)?;
    if is_zip(&magic) {
        read_archive(name, file, book)
    } else {
        read_text(name, &mut decompressed(file).map_err(cannot_open)?, book)
    }
}

/// The text of a file that may be packed: gzip, Zstandard, or a zip archive with one file.
///
/// # Errors
///
/// Those of [`open_input`], for what cannot be unpacked, and for more than 256 MiB.
pub fn read_packed(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open_input(path)?;
    let mut magic = Vec::new();
    (&mut file).take(4).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    if !is_zip(&magic) {
        return read_bounded(decompressed(file)?);
    }
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(io::Error::other)?;
    if archive.len() != 1 {
        let reason =
            format!("it is a zip archive of {} files; unpack it, and name one", archive.len());
        return Err(io::Error::new(ErrorKind::InvalidData, reason));
    }
    let member = archive.by_index(0).map_err(io::Error::other)?;
    read_bounded(decompressed(member)?)
}

fn read_bounded(source: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(MAX_UNPACKED + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_UNPACKED {
        let reason = format!("it has more than {MAX_UNPACKED} bytes, which is too much");
        return Err(io::Error::new(ErrorKind::FileTooLarge, reason));
    }
    Ok(bytes)
}

/// Reads a list of unknown kind; `name` is the path with which errors are reported.
pub(super) fn read_text(
    name: &str,
    text: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    if let Some(read) = reader_by_extension(name) {
        return read(name, text, book);
    }
    let mut head = Vec::new();
    let sniffed = (&mut *text).take(SNIFFED_BYTES).read_to_end(&mut head);
    sniffed.map_err(|reason| OpeningError::unreadable(name, 1, reason))?;
    let read = if looks_like_pgn(&head) { pgn::read } else { epd::read };
    read(name, &mut Cursor::new(head).chain(text), book)
}

fn read_archive(name: &str, file: File, book: &mut Collector) -> Result<(), OpeningError> {
    let damaged = |reason: ZipError| {
        OpeningError::new(name, format_args!("expected a readable zip archive: {reason}"))
    };
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(damaged)?;
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index(index).map_err(damaged)?;
        if member.is_file() {
            members.push((index, member.name().map_err(damaged)?.into_owned()));
        }
    }
    // Archives of books carry licences and notes beside the lists.
    let is_list = |(_, member): &(usize, String)| reader_by_extension(member).is_some();
    if members.iter().any(is_list) {
        members.retain(is_list);
    }
    for (index, member) in members {
        let packed = archive.by_index(index).map_err(damaged)?;
        let member = format!("{name}/{member}");
        let cannot_read = |reason: io::Error| OpeningError::unreadable(&member, 1, reason);
        read_text(&member, &mut decompressed(packed).map_err(cannot_read)?, book)?;
    }
    Ok(())
}

fn reader_by_extension(name: &str) -> Option<ListReader> {
    let name = name.to_ascii_lowercase();
    let unpacked = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed));
    let name = unpacked.unwrap_or(&name);
    match Path::new(name).extension()?.to_str()? {
        "epd" | "fen" => Some(epd::read),
        "pgn" => Some(pgn::read),
        "bin" => Some(polyglot::read),
        _ => None,
    }
}

/// Games begin with a tag, a move number or a comment; positions with pieces.
fn looks_like_pgn(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let mut lines = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !matches!(line.first(), None | Some(b'#' | b'%')));
    let is_of_game = |line: &[u8]| matches!(line[0], b'[' | b'{' | b';') || line.starts_with(b"1.");
    lines.next().is_some_and(is_of_game)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_extension() {
        let is_read_by = |name: &str, reader: ListReader| {
            reader_by_extension(name).is_some_and(|found| std::ptr::fn_addr_eq(found, reader))
        };
        for name in ["a.epd", "A.EPD", "dir.pgn/a.fen", "a.epd.gz", "a.epd.zst", "z.zip/b.Fen"] {
            assert!(is_read_by(name, epd::read), "{name}");
        }
        for name in ["a.pgn", "a.PGN.GZ", "epd.pgn"] {
            assert!(is_read_by(name, pgn::read), "{name}");
        }
        for name in ["a.txt", "a", "epd", ".epd", "a.gz", "LICENSE"] {
            assert!(reader_by_extension(name).is_none(), "{name}");
        }
    }

    #[test]
    fn kinds_are_told_by_content() {
        for text in ["[Event \"?\"]", "\u{feff}\r\n[Event \"?\"]", "1. e4 e5", "% x\n{c} 1. e4"] {
            assert!(looks_like_pgn(text.as_bytes()), "{text}");
        }
        for text in ["", "# [x]\n8/8/8/8/8/8/8/8 w - -", "1k6/8/8/8/8/8/8/K7 w - -", "\u{feff}8/8"]
        {
            assert!(!looks_like_pgn(text.as_bytes()), "{text}");
        }
    }
}
