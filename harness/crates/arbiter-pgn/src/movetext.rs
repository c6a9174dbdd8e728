//! Movetext of a game: moves, comments and the result.

use memchr::{memchr, memmem};
use shakmaty::Outcome;
use shakmaty::san::SanPlus;

use super::blanks::{is_blank, line_length, newlines};
use super::games::{BYTE_ORDER_MARK, Games, Part};
use super::tag_text::{begins_tags, bracket_length, end_of_quote, is_tag};
use super::words::{Meaning, invisible_length, meaning};

/// Maximum length, in bytes, of an invalid token; further bytes are dropped.
const MAX_UNKNOWN: usize = 100;

/// Maximum length, in bytes, of a comment; further bytes are dropped.
const MAX_COMMENT: usize = 1 << 14;

/// Ellipsis character that word processors insert.
const ELLIPSIS: &[u8] = "…".as_bytes();

impl<'t> Games<'t> {
    /// Reads the next part of the current game; returns `None` at the end of the game.
    pub fn next_part(&mut self) -> Option<Part<'t>> {
        if std::mem::take(&mut self.is_unclosed) {
            return Some(self.unclosed());
        }
        while self.is_open
            && let Some(&byte) = self.text.get(self.at)
        {
            let rest = self.rest();
            let part = match byte {
                b'{' => return Some(self.comment()),
                b'\n' => self.skip_line_ending(),
                b'(' => self.skip_variation(),
                // Some programs write no blank line between the moves of a game and the tags of the
                // next game.
                b'[' if is_tag(rest) => break,
                b'[' => Some(self.unknown(bracket_length(rest))),
                b'*' => self.outcome(Outcome::Unknown, 1),
                // Some programs write the next game without tags and without a preceding blank
                // line.
                b'1' if self.has_result && is_first_number(rest) => break,
                b'0'..=b'9' => self.number(),
                0..=b' ' | b'.' | b'!' | b'?' | b')' | b'}' | 0x7f => self.skip(1),
                b';' => self.skip(line_length(rest)),
                // Numeric annotation glyph (NAG).
                b'$' => self.skip(1 + digits(&rest[1..])),
                _ => self.word(),
            };
            if part.is_some() {
                return part;
            }
        }
        self.is_open = false;
        None
    }

    fn skip(&mut self, length: usize) -> Option<Part<'t>> {
        self.at += length;
        None
    }

    /// Returns the next offset at which a tag follows a blank line, or the end of the text. An
    /// unclosed comment ends at this offset, so that the comment does not include the following
    /// games; see [`end_of_quote`] for comments that contain such a tag.
    fn boundary(&mut self) -> usize {
        if let Some(boundary) = self.boundary.filter(|boundary| *boundary >= self.at) {
            return boundary;
        }
        let is_boundary = |offset: &usize| {
            let (before, line) = self.text.split_at(self.at + offset);
            before.ends_with(b"\n") && begins_tags(&line[1..])
        };
        let found = memmem::find_iter(self.rest(), b"\n[").find(is_boundary);
        *self.boundary.insert(found.map_or(self.text.len(), |offset| self.at + offset))
    }

    /// Skips a line ending and the following blank lines, or ends the game. A game ends if tags
    /// follow; after a blank line, a game also ends if move 1 follows or a result precedes.
    fn skip_line_ending(&mut self) -> Option<Part<'t>> {
        let begin = self.at;
        self.at += 1;
        match self.rest().first()? {
            b'%' => return self.skip(line_length(self.rest())),
            b'[' => self.is_open = !is_tag(self.rest()),
            byte if is_blank(*byte) || *byte == BYTE_ORDER_MARK[0] => self.skip_blank(),
            _ => {}
        }
        // A single line ending in movetext is ordinary white space.
        if newlines(&self.text[begin..self.at]) < 2 {
            return None;
        }
        let rest = self.rest();
        // In all other cases, the blank line is within a game. Editors and mail programs may insert
        // such lines.
        let is_end = rest.is_empty()
            || begins_tags(rest)
            || self.has_result
            || self.has_words && is_first_number(rest);
        if is_end {
            self.at = begin + 1;
            self.is_open = false;
        }
        None
    }

    /// Reads a comment. An unclosed comment extends to the end of the game.
    fn comment(&mut self) -> Part<'t> {
        let boundary = self.boundary();
        let length = self.comment_length(boundary);
        let after = length.map_or(boundary, |length| self.at + length);
        let end = after - usize::from(length.is_some());
        let comment = &self.text[self.at + 1..end];
        self.at = after;
        self.is_unclosed = length.is_none();
        Part::Comment(&comment[..comment.len().min(MAX_COMMENT)])
    }

    /// Returns the length, in bytes, of a comment; `None` if the comment is unclosed.
    fn comment_length(&self, boundary: usize) -> Option<usize> {
        let comment = &self.text[self.at..boundary];
        let length = memchr(b'}', comment).map(|length| length + 1);
        length.or_else(|| Some(comment.len() + end_of_quote(&self.text[boundary..])?))
    }

    fn unclosed(&mut self) -> Part<'t> {
        self.has_moves = true;
        Part::Unclosed
    }

    /// Skips a variation. An unclosed variation extends to the end of the game.
    fn skip_variation(&mut self) -> Option<Part<'t>> {
        let mut depth = 0u32;
        loop {
            let limit = self.boundary();
            let Some(byte) = self.text[..limit].get(self.at) else { return Some(self.unclosed()) };
            let rest = &self.text[self.at..limit];
            self.at += match byte {
                b'{' => self.comment_length(limit).unwrap_or(rest.len()),
                b';' => line_length(rest),
                b'%' if self.text[self.at - 1] == b'\n' => line_length(rest),
                _ => 1,
            };
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return None;
            }
        }
    }

    fn outcome(&mut self, outcome: Outcome, length: usize) -> Option<Part<'t>> {
        self.has_result = true;
        self.at += length;
        Some(Part::Outcome(outcome))
    }

    /// Reads a token that starts with a digit: a result with spaces, such as `1 - 0`, the number of
    /// a move, or another token.
    fn number(&mut self) -> Option<Part<'t>> {
        let rest = self.rest();
        if let Some((outcome, length)) = spaced_result(rest) {
            return self.outcome(outcome, length);
        }
        let digits = digits(rest);
        let after = &rest[digits..];
        let is_separate =
            after.first().is_none_or(|byte| byte.is_ascii_alphabetic() || ends_word(*byte))
                || after.starts_with(ELLIPSIS);
        let is_number = rest.starts_with(b"0.") || rest[0] != b'0' && is_separate;
        if is_number { self.skip(digits) } else { self.word() }
    }

    /// Reads a token; returns `None` for a token that does not affect the game.
    fn word(&mut self) -> Option<Part<'t>> {
        let rest = self.rest();
        if !rest[0].is_ascii() {
            let is_ellipsis = rest.starts_with(ELLIPSIS);
            let skipped = if is_ellipsis { ELLIPSIS.len() } else { invisible_length(rest) };
            if skipped > 0 {
                return self.skip(skipped);
            }
        }
        let length = word_length(rest);
        let (word, after) = rest.split_at(length);
        let (meaning, more) = match SanPlus::from_ascii(word) {
            Ok(written) if !may_promote(after) => (Meaning::Move(written.san), 0),
            _ => meaning(word, after),
        };
        match meaning {
            Meaning::Move(san) => {
                (self.has_words, self.has_moves) = (true, true);
                self.at += length + more;
                Some(Part::San(san))
            }
            Meaning::Outcome(outcome) => self.outcome(outcome, length),
            Meaning::Mark => self.skip(length + more),
            Meaning::Unknown => {
                self.has_words = true;
                // Tokens after a result, such as `White resigns`, do not belong to a move.
                if self.has_result { self.skip(length) } else { Some(self.unknown(length)) }
            }
        }
    }

    /// Reads an invalid token.
    fn unknown(&mut self, length: usize) -> Part<'t> {
        let word = self.rest()[..length].iter().copied();
        self.has_moves = true;
        self.at += length;
        Part::Unknown(word.filter(|byte| !b"{}".contains(byte)).take(MAX_UNKNOWN).collect())
    }
}

