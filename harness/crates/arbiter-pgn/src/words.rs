//! Movetext tokens that `pgn-reader` does not parse.

use std::borrow::Cow;

use shakmaty::CastlingSide;
use shakmaty::san::{San, SanPlus};

use super::blanks::has_no_width;

/// Meaning of a token.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    /// Move, as written.
    Move(San),
    /// Result of the game, in the form of the PGN standard.
    Outcome(&'static str),
    /// Annotation, such as `+-`, that does not affect the game.
    Mark,
    /// Token that is defined neither by PGN nor by common programs.
    Unknown,
}

/// Returns the meaning of a token. Also returns the number of bytes at the start of `after` (the
/// text that follows `word`) that belong to the same token.
pub(crate) fn meaning(word: &[u8], after: &[u8]) -> (Meaning, usize) {
    let plain = plain(word);
    let outcome = match plain.trim_end_matches(['`', '\'', '"', ',']) {
        "1-0" | "1:0" => Some("1-0"),
        "0-1" | "0:1" => Some("0-1"),
        "1/2-1/2" | "1/2:1/2" | "1/2" | "0.5-0.5" | "0,5-0,5" => Some("1/2-1/2"),
        _ => None,
    };
    if let Some(outcome) = outcome {
        return (Meaning::Outcome(outcome), 0);
    }
    if matches!(plain.as_str(), "--" | "<>" | "@@@@" | "0000" | "null" | "pass") {
        return (Meaning::Move(San::Null), 0);
    }
    // A full stop ends a token, so only a part of `e.p.` is in the token.
    let (word, dots) = match (plain.strip_suffix(['e', 'E']), after) {
        (Some(word), [b'.', b' ', b'p' | b'P', b'.', ..]) => (word, 4),
        (Some(word), [b'.', b'p' | b'P', b'.', ..]) => (word, 3),
        (Some(word), [b'.', b'p' | b'P', ..]) => (word, 2),
        _ => (plain.as_str(), 0),
    };
    let is_promoting = word.ends_with('=');
    let word = without_suffixes(word);
    // `N` and `TN` mark a novelty, `D` a diagram, `dbl ch` a double check, and `dis ch` a
    // discovered check. Scid writes the other words for annotations with numbers.
    const MARKS: &str = "N TN D dbl dis disc x RR forced worst quiet";
    if word.chars().all(is_mark) || MARKS.split(' ').any(|mark| mark == word) {
        return (Meaning::Mark, dots);
    }
    let (promoted, length) = promotion(word, is_promoting, after).unzip();
    match san(word, promoted) {
        Some(san) => (Meaning::Move(san), dots + length.unwrap_or(0)),
        None => (Meaning::Unknown, 0),
    }
}

/// Returns the token without characters that have no width, and with ASCII equivalents in place of
/// characters that have such equivalents.
fn plain(word: &[u8]) -> String {
    // Text that is not UTF-8 is read as Latin-1.
    let text = match str::from_utf8(word) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => word.iter().copied().map(char::from).collect(),
    };
    let mut plain = String::with_capacity(word.len());
    for c in text.chars() {
        match c {
            // Word processors replace the hyphens in results and castling by dashes or minus signs.
            '\u{2010}'..='\u{2015}' | '\u{2212}' => plain.push('-'),
            '½' => plain.push_str("1/2"),
            '×' => plain.push('x'),
            // The Cyrillic letter looks like the letter of castling.
            '\u{41e}' | '\u{43e}' => plain.push('O'),
            '♔' | '♚' => plain.push('K'),
            '♕' | '♛' => plain.push('Q'),
            '♖' | '♜' => plain.push('R'),
            '♗' | '♝' => plain.push('B'),
            '♘' | '♞' => plain.push('N'),
            // Pawns have no letter. A variation selector may follow the symbol of any piece. An
            // ellipsis may precede a move of Black.
            '♙' | '♟' | '\u{fe0e}' | '\u{fe0f}' | '…' => {}
            _ if has_no_width(c) => {}
            _ => plain.push(c),
        }
    }
    plain
}

/// Returns whether a character is an annotation, such as `±`, and not a letter or a digit.
fn is_mark(c: char) -> bool {
    // The Greek letter stands for "with the idea".
    c == 'Δ' || !c.is_alphanumeric()
}

/// Returns a move without redundant marks and words at the end, such as `++`, `mate` and `ep`.
fn without_suffixes(word: &str) -> &str {
    let is_suffix = |c: char| "+-#=~/".contains(c) || !c.is_ascii() && is_mark(c);
    const WORDS: [&str; 5] = ["ep", "EP", "ch", "check", "mate"];
    let mut word = word.trim_end_matches(is_suffix);
    while let Some(shorter) = WORDS.iter().find_map(|suffix| word.strip_suffix(suffix)) {
        word = shorter.trim_end_matches(is_suffix);
    }
    word
}

