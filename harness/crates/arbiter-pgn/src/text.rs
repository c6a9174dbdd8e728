//! PGN text in normal form, the form that `pgn-reader` reads without loss.
//!
//! `pgn-reader` ends a game at each blank line and skips unknown tokens. In normal form, a game
//! therefore contains no blank lines between moves, and unknown tokens are in comments. Each tag is
//! on one line, and each comment is closed. Text that already has this form is not copied.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memmem};
use shakmaty::san::SanPlus;

use super::blanks::{is_blank, line_length, plain_blanks};
use super::tag_text::{
    EVENT, begins_tags, end_of_quote, first_tags, is_tag, known_tags, odd_tag, plain_tag, tag_name,
};
use super::words::{Meaning, meaning};

/// Maximum length, in bytes, of an invalid token that is passed to the visitor.
const MAX_UNKNOWN: usize = 100;

/// Ellipsis character that word processors insert.
const ELLIPSIS: &[u8] = "…".as_bytes();

/// Token that is passed to [`GameVisitor::unknown`](super::GameVisitor::unknown) for a missing end
/// of a comment or variation. A brace cannot be part of a token, so no token in a file equals this
/// token.
pub const UNCLOSED: &[u8] = b"{";

/// First byte of a comment that contains an invalid token. The reader skips invalid tokens but
/// passes comments to the visitor.
pub(crate) const UNKNOWN: u8 = 0;

/// Comment that reports a missing end to the visitor, as an invalid token.
const UNCLOSED_COMMENT: &[u8] = &[b'{', UNKNOWN, UNCLOSED[0], b'}'];

/// Complete games in normal form.
#[derive(Debug)]
pub struct Text<'t> {
    pub(crate) bytes: Cow<'t, [u8]>,
    /// Offsets, in bytes, of the line endings that were added.
    pub(crate) added: Vec<usize>,
}

impl Text<'_> {
    /// Converts complete games, a block of [`Blocks`](super::Blocks), into normal form.
    pub fn new(text: &[u8]) -> Text<'_> {
        let plain = plain_blanks(text);
        let mut games = Normalizer { text: &plain, ..Normalizer::default() };
        while games.at < plain.len() {
            games.tags();
            games.movetext();
        }
        let Normalizer { mut out, copied, added, .. } = games;
        if copied == 0 && out.is_empty() {
            // Most files already have the normal form, and copying a file would take as long as
            // reading the file.
            return Text { bytes: plain, added };
        }
        out.extend_from_slice(&plain[copied..]);
        Text { bytes: Cow::Owned(out), added }
    }
}

#[derive(Default)]
struct Normalizer<'t> {
    text: &'t [u8],
    at: usize,
    /// Normal form of the text before the offset `copied`.
    out: Vec<u8>,
    copied: usize,
    added: Vec<usize>,
    /// Offset that [`Normalizer::boundary`] last returned.
    boundary: Option<usize>,
    has_tags: bool,
    /// `true` if the game has a move or an unknown token.
    has_words: bool,
    has_result: bool,
}

impl<'t> Normalizer<'t> {
    fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Replaces a part of the text by `with` and moves to the end of the part.
    fn replace(&mut self, part: Range<usize>, with: &[u8]) {
        self.out.extend_from_slice(&self.text[self.copied..part.start]);
        self.out.extend_from_slice(with);
        (self.copied, self.at) = (part.end, part.end);
    }

    /// Removes a part of the text but keeps the line endings in this part, without creating blank
    /// lines.
    fn drop_but_lines(&mut self, part: Range<usize>) {
        // Messages contain line numbers, so the number of line endings must not change. A space
        // before each line ending, including a line ending directly after the part, prevents blank
        // lines. A blank line would end the game.
        let lines = newlines(&self.text[part.clone()]);
        self.replace(part, (" \n".repeat(lines) + " ").as_bytes());
    }

    /// Ends a game at the current offset by inserting `ending`.
    fn split(&mut self, ending: &[u8]) {
        let place = self.out.len() + self.at - self.copied;
        self.added.extend(memchr_iter(b'\n', ending).map(|offset| place + offset));
        self.replace(self.at..self.at, ending);
    }

    /// Returns the offset of the next `Event` tag, or of the next blank line before another tag, or
    /// the end of the text. An unclosed comment ends at this offset, so that the comment does not
    /// include the following games; see [`end_of_quote`] for comments that contain such a tag.
    #[inline]
    fn boundary(&mut self) -> usize {
        if let Some(boundary) = self.boundary.filter(|boundary| *boundary >= self.at) {
            return boundary;
        }
        self.find_boundary()
    }

