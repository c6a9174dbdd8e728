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

use shakmaty::uci::UciMove;
use shakmaty::{CastlingMode, Chess, Color, Move, Position};

pub use excerpt::excerpt;
pub use operations::{Operation, operations};
pub use start::{Start, fen};
pub use text::PlainText;

/// Prefixes of comment lines.
const COMMENT_SIGNS: [&str; 4] = ["#", "%", ";", "//"];

/// Returns the lines of `text`, except empty lines and comment lines. Each line comes with its
/// number (counted from 1) in `text`, and is trimmed of white space and NUL characters.
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

/// Returns the legal move that an engine or a file means by `uci`. In both castling modes, castling
/// may be written as the king capturing its own rook or as the king moving to its target square. If
/// the king could also reach its target square with an ordinary move, the ordinary move is
/// returned.
pub fn legal_move(position: &Chess, uci: UciMove) -> Option<Move> {
    uci.to_move(position).ok().or_else(|| {
        let is_castling = |legal: &Move| legal.to_uci(CastlingMode::Standard) == uci;
        position.legal_moves().into_iter().find(is_castling)
    })
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
    fn castling_is_read_in_both_notations() {
        let check = |fen: &str, written: &str, expect: Option<&str>| {
            let Start { position, mode, .. } = Start::read(fen, false).unwrap();
            let meant = legal_move(&position, written.parse().unwrap());
            assert_eq!(meant.map(|m| m.to_uci(mode).to_string()).as_deref(), expect, "{written}");
        };
        let standard = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
        for (king, rook) in [("e1g1", "e1h1"), ("e1c1", "e1a1")] {
            check(standard, king, Some(king));
            check(standard, rook, Some(king));
        }
        for (fen, king, rook) in [
            ("4k3/8/8/8/8/8/8/1R1K2R1 w GB - 0 1", "d1g1", "d1g1"),
            ("4k3/8/8/8/8/8/8/1R3KR1 w GB - 0 1", "f1c1", "f1b1"),
            ("4k3/8/8/8/8/8/8/4KR2 w F - 0 1", "e1g1", "e1f1"),
            ("1r3k1r/8/8/8/8/8/8/4K3 b hb - 0 1", "f8c8", "f8b8"),
            ("4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "b1g1", "b1h1"),
        ] {
            check(fen, king, Some(rook));
            check(fen, rook, Some(rook));
        }
        check("4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "b1c1", Some("b1c1"));
        check("4k3/8/8/8/8/8/8/R3K2R w - - 0 1", "e1g1", None);
        check("4kr2/8/8/8/8/8/8/1R1K2R1 w GB - 0 1", "d1f1", None);
    }

    #[test]
    fn blank_lines_and_comments_are_skipped() {
        let text = "# a\n\n one\n; b\n// c\n% d\ntwo\0\n\u{2028}three\u{85}\u{b}four\u{c}";
        let found: Vec<(usize, &str)> = lines(text).collect();
        assert_eq!(found, [(3, "one"), (7, "two"), (9, "three"), (11, "four")]);
    }
}
