//! Positions as text: one reader of FEN and EPD for openings, suites, tags of PGN and UCI's
//! `position`.
//!
//! Files come from everywhere, so the reader accepts mistakes that can be understood without
//! guessing. A claim that a position cannot have, an en passant square or a right to castle, is
//! left out and named in [`Start::correction`]. Any other mistake is an error.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod excerpt;
mod fields;
mod operations;
mod start;
mod text;

pub use excerpt::excerpt;
pub use operations::{Operation, operations};
pub use start::{Start, fen};
pub use text::PlainText;

/// Signs with which a line that is a comment begins.
const COMMENT_SIGNS: [&str; 4] = ["#", "%", ";", "//"];

/// Returns the lines of a text that have contents, each with its number, from 1, and without blanks
/// and NULs around it. Comments are skipped.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(line_parts(text)).filter_map(|(number, line)| Some((number, content(line)?)))
}

/// Splits a text into lines; it has line feeds for carriage returns already, and rarer line ends
/// are recognized.
pub fn line_parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Returns a line without blanks and NULs around it; `None` if nothing is left, or only a comment.
pub fn content(line: &str) -> Option<&str> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || c == '\0');
    let is_comment = COMMENT_SIGNS.iter().any(|sign| line.starts_with(sign));
    (!line.is_empty() && !is_comment).then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_lines_and_comments_are_skipped() {
        let text = "# a\n\n one\n; b\n// c\n% d\ntwo\0\n\u{2028}three\u{85}\u{b}four\u{c}";
        let found: Vec<(usize, &str)> = lines(text).collect();
        assert_eq!(found, [(3, "one"), (7, "two"), (9, "three"), (11, "four")]);
    }
}