    fn find_boundary(&mut self) -> usize {
        let is_boundary = |offset: &usize| {
            let (before, line) = self.text.split_at(self.at + offset);
            before.ends_with(b"\n") && begins_tags(&line[1..])
        };
        let rest = self.rest();
        let found = memmem::find_iter(rest, b"\n[").find(is_boundary).unwrap_or(rest.len());
        // A file that was cut within a comment may continue with the next file on the same line.
        let found = memmem::find(&rest[..found], EVENT).unwrap_or(found);
        *self.boundary.insert(self.at + found)
    }

    /// Skips the tags of a game.
    fn tags(&mut self) {
        let mut has_event = false;
        self.has_tags = false;
        // Set of the tags of this game before the offset `listed`.
        let (mut names, mut listed) = (0, self.at);
        loop {
            let begin = self.at;
            self.skip_blank();
            self.drop_odd_blanks(begin);
            let rest = self.rest();
            match rest.first() {
                Some(b'[') => {}
                Some(b';') => {
                    // The reader would end the tags at a comment.
                    self.replace(self.at..self.at + line_length(rest), b"");
                    continue;
                }
                _ => return,
            }
            if newlines(&self.text[begin..self.at]) > 1 {
                let earlier = &self.text[std::mem::replace(&mut listed, self.at)..self.at];
                names |= known_tags(earlier.split(|byte| *byte == b'\n'));
            }
            // In PGN, an `Event` tag starts each game, so a second `Event` tag belongs to the next
            // game. So do tags after a blank line if one of them repeats a tag of this game.
            let name = tag_name(rest).map(|(name, _)| name);
            let is_event = name.is_some_and(|name| name.eq_ignore_ascii_case(b"Event"));
            if is_event && has_event || listed == self.at && names & first_tags(rest) != 0 {
                // The preceding game has no moves. A full stop, which has no meaning in PGN,
                // becomes the movetext of this game.
                self.split(b".\n");
                (has_event, names, listed) = (false, 0, self.at);
            }
            has_event |= is_event;
            self.has_tags = true;
            match plain_tag(rest) {
                Some(length) => self.at += length,
                None => self.odd_tag(),
            }
        }
    }

