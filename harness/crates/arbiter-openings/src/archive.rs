//! Reader of book files: decompression, archive members, and detection of the format.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::fs::File;
use std::io::{self, Cursor, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;

use zip::{ZipArchive, result::ZipError};

use super::{Collector, epd, pgn, polyglot, unreadable};
use crate::compressed::{decompressed, is_zip};
use arbiter_position::{PlainText, lines};
use arbiter_process::{open_input, read_bounded};

/// Number of bytes that are examined to detect the format of a list.
const SNIFFED_BYTES: u64 = 4096;

/// Function that reads a list in one format.
type Reader = fn(&str, &mut dyn Read, &mut Collector) -> Result<(), String>;

/// Reads the file at `path`. Error messages show `name` as the path.
pub(super) fn read_file(path: &Path, name: &str, book: &mut Collector) -> Result<(), String> {
    let cannot_open = |reason: io::Error| format!("{name}: cannot open the opening book: {reason}");
    let (file, is_archive) = open(path).map_err(cannot_open)?;
    if is_archive {
        read_archive(name, file, book)
    } else {
        read_text(name, &mut decompressed(file).map_err(cannot_open)?, book)
    }
}

/// Opens a file. Returns the file, and `true` if the file is a zip archive.
fn open(path: &Path) -> io::Result<(File, bool)> {
    let mut file = open_input(path)?;
    let mut magic = Vec::new();
    // The file name is ignored, because downloads are often named after the contents of the
    // archive.
    (&mut file).take(4).read_to_end(&mut magic)?;
    file.seek(SeekFrom::Start(0))?;
    Ok((file, is_zip(&magic)))
}

/// Reads the text of a file, which may be uncompressed, gzip, Zstandard, or a zip archive that
/// contains one file. The returned text has line feeds as line endings, and no byte order mark.
///
/// # Errors
///
/// Fails like [`open_input`]. Also fails if the file cannot be decompressed or is not text, or if
/// the text is longer than 256 MiB.
pub fn read_packed(path: &Path) -> io::Result<Vec<u8>> {
    let (file, is_archive) = open(path)?;
    if !is_archive {
        return read_bounded(PlainText::new(decompressed(file)?));
    }
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(io::Error::other)?;
    let members = members(&mut archive).map_err(io::Error::other)?;
    // Several files may be parts or versions of a suite, so no file is chosen.
    let [(index, _)] = members[..] else {
        let count = members.len();
        let reason = format!("it is a zip archive of {count} files; unpack it and name one");
        return Err(io::Error::new(ErrorKind::InvalidData, reason));
    };
    let member = archive.by_index(index).map_err(io::Error::other)?;
    read_bounded(PlainText::new(decompressed(member)?))
}

/// Returns the index and name of each file in an archive, except files that file managers add.
fn members(archive: &mut ZipArchive<impl Read + Seek>) -> Result<Vec<(usize, String)>, ZipError> {
    let mut members = Vec::new();
    for index in 0..archive.len() {
        let member = archive.by_index(index)?;
        let name = member.name()?.into_owned();
        // macOS adds hidden files, and a folder `__MACOSX` that contains one file for each member.
        let is_added = name.split('/').any(|part| part == "__MACOSX" || part.starts_with('.'));
        if member.is_file() && !is_added {
            members.push((index, name));
        }
    }
    Ok(members)
}

/// Reads a list. The extension of `name` determines the format; for other extensions, the content
/// determines the format. Error messages show `name` as the path.
pub(super) fn read_text(
    name: &str,
    source: &mut dyn Read,
    book: &mut Collector,
) -> Result<(), String> {
    if let Some(read) = reader_by_extension(name) {
        return read(name, source, book);
    }
    let mut source = PlainText::new(source);
    let mut head = Vec::new();
    let sniffed = (&mut source).take(SNIFFED_BYTES).read_to_end(&mut head);
    sniffed.map_err(|reason| unreadable(name, 1, &reason))?;
    // Books of Arena and ChessBase, and databases, have small numbers as bytes.
    if head.starts_with(b"\0") || head.iter().any(|byte| (1..=8).contains(byte)) {
        return Err(format!("{name}: expected EPD, FEN, PGN or Polyglot (.bin), got binary data"));
    }
    let read = if looks_like_pgn(&head) { pgn::read } else { epd::read };
    // The examined bytes are part of the list, so the reader must receive these bytes again.
    read(name, &mut Cursor::new(head).chain(source), book)
}

fn read_archive(name: &str, file: File, book: &mut Collector) -> Result<(), String> {
    let damaged = |reason: ZipError| format!("{name}: expected a readable zip archive: {reason}");
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(damaged)?;
    let mut members = members(&mut archive).map_err(damaged)?;
    // Archives of books often contain licences and notes in addition to the lists.
    let is_list = |(_, member): &(usize, String)| reader_by_extension(member).is_some();
    let has_lists = members.iter().any(is_list);
    if has_lists {
        members.retain(is_list);
    }
    for (index, member) in members {
        let packed = archive.by_index(index).map_err(damaged)?;
        let member = format!("{name}/{member}");
        let cannot_read = |reason: io::Error| unreadable(&member, 1, &reason);
        match read_text(&member, &mut decompressed(packed).map_err(cannot_read)?, book) {
            // A picture beside a list without an extension is no reason to reject the archive.
            Err(reason) if !has_lists => book.skip_entry(reason)?,
            read => read?,
        }
    }
    Ok(())
}

fn reader_by_extension(name: &str) -> Option<Reader> {
    let name = name.to_ascii_lowercase();
    // In `book.epd.gz`, the extension before the compression suffix determines the format of the
    // list.
    let unpacked = [".gz", ".zst"].iter().find_map(|packed| name.strip_suffix(packed));
    let name = unpacked.unwrap_or(&name);
    match Path::new(name).extension()?.to_str()? {
        "epd" | "fen" => Some(epd::read),
        "pgn" => Some(pgn::read),
        "bin" => Some(polyglot::read),
        _ => None,
    }
}

/// Returns whether a text is PGN. A game starts with a tag, a move number or a comment, but a
/// position starts with pieces.
fn looks_like_pgn(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let first = lines(&head).next();
    first.is_some_and(|(_, line)| line.starts_with(['[', '{']) || line.starts_with("1."))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ReadOptions;

    /// Returns the number of openings in a list named `name`; `None` if the extension is unknown.
    fn openings(name: &str, text: &str) -> Option<usize> {
        let mut book = Collector::new(ReadOptions::default());
        reader_by_extension(name)?(name, &mut text.as_bytes(), &mut book).ok()?;
        Some(book.openings.len)
    }

    #[test]
    fn archive_kinds_are_recognized_by_extension() {
        for name in ["a.epd", "A.EPD", "dir.pgn/a.fen", "a.epd.gz", "a.epd.zst", "z.zip/b.Fen"] {
            assert_eq!(openings(name, "4k3/8/8/8/8/8/4P3/4K3 w - -\n"), Some(1), "{name}");
        }
        for name in ["a.pgn", "a.PGN.GZ", "epd.pgn"] {
            assert_eq!(openings(name, "1. e4 e5 *\n"), Some(1), "{name}");
        }
        for name in ["a.txt", "a", "epd", ".epd", "a.gz", "LICENSE"] {
            assert_eq!(openings(name, ""), None, "{name}");
        }
    }

    #[test]
    fn archive_kinds_are_recognized_by_content() {
        for text in ["[Event \"?\"]", "\n[Event \"?\"]", "1. e4 e5", "% x\n; y\n{c} 1. e4"] {
            assert!(looks_like_pgn(text.as_bytes()), "{text}");
        }
        for text in ["", "; [x]\n8/8/8/8/8/8/8/8 w - -", "1k6/8/8/8/8/8/8/K7 w - -", "8/8"] {
            assert!(!looks_like_pgn(text.as_bytes()), "{text}");
        }
    }
}
