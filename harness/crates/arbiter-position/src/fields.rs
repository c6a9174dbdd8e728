//! Fields of a position at the start of a line, and the rest of the line.

use crate::excerpt;
use crate::operations::operations;

/// Maximum number of digits in a counter; a number with this many digits fits into 32 bits.
const MAX_DIGITS: usize = 9;

/// Fields of a FEN or EPD.
///
/// Some deviations from the standard are also accepted: counters attached to the previous field or
/// to the next word, semicolons attached to a field, and a missing en passant field.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Fields<'a> {
    pub(super) board: &'a str,
    /// Side to move, `w` or `b`.
    pub(super) turn: String,
    pub(super) castling: &'a str,
    /// En passant square, or `-`.
    pub(super) en_passant: String,
    /// Halfmove clock, in plies; 0 if the line does not contain one.
    pub(super) halfmoves: u32,
    /// Fullmove number; 1 if the line does not contain one.
    pub(super) fullmoves: u32,
    /// Text after the fields, without leading white space.
    pub(super) rest: &'a str,
}

impl Fields<'_> {
    /// Reads the fields at the start of a line.
    pub(super) fn of(line: &str) -> Result<Fields<'_>, String> {
        // In CSV tables, the position is in quotation marks.
        let (board, rest) = word(line.trim_start().trim_start_matches('"'));
        let (turn, rest) = word(rest);
        let (castling, rest) = word(rest);
        if castling.is_empty() {
            return Err(format!(
                "expected a position (pieces, side to move, castling rights, en passant square), \
                 got `{}`",
                excerpt(line.as_bytes())
            ));
        }
        let castling = if castling.chars().all(is_dash) { "-" } else { castling };
        let (en_passant, rest) = en_passant(rest)?;
        let (halfmoves, rest) = counter(rest)?;
        let (fullmoves, rest) = counter(rest)?;
        let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ';' | '"'));
        let (halfmoves, fullmoves) = match (halfmoves, fullmoves) {
            (None, None) => (operand(rest, "hmvc")?, operand(rest, "fmvn")?),
            // The fields of a FEN have fixed places, so these fields take precedence over
            // operations in the same line.
            counters => counters,
        };
        Ok(Fields {
            board,
            turn: turn.to_ascii_lowercase(),
            castling,
            en_passant,
            halfmoves: halfmoves.unwrap_or(0),
            fullmoves: fullmoves.unwrap_or(1),
            rest,
        })
    }
}

/// Returns whether a character is the hyphen of an empty field, or a dash that word processors
/// substitute for the hyphen.
fn is_dash(c: char) -> bool {
    matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}')
}

/// Splits off the first word, which ends at white space or a semicolon.
fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    let end = text.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(text.len());
    text.split_at(end)
}

/// Reads the en passant field, or `-` if the field is missing. Returns the field and the rest of
/// the text.
fn en_passant(text: &str) -> Result<(String, &str), String> {
    let text = text.trim_start();
    if let Some(rest) = text.strip_prefix(is_dash) {
        return Ok(("-".to_owned(), rest));
    }
    let none = Ok(("-".to_owned(), text));
    let Some((field, rest)) = text.split_at_checked(2) else { return none };
    let bytes = field.as_bytes();
    let is_square = matches!(bytes[0], b'a'..=b'h' | b'A'..=b'H') && bytes[1].is_ascii_digit();
    // `c3` is also an opcode, which is followed by a string.
    let is_file = bytes[0].is_ascii_alphabetic() && bytes[1].is_ascii_whitespace();
    if !(is_square || is_file) || rest.trim_start().starts_with('"') {
        return none;
    }
    let ends_here = !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
    if is_square && ends_here && matches!(bytes[1], b'1'..=b'8') {
        return Ok((field.to_ascii_lowercase(), rest));
    }
    Err(format!("expected an en passant square or -, got `{}`", excerpt(word(text).0.as_bytes())))
}

/// Reads a counter at the start of the text. Returns the counter and the rest of the text. A dash
/// means that the counter is missing.
fn counter(text: &str) -> Result<(Option<u32>, &str), String> {
    let trimmed = text.trim_start();
    let (first, rest) = word(trimmed);
    if !first.is_empty() && first.chars().all(is_dash) {
        return Ok((None, rest));
    }
    let unsigned = trimmed.strip_prefix('-').unwrap_or(trimmed);
    let end = unsigned.find(|c: char| !c.is_ascii_digit()).unwrap_or(unsigned.len());
    // `3+3` is a check counter of three-check chess, not a move counter.
    if end == 0 || unsigned[end..].starts_with('+') {
        return Ok((None, text));
    }
    let (digits, rest) = unsigned.split_at(end);
    let refused =
        || format!("expected a counter of a position, got `{}`", excerpt(first.as_bytes()));
    // A negative counter is a mistake without a clear meaning.
    let is_whole = unsigned.len() == trimmed.len() && !rest.starts_with('.');
    let number = number(digits).filter(|_| is_whole);
    number.map(|number| (Some(number), rest)).ok_or_else(refused)
}