    /// Skips white space and escaped lines, which start with `%`.
    fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let begins_line = self.at == 0 || self.text[self.at - 1] == b'\n';
            self.at += match rest.first() {
                Some(b'%') if begins_line => line_length(rest),
                Some(byte) if is_blank(*byte) => 1,
                _ => return,
            };
        }
    }

    /// Removes everything except line endings between `begin` and the current offset, if
    /// `pgn-reader` would not skip this text.
    fn drop_odd_blanks(&mut self, begin: usize) {
        let blanks = &self.text[begin..self.at];
        if !blanks.iter().all(|byte| b" \t\n".contains(byte)) {
            let lines = newlines(blanks);
            self.replace(begin..self.at, "\n".repeat(lines).as_bytes());
        }
    }

    /// Skips a tag that the reader would misread, and replaces the tag by a tag in standard form.
    fn odd_tag(&mut self) {
        let rest = self.rest();
        let Some(tag) = odd_tag(rest) else {
            return self.replace(self.at..self.at + bracket_length(rest), b"");
        };
        let mut text = [b"[", tag.name, b" \""].concat();
        for &byte in &tag.value {
            match byte {
                b'\n' => text.push(b' '),
                // PGN escapes these two characters with a backslash.
                b'"' | b'\\' => text.extend([b'\\', byte]),
                _ => text.push(byte),
            }
        }
        text.extend_from_slice(b"\"]");
        // The line endings within the tag are written after the tag, so that the numbers of the
        // following lines do not change.
        text.extend(std::iter::repeat_n(b'\n', newlines(&rest[..tag.length])));
        self.replace(self.at..self.at + tag.length, &text);
    }

    /// Skips the moves of a game.
    fn movetext(&mut self) {
        (self.has_words, self.has_result) = (false, false);
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b' ' | b'\t' | b'.' | b'!' | b'?' | b')' => self.at += 1,
                b'{' => self.comment(),
                b'\n' if self.ends_game() => return,
                b'\n' => {}
                b';' => self.at += line_length(self.rest()),
                b'(' => self.variation(),
                // Some programs write no blank line between the moves of a game and the tags of the
                // next game.
                b'[' if is_tag(self.rest()) => return self.split(b"\n"),
                b'[' => self.unknown(bracket_length(self.rest())),
                b'$' => self.glyph(),
                b'*' => {
                    self.has_result = true;
                    self.at += 1;
                }
                // Some programs write the next game without tags and without a preceding blank
                // line, and lists of openings have one game per line.
                b'1' if (self.has_result || self.begins_opening())
                    && is_first_number(self.rest()) =>
                {
                    return self.split(b"\n\n");
                }
                0..b' ' | 0x7f | b'}' => self.replace(self.at..self.at + 1, b" "),
                b'0' if self.rest().starts_with(b"0.5-0.5") => {
                    self.has_result = true;
                    self.replace(self.at..self.at + 7, b"1/2-1/2");
                }
                b'0' | b'1' if self.is_past_result() => {}
                b'0'..=b'9' if self.is_past_number() => {}
                _ => match short_move(self.rest()) {
                    Some(length) => {
                        self.has_words = true;
                        self.at += length;
                    }
                    None => self.word(),
                },
            }
        }
    }

    /// Skips a line ending and the following blank lines. Returns whether the game ends at this
    /// point. A game ends if tags follow; after a blank line, a game also ends if move 1 follows or
    /// a result precedes.
    fn ends_game(&mut self) -> bool {
        let begin = self.at;
        self.at += 1;
        match self.rest().first() {
            Some(b'%') => {
                self.at += line_length(self.rest());
                return false;
            }
            Some(b'[') => return is_tag(self.rest()),
            Some(byte) if is_blank(*byte) => {}
            _ => return false,
        }
        self.skip_blank();
        let blanks = &self.text[begin..self.at];
        if newlines(blanks) < 2 {
            // A single line ending in movetext is ordinary white space.
            self.at = begin + 1;
            return false;
        }
        let rest = self.rest();
        if rest.is_empty() {
            return true;
        }
        // In all other cases, the blank line is within a game. Editors and mail programs may insert
        // such lines.
        if begins_tags(rest) || self.has_result || self.has_words && is_first_number(rest) {
            // The reader requires a blank line without any spaces.
            if !blanks[1..].starts_with(b"\n") {
                self.replace(begin..self.at, "\n".repeat(newlines(blanks)).as_bytes());
            }
            self.drop_odd_blanks(begin.max(self.copied));
            return true;
        }
        self.drop_but_lines(begin..self.at);
        false
    }

    /// Returns whether the current offset is the start of a line after a game without tags.
    fn begins_opening(&self) -> bool {
        self.has_words && !self.has_tags && self.text[..self.at].ends_with(b"\n")
    }

    /// Skips a comment. An unclosed comment extends to the end of the game.
    fn comment(&mut self) {
        let boundary = self.boundary();
        match self.comment_length(boundary) {
            Some(length) => self.at += length,
            // The first brace ends the comment. A second comment then reports the missing end to
            // the visitor.
            None => self.replace(boundary..boundary, &[b"}", UNCLOSED_COMMENT].concat()),
        }
    }

    /// Returns the length, in bytes, of a comment; `None` if the comment is unclosed.
    fn comment_length(&self, boundary: usize) -> Option<usize> {
        let comment = &self.text[self.at..boundary];
        let length = memchr(b'}', comment).map(|length| length + 1);
        length.or_else(|| Some(comment.len() + end_of_quote(&self.text[boundary..])?))
    }

    /// Skips a variation, and removes the variation if the reader would end the game within the
    /// variation. An unclosed variation extends to the end of the game.
    fn variation(&mut self) {
        let begin = self.at;
        let mut depth = 0u32;
        loop {
            let limit = self.boundary();
            let Some(byte) = self.text[..limit].get(self.at) else { break };
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
                break;
            }
        }
        let part = begin..self.at;
        let ends_game = |end: &&[u8]| memmem::find(&self.text[part.clone()], end).is_some();
        if depth > 0 {
            self.drop_but_lines(part);
            self.replace(self.at..self.at, UNCLOSED_COMMENT);
        } else if [&b"\n\n"[..], b"\n["].iter().any(ends_game) {
            // The reader skips variations, but ends the game at a blank line or a tag, even within
            // a variation.
            self.drop_but_lines(part);
        }
    }

    /// Skips a numeric annotation glyph (NAG), and separates the glyph from a directly following
    /// token.
    fn glyph(&mut self) {
        let digits = self.rest()[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += 1 + digits;
        if self.rest().first().is_some_and(|byte| !ends_word(*byte) || *byte == b'[') {
            self.replace(self.at..self.at, b" ");
        }
    }

    /// Skips a number and the full stops after it, unless the number is part of another token.
    /// Returns whether a number was skipped.
    fn is_past_number(&mut self) -> bool {
        let rest = self.rest();
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let after = &rest[digits..];
        let is_number = match after.first() {
            // Castling and null moves may be written with zeros only.
            first if rest[0] == b'0' => first == Some(&b'.'),
            None => true,
            Some(first) => {
                first.is_ascii_alphabetic() || ends_word(*first) || after.starts_with(ELLIPSIS)
            }
        };
        if is_number {
            let stops = after.iter().take_while(|byte| matches!(byte, b'.' | b' ')).count();
            self.at += digits + stops;
        }
        is_number
    }

    /// Skips a result with spaces, such as `1 - 0`, and replaces the result by its normal form.
    /// Returns whether a result was skipped.
    fn is_past_result(&mut self) -> bool {
        let rest = self.rest();
        let is_between = |byte: &&u8| matches!(byte, b' ' | b'-' | b':' | 0x80..);
        let between = rest[1..].iter().take(10).take_while(is_between).count();
        let is_written = matches!(rest.get(1 + between), Some(b'0' | b'1'))
            && rest[1..=between].contains(&b' ')
            && rest.get(2 + between).is_none_or(|byte| ends_word(*byte));
        if !is_written {
            return false;
        }
        let written = &rest[..2 + between];
        let word: Vec<u8> = written.iter().copied().filter(|byte| *byte != b' ').collect();
        let Meaning::Outcome(outcome) = meaning(&word, b"").0 else { return false };
        self.has_result = true;
        self.replace(self.at..self.at + written.len(), outcome.as_bytes());
        true
    }

    /// Skips a token, and replaces a token that is not in normal form.
    fn word(&mut self) {
        let rest = self.rest();
        let length = word_length(rest);
        let (word, after) = rest.split_at(length);
        if !may_promote(after) && SanPlus::from_ascii(word).is_ok() {
            self.has_words = true;
            self.at += length;
            return;
        }
        let (meaning, more) = meaning(word, after);
        let part = self.at..self.at + length + more;
        self.has_words |= matches!(meaning, Meaning::Move(_) | Meaning::Unknown);
        self.has_result |= matches!(meaning, Meaning::Outcome(_));
        match meaning {
            Meaning::Move(san) => self.replace(part, format!("{san} ").as_bytes()),
            Meaning::Outcome(outcome) if outcome.as_bytes() != word => {
                self.replace(part, outcome.as_bytes());
            }
            Meaning::Outcome(_) | Meaning::Mark => self.at = part.end,
            Meaning::Unknown => self.unknown(length),
        }
    }

    /// Replaces an invalid token by a comment that contains the token, or removes the token if it
    /// does not belong to a move: a token after a result, such as `White resigns` or `[/pgn]`, or
    /// an annotation in brackets, such as `[]`.
    fn unknown(&mut self, length: usize) {
        let word = &self.rest()[..length];
        if self.has_result || word.iter().all(u8::is_ascii_punctuation) {
            return self.replace(self.at..self.at + length, b" ");
        }
        // A brace would end the comment.
        let harmless = word.iter().filter(|byte| !b"{}".contains(byte)).take(MAX_UNKNOWN).copied();
        let comment: Vec<u8> = b" {\0".iter().copied().chain(harmless).chain([b'}']).collect();
        self.replace(self.at..self.at + length, &comment);
    }
}

