//! The lists in a file: decompression, archive members, detection of the format.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{ZipArchive, result::ZipError};

use super::error::OpeningError;
use super::{Collector, epd, pgn, polyglot};
use crate::compressed::decompressed;

/// How much of a text of unknown kind is looked at.
const SNIFFED_BYTES: u64 = 4096;

/// The kinds of list a book may consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Positions,
    Games,
    Polyglot,
}

/// Reads the file at `path`, called `name` in errors.
pub(super) fn read_file(path: &Path, name: &str, book: &mut Collector) -> Result<(), OpeningError> {
    let cannot_open = |reason: io::Error| {
        OpeningError::new(name, format_args!("cannot open the opening book: {reason}"))
    };
    let mut file = File::open(path).map_err(cannot_open)?;
    let mut magic = Vec::new();
    (&mut file).take(4).read_to_end(&mut magic).map_err(cannot_open)?;
    file.seek(SeekFrom::Start(0)).map_err(cannot_open)?;
    if magic.starts_with(b"PK\x03\x04") || magic.starts_with(b"PK\x05\x06") {
        read_archive(name, file, book)
    } else {
        read_text(name, &mut decompressed(file).map_err(cannot_open)?, book)
    }
}

/// Reads a list of unknown kind; `name` is the path with which errors are reported.
pub(super) fn read_text(
    name: &str,
    text: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    if let Some(kind) = kind_by_extension(name) {
        return read_list(kind, name, text, book);
    }
    let mut head = Vec::new();
    let sniffed = (&mut *text).take(SNIFFED_BYTES).read_to_end(&mut head);
    sniffed.map_err(|reason| OpeningError::unreadable(name, 1, reason))?;
    let kind = kind_by_content(&head);
    read_list(kind, name, &mut Cursor::new(head).chain(text), book)
}

fn read_list(
    kind: Kind,
    name: &str,
    text: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), OpeningError> {
    match kind {
        Kind::Positions => epd::read(name, text, book),
        Kind::Games => pgn::read(name, text, book),
        Kind::Polyglot => polyglot::read(name, text, book),
    }
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
    if members.iter().any(|(_, member)| kind_by_extension(member).is_some()) {
        members.retain(|(_, member)| kind_by_extension(member).is_some());
    }
    for (index, member) in members {
        let packed = archive.by_index(index).map_err(damaged)?;
        let member = format!("{name}/{member}");
        let cannot_read = |reason: io::Error| OpeningError::unreadable(&member, 1, reason);
        read_text(&member, &mut decompressed(packed).map_err(cannot_read)?, book)?;
    }
    Ok(())
}

fn kind_by_extension(name: &str) -> Option<Kind> {
    let name = name.to_ascii_lowercase();
    let unpacked = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed));
    let name = unpacked.unwrap_or(&name);
    match Path::new(name).extension()?.to_str()? {
        "epd" | "fen" => Some(Kind::Positions),
        "pgn" => Some(Kind::Games),
        "bin" => Some(Kind::Polyglot),
        _ => None,
    }
}

/// Games begin with a tag, a move number or a comment; positions with pieces.
fn kind_by_content(head: &[u8]) -> Kind {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let first = head
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::trim_ascii)
        .find(|line| !line.is_empty() && !matches!(line[0], b'#' | b'%'));
    match first {
        Some(line) if matches!(line[0], b'[' | b'{' | b';') || line.starts_with(b"1.") => {
            Kind::Games
        }
        _ => Kind::Positions,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_extension() {
        for name in ["a.epd", "A.EPD", "dir.pgn/a.fen", "a.epd.gz", "a.epd.zst", "z.zip/b.Fen"] {
            assert_eq!(kind_by_extension(name), Some(Kind::Positions), "{name}");
        }
        for name in ["a.pgn", "a.PGN.GZ", "epd.pgn"] {
            assert_eq!(kind_by_extension(name), Some(Kind::Games), "{name}");
        }
        for name in ["a.txt", "a", "epd", ".epd", "a.gz", "LICENSE"] {
            assert_eq!(kind_by_extension(name), None, "{name}");
        }
    }

    #[test]
    fn kinds_are_told_by_content() {
        for text in ["[Event \"?\"]", "\u{feff}\r\n[Event \"?\"]", "1. e4 e5", "% x\n{c} 1. e4"] {
            assert_eq!(kind_by_content(text.as_bytes()), Kind::Games, "{text}");
        }
        for text in ["", "# [x]\n8/8/8/8/8/8/8/8 w - -", "1k6/8/8/8/8/8/8/K7 w - -", "\u{feff}8/8"]
        {
            assert_eq!(kind_by_content(text.as_bytes()), Kind::Positions, "{text}");
        }
    }
}
