//! Movetext tokens that `pgn-reader` does not parse.

use shakmaty::CastlingSide;
use shakmaty::san::{San, SanPlus};

/// Maximum number of bytes that are searched for invisible characters in one step.
const MAX_INVISIBLE: usize = 60;

/// Meaning of a token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Move, as written.
    Move(San),
    /// Result of the game, in the form of the PGN standard.
    Outcome(&'static str),
    /// Annotation of a move, such as `+-`, which does not affect the game.
    Mark,
    /// Token that is defined neither by PGN nor by common programs.
    Unknown,
}

/// Returns the meaning of a token. Also returns the number of bytes in `after`, the text after the
/// token, that belong to the token.
pub(crate) fn meaning(word: &[u8], after: &[u8]) -> (Meaning, usize) {
    let plain = plain(word);
    let end = plain.iter().rposition(|byte| !b"`'\",".contains(byte)).map_or(0, |last| last + 1);
    let outcome = match &plain[..end] {
        b"1-0" | b"1:0" => Some("1-0"),
        b"0-1" | b"0:1" => Some("0-1"),
        b"1/2-1/2" | b"1/2:1/2" | b"1/2" => Some("1/2-1/2"),
        _ => None,
    };
    if let Some(outcome) = outcome {
        return (Meaning::Outcome(outcome), 0);
    }
    if matches!(plain.as_slice(), b"--" | b"@@@@" | b"0000" | b"null" | b"pass") {
        return (Meaning::Move(San::Null), 0);
    }
    let (suffix, dots) = en_passant(&plain, after);
    if plain.len() == suffix && suffix > 0 {
        return (Meaning::Mark, dots);
    }
    let (promoted, in_brackets) = match after {
        [b'(', role, b')', ..] if is_promoted(*role) => (Some(*role), 3),
        _ => (None, 0),
    };
    if let Some(san) = san(&plain[..plain.len() - suffix], promoted) {
        return (Meaning::Move(san), dots + in_brackets);
    }
    let is_mark = plain.iter().all(|byte| !byte.is_ascii_alphanumeric());
    // `N` and `TN` mark a novelty, and `D` a diagram.
    if is_mark || matches!(plain.as_slice(), b"N" | b"TN" | b"D" | b"") {
        (Meaning::Mark, 0)
    } else {
        (Meaning::Unknown, 0)
    }
}

