//! Unknown words in the movetext of a game.
//!
//! The PGN reader steps over what it does not understand. In a book that would be a move left out,
//! and the opening another one than was meant; so the text is looked through once more.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use shakmaty::san::SanPlus;

/// A word of the main line that is no move, move number, mark or result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnknownWord<'a> {
    /// Where it begins in the text.
    pub(super) offset: usize,
    pub(super) word: &'a [u8],
}

/// Finds the first unknown word in the text of one game, tags included.
pub(super) fn unknown_word(text: &[u8]) -> Option<UnknownWord<'_>> {
    let mut at = after_tags(text);
    let mut variations = 0u32;
    while let Some(&byte) = text.get(at) {
        match byte {
            b'{' => at = after(text, at, b'}'),
            b';' => at = after(text, at, b'\n'),
            b'%' if at > 0 && text[at - 1] == b'\n' => at = after(text, at, b'\n'),
            _ if ends_word(byte) => {
                match byte {
                    b'(' => variations += 1,
                    b')' => variations = variations.saturating_sub(1),
                    _ => {}
                }
                at += 1;
            }
            _ => {
                let length = text[at..].iter().position(|&byte| ends_word(byte));
                let word = length.map_or(&text[at..], |length| &text[at..at + length]);
                if variations == 0 && !is_known(word) {
                    return Some(UnknownWord { offset: at, word });
                }
                at += word.len();
            }
        }
    }
    None
}

/// Offset of the first line that is neither blank, nor a tag, nor escaped.
fn after_tags(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(line) = text.get(at..).filter(|rest| !rest.is_empty()) {
        match line.trim_ascii_start().first() {
            Some(b'[' | b'%') => {
                let blank = line.len() - line.trim_ascii_start().len();
                at = after(text, at + blank, b'\n');
            }
            _ => break,
        }
    }
    at
}

/// Offset behind the next `end` from `at` on.
fn after(text: &[u8], at: usize, end: u8) -> usize {
    text[at..].iter().position(|&byte| byte == end).map_or(text.len(), |length| at + length + 1)
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"{}()!?$;.*".contains(&byte)
}

fn is_known(word: &[u8]) -> bool {
    let is_sign = |byte: &u8| !byte.is_ascii_alphanumeric();
    let is_score = |byte: &u8| byte.is_ascii_digit() || b"-/+#".contains(byte) || *byte >= 0x80;
    if word.iter().all(is_sign) || word[0].is_ascii_digit() && word.iter().all(is_score) {
        return true; // An evaluation sign; a move number, a result, or castling with zeros.
    }
    // A move number may cling to its move, and "e.p." falls apart at its points.
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let word = &word[digits..];
    SanPlus::from_ascii(word).is_ok() || matches!(word, b"ep" | b"e" | b"p")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_games_have_none() {
        for text in [
            "",
            "[Event \"Sf3 xx\"]\n% Sf3\n\n1. e4 e5",
            "1.e4 1...e5 2.Nf3!? Nc6?? 3. O-O $14 0-0-0+ 12.exd6 e.p. e8=Q# +- ½-½",
            "1e4 e5 { Sf3 } 2. Nf3 ; Sf3\n Nc6 (2... xx (3. yy) zz) 3. Bb5 1/2-1/2",
            "1. e4 e5 1-0\n",
            "1. e4 0–1",
            "1. e4 *",
            "1. e4 {never ends",
        ] {
            assert_eq!(unknown_word(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_move_is_found() {
        for (text, expected) in [
            ("1. e4 e5 2. Ng9 *", "Ng9"),
            ("[Event \"x\"]\n\n1. e4 e5 2. Sf3", "Sf3"),
            ("1. e4, e5", "e4,"),
            ("1. e4 (1. d4) x5", "x5"),
            ("hello", "hello"),
        ] {
            let found = unknown_word(text.as_bytes()).expect(text);
            assert_eq!(found.word, expected.as_bytes(), "{text}");
            assert_eq!(&text[found.offset..][..expected.len()], expected);
        }
    }
}