/// Returns the length, in bytes, of a move in one of the most common forms, which need no parser.
fn short_move(text: &[u8]) -> Option<usize> {
    let square = match text {
        [b'a'..=b'h', b'1'..=b'8', ..] => 2,
        [b'N' | b'B' | b'R' | b'Q' | b'K', b'a'..=b'h', b'1'..=b'8', ..] => 3,
        [b'a'..=b'h' | b'N' | b'B' | b'R' | b'Q' | b'K', b'x', b'a'..=b'h', b'1'..=b'8', ..] => 4,
        _ => return None,
    };
    let length = square + usize::from(matches!(text.get(square), Some(b'+' | b'#')));
    let is_whole = text.get(length).is_none_or(|byte| ends_word(*byte));
    (is_whole && !may_promote(&text[length..])).then_some(length)
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

/// Returns the length, in bytes, of a token.
pub(crate) fn word_length(text: &[u8]) -> usize {
    text.iter().position(|byte| ends_word(*byte)).unwrap_or(text.len())
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

/// Returns the length, in bytes, of a text in brackets. An unclosed bracket ends at the end of the
/// line.
fn bracket_length(text: &[u8]) -> usize {
    let line = line_length(text);
    memchr(b']', &text[..line]).map_or(line, |end| end + 1)
}

pub(crate) fn newlines(text: &[u8]) -> usize {
    memchr_iter(b'\n', text).count()
}
