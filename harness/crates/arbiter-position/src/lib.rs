//! Reader of positions in FEN and EPD for openings, suites, PGN tags and the UCI command
//! `position`.
//!
//! Files come from many sources, so the reader accepts mistakes whose meaning is clear. An en
//! passant square or a castling right that is impossible in the position is ignored and described
//! in [`Start::correction`]. Any other mistake is an error.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

mod excerpt;
mod fields;
mod operations;
mod start;
mod text;

use shakmaty::{Chess, Color, Position};

pub use excerpt::excerpt;
pub use operations::{Operation, operations};
pub use start::{Start, fen};
pub use text::PlainText;

/// Prefixes of comment lines.
const COMMENT_SIGNS: [&str; 4] = ["#", "%", ";", "//"];

/// Returns the lines of `text`, except empty lines and comment lines. Each line comes with its
/// number in `text`, counted from 1, and is trimmed of white space and NUL characters.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    (1..).zip(line_parts(text)).filter_map(|(number, line)| Some((number, content(line)?)))
}

/// Splits a string into lines at line feeds and at less common line endings. Carriage returns must
/// already have been converted to line feeds.
pub fn line_parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(['\n', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}'])
}

/// Returns a line, with white space, NUL characters and byte order marks removed from both ends;
/// `None` if the line is empty or a comment. In concatenated files, any line may begin with a byte
/// order mark.
pub fn content(line: &str) -> Option<&str> {
    let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\0' | '\u{feff}'));
    let is_comment = COMMENT_SIGNS.iter().any(|sign| line.starts_with(sign));
    (!line.is_empty() && !is_comment).then_some(line)
}

/// Returns the material advantage of `side`, in pawns (pawn 1, knight and bishop 3, rook 5, queen
/// 9); negative if the opponent has more material.
pub fn material_lead(position: &Chess, side: Color) -> i32 {
    let worth = |color| {
        let pieces = position.board().material_side(color).map(i32::from);
        pieces.pawn + 3 * (pieces.knight + pieces.bishop) + 5 * pieces.rook + 9 * pieces.queen
    };
    worth(side) - worth(side.other())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_has_no_byte_order_mark() {
        assert_eq!(content("\u{feff} 8/8 w\0"), Some("8/8 w"));
    }

    #[test]
    fn blank_lines_and_comments_are_skipped() {
        let text = "# a\n\n one\n; b\n// c\n% d\ntwo\0\n\u{2028}three\u{85}\u{b}four\u{c}";
        let found: Vec<(usize, &str)> = lines(text).collect();
        assert_eq!(found, [(3, "one"), (7, "two"), (9, "three"), (11, "four")]);
    }
}