/// Returns the token with its characters replaced by ASCII equivalents where these exist, and
/// without Unicode spaces.
fn plain(word: &[u8]) -> Vec<u8> {
    let Ok(text) = str::from_utf8(word) else {
        // Text that is not UTF-8 is read as Latin-1, in which 0xa0 is the no-break space.
        return word.iter().copied().filter(|byte| *byte != 0xa0).collect();
    };
    let mut plain = Vec::with_capacity(word.len());
    for c in text.chars() {
        match c {
            // Word processors replace the hyphens in results and castling by dashes or minus signs.
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push(b'-'),
            '½' => plain.extend_from_slice(b"1/2"),
            '×' => plain.push(b'x'),
            '♔' | '♚' => plain.push(b'K'),
            '♕' | '♛' => plain.push(b'Q'),
            '♖' | '♜' => plain.push(b'R'),
            '♗' | '♝' => plain.push(b'B'),
            '♘' | '♞' => plain.push(b'N'),
            // Pawns have no letter. A variation selector may follow the symbol of any piece.
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' => {}
            _ if is_invisible(c) => {}
            _ => plain.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    plain
}

/// Returns whether a character is white space or has no width.
fn is_invisible(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{feff}' | '\u{200b}'..='\u{200f}' | '\u{2060}')
}

/// Returns the length, in bytes, of the invisible characters at the start of a text.
pub(crate) fn invisible_length(text: &[u8]) -> usize {
    let text = &text[..text.len().min(MAX_INVISIBLE)];
    let valid = text.utf8_chunks().next().map_or("", |chunk| chunk.valid());
    valid.len() - valid.trim_start_matches(is_invisible).len()
}

/// Returns the length of the suffix `ep` or `e.p.` of an en passant capture: the number of bytes in
/// `word`, and the number of bytes in `after`.
fn en_passant(word: &[u8], after: &[u8]) -> (usize, usize) {
    let is_before = |suffix: usize| {
        let before = word.len().checked_sub(suffix + 1).map(|at| word[at]);
        // An en passant capture ends with the rank of its target square.
        before.is_none_or(|byte| byte.is_ascii_digit())
    };
    if word.ends_with(b"ep") && is_before(2) {
        return (2, 0);
    }
    if word.ends_with(b"e") && after.starts_with(b".p") && is_before(1) {
        return (1, if after.starts_with(b".p.") { 3 } else { 2 });
    }
    (0, 0)
}

fn is_promoted(role: u8) -> bool {
    matches!(role.to_ascii_uppercase(), b'Q' | b'R' | b'B' | b'N')
}

/// Parses a move in a form other than SAN, such as `o-o`, `0-0-0`, `e2-e4`, `Ng1:f3`, `e7e8q`,
/// `b8/Q` or `Qh5++`.
fn san(word: &[u8], promoted: Option<u8>) -> Option<San> {
    // Check marks are redundant. Other annotations may follow a move without a space.
    let is_mark = |byte: &u8| b"+-#=~/".contains(byte) || *byte >= 0x80;
    let end = word.iter().rposition(|byte| !is_mark(byte))? + 1;
    let word = &word[..end];
    // PGN uses the letter O for castling. FIDE notation uses zeros, and lowercase letters are a
    // common mistake.
    let castling: Vec<u8> =
        word.iter().map(|byte| if b"o0".contains(byte) { b'O' } else { *byte }).collect();
    match castling.as_slice() {
        b"O-O" | b"OO" => return Some(San::Castle(CastlingSide::KingSide)),
        b"O-O-O" | b"OOO" => return Some(San::Castle(CastlingSide::QueenSide)),
        _ => {}
    }
    let mut text: Vec<u8> = word.iter().copied().filter(|byte| !b"-=/".contains(byte)).collect();
    text.extend(promoted);
    for byte in &mut text {
        // A colon is an older symbol for a capture.
        if *byte == b':' {
            *byte = b'x';
        }
    }
    // A pawn promotes only on the first or last rank, so a letter after another rank is not a
    // promotion piece.
    if let [.., b'1' | b'8', role] = text.as_mut_slice()
        && is_promoted(*role)
    {
        *role = role.to_ascii_uppercase();
        text.insert(text.len() - 1, b'=');
    }
    SanPlus::from_ascii(&text).ok().map(|san| san.san)
}

#[cfg(test)]
#[allow(clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn moves_are_read_in_the_formats_of_other_programs() {
        for (word, after, expected, used) in [
            ("b8Q+", "", "b8=Q", 0),
            ("b8q", " ", "b8=Q", 0),
            ("b8=q#", "", "b8=Q", 0),
            ("axb8/N", "", "axb8=N", 0),
            ("b8", "(R) c1", "b8=R", 3),
            ("b7-b8Q", "", "b7b8=Q", 0),
            ("e7xe8=Q++", "", "e7xe8=Q", 0),
            ("e7e8r", "", "e7e8=R", 0),
            ("e2-e4", "", "e2e4", 0),
            ("e5:d6", "", "e5xd6", 0),
            ("Ng1–f3", "", "Ng1f3", 0),
            ("Nf3+-", "", "Nf3", 0),
            ("Nf3±", "", "Nf3", 0),
            ("o-o", "", "O-O", 0),
            ("0-0-0+", "", "O-O-O", 0),
            ("0–0", "", "O-O", 0),
            ("exd6ep", "", "exd6", 0),
            ("exd6e", ".p. Nf3", "exd6", 3),
            ("exd6e", ".p", "exd6", 2),
            ("@@@@", "", "--", 0),
            ("0000", "", "--", 0),
            ("♘f3", "", "Nf3", 0),
            ("♞\u{fe0e}xd4", "", "Nxd4", 0),
            ("♙e4", "", "e4", 0),
            ("e8♕", "", "e8=Q", 0),
            ("OO", "", "O-O", 0),
            ("\u{2060}e4", "", "e4", 0),
            ("\u{feff}e4", "", "e4", 0),
            ("e4\u{a0}", "", "e4", 0),
        ] {
            let (found, length) = meaning(word.as_bytes(), after.as_bytes());
            let Meaning::Move(san) = found else { panic!("{word}: {found:?}") };
            assert_eq!((san.to_string().as_str(), length), (expected, used), "{word}");
        }
    }

    #[test]
    fn results_marks_and_other_words_are_distinguished() {
        let of = |word: &str, after: &str| meaning(word.as_bytes(), after.as_bytes());
        for (word, outcome) in [
            ("1–0", "1-0"),
            ("0:1", "0-1"),
            ("½-½", "1/2-1/2"),
            ("1/2", "1/2-1/2"),
            ("1-0`", "1-0"),
            ("0-1,", "0-1"),
        ] {
            assert_eq!(of(word, ""), (Meaning::Outcome(outcome), 0), "{word}");
        }
        for word in ["+-", "=", "±", "□", "N", "ep", "-+", "=/∞", "…"] {
            assert_eq!(of(word, "").0, Meaning::Mark, "{word}");
        }
        assert_eq!(of("e", ".p. Nf3"), (Meaning::Mark, 3));
        for word in ["Ng9", "Sf3", "e4,", "x5", "hello", "e", "e4e5e6", "b8Qx", "1-1", "nf3"] {
            assert_eq!(of(word, "").0, Meaning::Unknown, "{word}");
        }
    }
}
