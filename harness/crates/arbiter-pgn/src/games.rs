//! Reader of the games in a text.

use shakmaty::Outcome;
use shakmaty::san::San;

use super::blanks::{is_blank, line_length, newlines};
use super::tag_text::{bracket_length, first_tags, known_tags, tag};
use super::tags::Tags;

pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Part of a game, except tags and variations.
#[derive(Debug)]
pub enum Part<'t> {
    /// Move, as written in the game.
    San(San),
    /// Token that is not PGN, without braces and at most 100 bytes.
    Unknown(Vec<u8>),
    /// Missing end of a comment or variation.
    Unclosed,
    /// Comment in braces, at most 16 KiB.
    Comment(&'t [u8]),
    /// Result at the end of the moves.
    Outcome(Outcome),
}

/// Reader of the games in a text. [`next_game`](Games::next_game) reads the tags of a game, and
/// [`next_part`](Games::next_part) the parts after the tags.
#[derive(Debug, Default)]
pub struct Games<'t> {
    pub(crate) text: &'t [u8],
    pub(crate) at: usize,
    tags: Tags,
    /// Offset of the current game, in bytes; `lines_before` is the number of lines before this
    /// offset.
    begin: usize,
    lines_before: u64,
    /// Offset that [`Games::boundary`] last returned.
    pub(crate) boundary: Option<usize>,
    /// `true` if the game may have further parts.
    pub(crate) is_open: bool,
    /// `true` if the end of the last comment is missing, and this is not reported yet.
    pub(crate) is_unclosed: bool,
    /// `true` if the game has a move, an unknown token or a missing end.
    pub(crate) has_moves: bool,
    /// `true` if the game has a move or an unknown token outside brackets.
    pub(crate) has_words: bool,
    pub(crate) has_result: bool,
}

impl<'t> Games<'t> {
    /// Creates a reader that starts at the first game. The lines of `text` must end with line
    /// feeds.
    pub fn new(text: &'t [u8]) -> Games<'t> {
        Games { text, ..Games::default() }
    }

    /// Reads the tags of the next game, after the rest of the current game. Returns `false` if the
    /// text contains no further game.
    pub fn next_game(&mut self) -> bool {
        while self.next_part().is_some() {}
        (self.has_moves, self.has_words, self.has_result) = (false, false, false);
        self.read_tags();
        self.tags.any || self.at < self.text.len()
    }

    /// Returns `false` if the parts so far are only a comment or a result, which do not count as a
    /// game.
    pub fn is_game(&self) -> bool {
        self.tags.any || self.has_moves
    }

    /// Returns the tags of the current game.
    pub fn tags(&self) -> &Tags {
        &self.tags
    }

    /// Returns the first line of the current game, counted from 0 in the text.
    pub fn first_line(&self) -> u64 {
        self.lines_before
    }

    /// Returns the line of the last part that was read, or at which the game ended, counted from 0
    /// in the text.
    pub fn last_line(&self) -> u64 {
        self.lines_before + newlines(&self.text[self.begin..self.at]) as u64
    }

    pub(crate) fn rest(&self) -> &'t [u8] {
        &self.text[self.at..]
    }

    /// Reads the tags of a game, up to the movetext or the next game.
    fn read_tags(&mut self) {
        self.tags.clear();
        self.is_open = true;
        let mut first = None;
        let mut has_event = false;
        // Set of the tags of this game before the offset `listed`.
        let (mut names, mut listed) = (0, self.at);
        loop {
            let begin = self.at;
            self.skip_blank();
            let rest = self.rest();
            match rest.first() {
                Some(b'[') => {}
                Some(b';') => {
                    self.at += line_length(rest);
                    continue;
                }
                _ => break,
            }
            if newlines(&self.text[begin..self.at]) > 1 {
                let earlier = &self.text[std::mem::replace(&mut listed, self.at)..self.at];
                names |= known_tags(earlier.split(|byte| *byte == b'\n'));
            }
            // In PGN, an `Event` tag starts each game, so a second `Event` tag belongs to the next
            // game. So do tags after a blank line if one of them repeats a tag of this game.
            let is_event = rest.starts_with(b"[Event ");
            let repeats = || names != 0 && listed == self.at && names & first_tags(rest) != 0;
            if is_event && has_event || repeats() {
                // This game has no moves.
                self.is_open = false;
                break;
            }
            has_event |= is_event;
            let Some(tag) = tag(rest) else {
                self.at += bracket_length(rest);
                continue;
            };
            first.get_or_insert(self.at);
            self.tags.set(tag.name, &tag.value);
            self.at += tag.length;
        }
        let begin = first.unwrap_or(self.at);
        self.lines_before += newlines(&self.text[self.begin..begin]) as u64;
        self.begin = begin;
    }

    /// Skips white space, byte order marks and escaped lines, which start with `%`.
    pub(crate) fn skip_blank(&mut self) {
        loop {
            let rest = self.rest();
            let begins_line = self.at == 0 || self.text[self.at - 1] == b'\n';
            self.at += match rest.first() {
                Some(b'%') if begins_line => line_length(rest),
                Some(byte) if is_blank(*byte) => 1,
                _ if rest.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len(),
                _ => return,
            };
        }
    }
}
