//! Reader that adds time stamps to an engine's output.

use std::io::Read;
use std::time::Instant;

/// Maximum length of a line, in bytes. The rest of a longer line is dropped, so that an endless
/// line cannot fill the memory.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// Number of bytes read per call: more than engines usually write per call, but so few that the
/// readers of many engines take little memory.
pub(super) const READ_BYTES: usize = 4 * 1024;

/// Lines that one `read` call completed, with the time of the call.
#[derive(Debug)]
pub struct Chunk {
    /// Time at which `read` returned.
    pub at: Instant,
    /// Lines without line endings; lines that are not UTF-8 are decoded as Latin-1.
    pub lines: Vec<String>,
    /// `true` if the engine has closed its output.
    pub closed: bool,
}

/// Reads until the end of `source` or until `sink` returns `false`.
pub(super) fn read_lines(source: impl Read, mut sink: impl FnMut(Chunk) -> bool) {
    let mut buffer = vec![0; READ_BYTES];
    let mut reader = LineReader::new(source);
    loop {
        let chunk = reader.read(&mut buffer);
        let closed = chunk.closed;
        let goes_on = chunk.lines.is_empty() && !closed || sink(chunk);
        if closed || !goes_on {
            return;
        }
    }
}

/// Reader of lines of limited length from a source of bytes.
pub(super) struct LineReader<R> {
    pub(super) source: R,
    lines: Vec<String>,
    partial: Vec<u8>,
}

impl<R: Read> LineReader<R> {
    pub(super) fn new(source: R) -> LineReader<R> {
        LineReader { source, lines: Vec::new(), partial: Vec::new() }
    }

    /// Reads once, into `buffer`. A failed source counts as closed.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Chunk {
        let read = self.source.read(buffer);
        let at = Instant::now();
        let closed = match read {
            Ok(length) => {
                self.split(&buffer[..length]);
                length == 0
            }
            Err(error) => error.kind() != std::io::ErrorKind::Interrupted,
        };
        if closed && !self.partial.is_empty() {
            self.end_line();
        }
        Chunk { at, lines: std::mem::take(&mut self.lines), closed }
    }

    fn split(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|b| *b == b'\n') {
            let room = MAX_LINE_BYTES - self.partial.len();
            match piece.strip_suffix(b"\n") {
                Some(end) => {
                    self.partial.extend_from_slice(&end[..end.len().min(room)]);
                    self.end_line();
                }
                None => self.partial.extend_from_slice(&piece[..piece.len().min(room)]),
            }
        }
    }

    fn end_line(&mut self) {
        let mut line = self.partial.strip_suffix(b"\r").unwrap_or(&self.partial);
        // Programs may write a byte order mark, or the zero byte that ends a string.
        while let [0xef, 0xbb, 0xbf, rest @ ..] | [0, rest @ ..] | [rest @ .., 0] = line {
            line = rest;
        }
        self.lines.push(decoded(line));
        self.partial.clear();
    }
}

/// Decodes bytes as UTF-8, or as Latin-1 if the bytes are not UTF-8. Control characters of Latin-1
/// (0x80 to 0x9f) are replaced by U+FFFD.
pub fn decoded(bytes: &[u8]) -> String {
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => char::REPLACEMENT_CHARACTER,
        byte => char::from(*byte),
    };
    match str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(letter).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut reader = LineReader::new(std::io::empty());
        pieces.iter().for_each(|piece| reader.split(piece));
        reader.read(&mut [0; READ_BYTES]).lines
    }

    #[test]
    fn lines_are_joined_across_reads() {
        assert_eq!(lines(&[b"uci", b"ok\r\nready", b"ok\n"]), ["uciok", "readyok"]);
        assert_eq!(lines(&[b"\n\na"]), ["", "", "a"]);
        assert_eq!(lines(&[b"Caf\xe9 \xa9\nCaf\xc3", b"\xa9\n"]), ["Café ©", "Café"]);
        assert_eq!(lines(&[b"a\x9b2J\n"]), ["a\u{fffd}2J"]);
        assert_eq!(lines(&[b"\xef\xbb", b"\xbfuciok\r\n"]), ["uciok"]);
        assert_eq!(lines(&[b"a\0b\0\n\0\0c\0\n\0\n"]), ["a\0b", "c", ""]);
    }

    #[test]
    fn an_endless_line_is_truncated() {
        let piece = vec![b'x'; MAX_LINE_BYTES];
        let got = lines(&[&piece, &piece, b"y\nnext\n"]);
        assert_eq!(got.len(), 2);
        assert_eq!(got[0].len(), MAX_LINE_BYTES);
        assert_eq!(got[1], "next");
    }

    #[test]
    fn the_end_is_reported_once_with_the_last_line() {
        let mut chunks = Vec::new();
        read_lines(&b"a\nb"[..], |chunk| {
            chunks.push((chunk.lines, chunk.closed));
            true
        });
        assert_eq!(chunks, [(vec!["a".to_owned()], false), (vec!["b".to_owned()], true)]);
    }
}