/// Returns the promotion piece if the piece follows the token: `b8(Q)`, `b8(=Q)`, `b8 = Q`, or
/// `b8= Q` if `is_promoting` is `true`. Also returns the number of bytes at the start of `after`
/// that belong to the promotion.
fn promotion(word: &str, is_promoting: bool, after: &[u8]) -> Option<(u8, usize)> {
    let [b'a'..=b'h', .., b'1' | b'8'] = word.as_bytes() else { return None };
    let forms = [("(=", ")"), ("(", ")"), (" = ", ""), (" =", ""), (" ", "")];
    let forms = &forms[..if is_promoting { 5 } else { 4 }];
    forms.iter().find_map(|(before, behind)| {
        let (role, rest) = after.strip_prefix(before.as_bytes())?.split_first()?;
        let rest = rest.strip_prefix(behind.as_bytes())?;
        let is_whole = !behind.is_empty() || !rest.first().is_some_and(u8::is_ascii_alphanumeric);
        (is_promoted(*role) && is_whole).then_some((*role, after.len() - rest.len()))
    })
}

fn is_promoted(role: u8) -> bool {
    matches!(role.to_ascii_uppercase(), b'Q' | b'R' | b'B' | b'N')
}

/// Parses a move in a form other than SAN, such as `o-o`, `0-0-0`, `e2-e4`, `Ng1:f3`, `e7e8q`,
/// `b8/Q` or `Qh5++`.
fn san(word: &str, promoted: Option<u8>) -> Option<San> {
    // PGN uses the letter O for castling. FIDE notation uses zeros, and lowercase letters are a
    // common mistake.
    match word.replace(['o', '0'], "O").as_str() {
        "O-O" | "OO" => return Some(San::Castle(CastlingSide::KingSide)),
        "O-O-O" | "OOO" => return Some(San::Castle(CastlingSide::QueenSide)),
        _ => {}
    }
    // A colon is an older symbol for a capture.
    let mut text = word.replace(['-', '=', '/'], "").replace(':', "x").into_bytes();
    text.extend(promoted);
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
            ("exd6E", ".P. Nf3", "exd6", 3),
            ("exd6/ep", "", "exd6", 0),
            ("exd6/e", ".p.", "exd6", 3),
            ("exd6ep+", "", "exd6", 0),
            ("Qxf7mate", "", "Qxf7", 0),
            ("Qxf7ch", "", "Qxf7", 0),
            ("Qxf7checkmate", "", "Qxf7", 0),
            ("exd6e", ". p. Nf3", "exd6", 4),
            ("Qxf7+ch", "", "Qxf7", 0),
            ("hxg8", " = Q Kd7", "hxg8=Q", 4),
            ("hxg8", " =q", "hxg8=Q", 3),
            ("hxg8", "(=Q)+", "hxg8=Q", 4),
            ("hxg7", " = N", "hxg7", 0),
            ("О-О", "", "O-O", 0),
            ("@@@@", "", "--", 0),
            ("<>", "", "--", 0),
            ("0000", "", "--", 0),
            ("♘f3", "", "Nf3", 0),
            ("♞\u{fe0e}xd4", "", "Nxd4", 0),
            ("♙e4", "", "e4", 0),
            ("e8♕", "", "e8=Q", 0),
            ("OO", "", "O-O", 0),
            ("\u{2060}e4", "", "e4", 0),
            ("\u{feff}e4", "", "e4", 0),
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
            ("0.5-0.5", "1/2-1/2"),
            ("0,5-0,5", "1/2-1/2"),
            ("1/2", "1/2-1/2"),
            ("1-0`", "1-0"),
            ("0-1,", "0-1"),
        ] {
            assert_eq!(of(word, ""), (Meaning::Outcome(outcome), 0), "{word}");
        }
        let marks = "+- = ± □ N dbl dis disc × forced ep EP ch check mate checkmate -+ =/∞ … Δ";
        for word in marks.split(' ') {
            assert_eq!(of(word, "").0, Meaning::Mark, "{word}");
        }
        assert_eq!(of("e", ".p. Nf3"), (Meaning::Mark, 3));
        assert_eq!(of("e", ". p. Nf3"), (Meaning::Mark, 4));
        assert_eq!(of("E", ".P. Nf3"), (Meaning::Mark, 3));
        for word in ["Ng9", "Sf3", "e4,", "x5", "hello", "e", "e4e5e6", "b8Qx", "1-1", "nf3", "ход"]
        {
            assert_eq!(of(word, "").0, Meaning::Unknown, "{word}");
        }
    }
}