/// Returns the result with spaces at the start of a text, such as `1 - 0`, and its length in bytes.
fn spaced_result(text: &[u8]) -> Option<(Outcome, usize)> {
    fn after_spaces(text: &[u8]) -> &[u8] {
        &text[text.iter().take_while(|byte| **byte == b' ').count()..]
    }
    let dash = after_spaces(&text[1..]);
    let after = ["-", "\u{2013}", "\u{2014}", "\u{2212}"]
        .iter()
        .find_map(|written| dash.strip_prefix(written.as_bytes()))?;
    let (second, after) = after_spaces(after).split_first()?;
    let outcome = Outcome::from_ascii(&[text[0], b'-', *second]).ok()?;
    let is_whole = after.first().is_none_or(|byte| ends_word(*byte));
    is_whole.then_some((outcome, text.len() - after.len()))
}

/// Returns the number of digits at the start of a text.
fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether a text after a move may start with the promotion piece: `e8(Q)`, `e8 = Q`.
fn may_promote(after: &[u8]) -> bool {
    after.starts_with(b"(") || after.starts_with(b" =")
}

/// Returns whether a text starts with the number of White's first move.
fn is_first_number(text: &[u8]) -> bool {
    // `1...`, also with spaces, continues a game with Black's first move, for example after a
    // comment.
    let after = text.strip_prefix(b"1.").map(<[u8]>::trim_ascii_start);
    after.is_some_and(|after| !after.starts_with(b".") && !after.starts_with(ELLIPSIS))
}

/// Returns the length, in bytes, of a token. A Unicode space also ends a token.
pub(crate) fn word_length(text: &[u8]) -> usize {
    let length = text.iter().position(|byte| ends_word(*byte)).unwrap_or(text.len());
    let word = &text[..length];
    let blank = match str::from_utf8(word) {
        Ok(word) if !word.is_ascii() => word.find(char::is_whitespace),
        _ => None,
    };
    blank.unwrap_or(length)
}

/// Returns whether a byte ends a token. Every byte of the movetext is checked, so a lookup table is
/// used.
fn ends_word(byte: u8) -> bool {
    const ENDS: [bool; 256] = {
        let marks = b"\x7f{}()[!?$;.*";
        let mut ends = [false; 256];
        let mut at = 0;
        while at <= b' ' as usize {
            ends[at] = true;
            at += 1;
        }
        at = 0;
        while at < marks.len() {
            ends[marks[at] as usize] = true;
            at += 1;
        }
        ends
    };
    ENDS[usize::from(byte)]
}