/// Returns the number after the first operation `opcode`; `None` if there is no such operation.
fn operand(rest: &str, opcode: &str) -> Result<Option<u32>, String> {
    // This check saves time: most lines have no such operation, and many lines have long
    // operations.
    if !rest.contains(opcode) {
        return Ok(None);
    }
    let found = operations(rest).into_iter().find(|operation| operation.opcode == opcode);
    let Some(operation) = found else { return Ok(None) };
    let shown = excerpt(operation.operand.as_bytes());
    let refused = || format!("expected a number after `{opcode}`, got `{shown}`");
    number(&operation.operand).map(Some).ok_or_else(refused)
}

/// Parses a number of at most [`MAX_DIGITS`] digits, without a sign.
fn number(digits: &str) -> Option<u32> {
    // The parser of the standard library would also accept a plus sign.
    let is_number = digits.len() <= MAX_DIGITS && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINGS: &str = "4k3/8/8/8/8/8/8/4K3";

    #[test]
    fn text_after_the_fields_is_returned() {
        let check = |tail: &str, expect: &str, after: &str| {
            let line = format!("{KINGS} {tail}");
            let Fields { turn, castling, en_passant, halfmoves, fullmoves, rest, .. } =
                Fields::of(&line).unwrap_or_else(|reason| panic!("{line}: {reason}"));
            let found = format!("{turn} {castling} {en_passant} {halfmoves} {fullmoves}");
            assert_eq!((found.as_str(), rest), (expect, after), "{line}");
        };
        check("w - - bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("b - e3 bm Ke7", "b - e3 0 1", "bm Ke7");
        check("w - - 12 34 bm Ke2;", "w - - 12 34", "bm Ke2;");
        check("w - - ; bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("w - -;bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("w - e6;bm Ke2;", "w - e6 0 1", "bm Ke2;");
        check("w - -0 1;bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("w - - 3 7bm Ke2;", "w - - 3 7", "bm Ke2;");
        check("w - bm Ke2;", "w - - 0 1", "bm Ke2;");
        check("W - - 0 0 ;D1 5", "w - - 0 0", "D1 5");
        check("w - - 0 1;D1 5 ;D2 25", "w - - 0 1", "D1 5 ;D2 25");
        check("w - -", "w - - 0 1", "");
        check("w  -\t\t-   3\t7  ", "w - - 3 7", "");
        check("w - - 5", "w - - 5 1", "");
        check("w - - - 5", "w - - 0 5", "");
        check("w - - - -", "w - - 0 1", "");
        check("w - 0 1", "w - - 0 1", "");
        // Squares that no pawn can have passed are rejected later, together with the position.
        check("w - e4 0 1", "w - e4 0 1", "");
        check("w - E6 0 1", "w - e6 0 1", "");
        check("w - c3 0 1", "w - c3 0 1", "");
        check("w - c3 \"x\"; bm Ke2;", "w - - 0 1", "c3 \"x\"; bm Ke2;");
        check("w - -; ply 5", "w - - 0 1", "ply 5");
        check("w - -,5,25", "w - - 0 1", ",5,25");
        check("w - - 0 1,5,25", "w - - 0 1", ",5,25");
        check("w - - | 3 | 8902", "w - - 0 1", "| 3 | 8902");
        check("w - - hmvc 3; fmvn 12;", "w - - 3 12", "hmvc 3; fmvn 12;");
        check("w - - id \"fmvn 9\"; fmvn 2", "w - - 0 2", "id \"fmvn 9\"; fmvn 2");
        check("w - - 7 31 fmvn 5;", "w - - 7 31", "fmvn 5;");
        check("w \u{2013} \u{2014} 5 20", "w - - 5 20", "");
        check("w - \u{2212} \u{2013} 20 bm Ke2", "w - - 0 20", "bm Ke2");
        check("w - - 0 1\",5,25", "w - - 0 1", ",5,25");
        check("w - -\"", "w - - 0 1", "");
    }

    #[test]
    fn a_position_may_be_in_quotes() {
        let line = format!(" \"{KINGS} b - - 3 9\"; bm Kd7;");
        let Fields { board, turn, fullmoves, rest, .. } = Fields::of(&line).unwrap();
        assert_eq!((board, turn.as_str(), fullmoves, rest), (KINGS, "b", 9, "bm Kd7;"));
    }

    #[test]
    fn non_positions_are_rejected() {
        let check = |line: &str, expect: &str| {
            let reason = Fields::of(line).expect_err(line);
            assert!(reason.contains(expect), "{line}: {reason}");
        };
        check("bm Ke2;", "expected a position (pieces, side to move");
        check("", "expected a position");
        for tail in ["e9 0 1", "e0", "h66x 0 1", "e4bm Ke2", "d 0 3"] {
            check(&format!("{KINGS} w - {tail}"), "an en passant square or -");
        }
        for tail in ["-1 1", "0 -1", "0.5 7", "9999999999 1", "0 9999999999"] {
            check(&format!("{KINGS} w - - {tail}"), "a counter of a position");
        }
        check(&format!("{KINGS} w - - hmvc x;"), "a number after `hmvc`, got `x`");
        check(&format!("{KINGS} w - - fmvn;"), "a number after `fmvn`, got ``");
    }
}
