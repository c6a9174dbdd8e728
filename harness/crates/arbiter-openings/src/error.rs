//! Errors of opening books, with file and line.

use std::fmt::Display;

use thiserror::Error;

/// Why a book, or an entry of it, cannot be used: where, and what was expected and found. Files
/// inside an archive are named `archive.zip/member.epd`; lines and games are counted from 1.
#[derive(Debug, Error)]
#[error("{place}: {what}")]
pub struct OpeningError {
    place: String,
    what: String,
}

impl OpeningError {
    /// `place` is a file, perhaps with a line.
    pub(super) fn new(place: impl Display, what: impl Display) -> OpeningError {
        OpeningError { place: place.to_string(), what: what.to_string() }
    }

    /// The line, or the game that begins on it, cannot be read, or decompressed, to its end.
    pub(super) fn unreadable(file: &str, line: u64, reason: impl Display) -> OpeningError {
        let what = format_args!("cannot read the opening book further: {reason}");
        OpeningError::new(format_args!("{file}:{line}"), what)
    }
}

/// Longest piece of foreign text quoted in a message, in characters.
const MAX_EXCERPT: usize = 100;

/// Foreign text made fit for a one-line message.
pub(super) fn excerpt(text: &[u8]) -> String {
    let text = &text[..text.len().min(4 * MAX_EXCERPT + 4)];
    let text = String::from_utf8_lossy(text);
    let mut short: String = text
        .trim()
        .chars()
        .take(MAX_EXCERPT + 1)
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    if let Some((end, _)) = short.char_indices().nth(MAX_EXCERPT) {
        short.truncate(end);
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn excerpts_are_short_and_of_one_line() {
        assert_eq!(excerpt(b"  8/8 w - -\r\n"), "8/8 w - -");
        assert_eq!(excerpt(b"a\x07b\nc"), "a b c");
        assert_eq!(excerpt(&[b'x'; 5000]).chars().count(), 101);
        assert_eq!(excerpt("ö".repeat(300).as_bytes()).chars().count(), 101);
        assert_eq!(excerpt(&[0xff, b'a']), "\u{fffd}a");
    }
}
