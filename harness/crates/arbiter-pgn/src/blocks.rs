//! Blocks of complete games, cut from a stream.

use std::io::{self, ErrorKind, Read};

use arbiter_position::PlainText;
use memchr::{memmem, memrchr, memrchr2};

use super::blanks::{line_length, trimmed};
use super::tag_text::{MAX_QUOTE, begins_tags, end_of_quote, first_tags, known_tags};

/// Maximum size of a block, in bytes, unless one game is longer. A block of this size fits into the
/// cache of one core.
const BLOCK: usize = 1 << 20;

/// Maximum length of a game, in bytes; a longer game is an error. Without a limit, a file that is
/// not PGN would be read into memory as one game.
const MAX_GAME: usize = 64 << 20;

/// Iterator that splits a stream into blocks of complete games. Lines in the blocks end with line
/// feeds.
#[derive(Debug)]
pub struct Blocks<R> {
    source: PlainText<R>,
    /// Bytes that were read but not yet returned.
    rest: Vec<u8>,
    /// End of the source: `Ok` after the last byte, or the error that ended reading.
    end: Option<io::Result<()>>,
}

/// Yields the blocks in order. If reading fails, the last item is the error, after all games that
/// were read completely.
impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let mut wanted = BLOCK;
        while self.end.is_none() {
            self.fill(wanted);
            if matches!(self.end, Some(Ok(()))) {
                break;
            }
            // A comment may contain the tags of a game. The end of such a comment is within this
            // length.
            let unsearched = if self.end.is_none() { MAX_QUOTE } else { 0 };
            let searched = self.rest.len().saturating_sub(unsearched);
            if let Some(begin) = last_game(&self.rest, searched) {
                let rest = self.rest.split_off(begin);
                return Some(Ok(std::mem::replace(&mut self.rest, rest)));
            }
            if wanted >= MAX_GAME && self.end.is_none() {
                let message = format!("expected games of at most {MAX_GAME} bytes");
                self.end = Some(Err(io::Error::new(ErrorKind::InvalidData, message)));
            }
            // The size is doubled, so that the time to find the end of a long game is linear in the
            // length of the game.
            wanted *= 2;
        }
        let rest = std::mem::take(&mut self.rest);
        match self.end.replace(Ok(())) {
            Some(Err(error)) => Some(Err(error)),
            _ if rest.is_empty() => None,
            _ => Some(Ok(rest)),
        }
    }
}

impl<R: Read> Blocks<R> {
    /// Returns the blocks of `source`.
    pub fn new(source: R) -> Blocks<R> {
        Blocks { source: PlainText::new(source), rest: Vec::new(), end: None }
    }

    /// Reads until the buffer contains `wanted` bytes or the source ends.
    fn fill(&mut self, wanted: usize) {
        let missing = wanted.saturating_sub(self.rest.len());
        self.rest.reserve(missing);
        match (&mut self.source).take(missing as u64).read_to_end(&mut self.rest) {
            Ok(read) if read == missing => {}
            Ok(_) => self.end = Some(Ok(())),
            Err(error) => self.end = Some(Err(error)),
        }
    }
}

/// Returns the offset of the last game in a text; only the first `searched` bytes are searched for
/// tags. Returns `None` if this game is the first game. A game begins at the first of the tags
/// around an `Event` tag at the start of a line. If no line starts with an `Event` tag, a game
/// begins at the first of the tags around a tag after a blank line.
fn last_game(text: &[u8], searched: usize) -> Option<usize> {
    let searched = &text[..searched];
    let events = memmem::rfind_iter(searched, b"\n[Event ").map(|at| at + 1);
    let after_blank = || {
        let places = memmem::rfind_iter(searched, b"\n\n[").map(|at| at + 2);
        first_outside_comments(text, places.filter(|at| begins_tags(&text[*at..])))
    };
    let found = first_outside_comments(text, events).or_else(after_blank)?;
    // The tag may have any place among the tags of a game, and blank lines may separate the tags.
    let (mut begin, mut at) = (found, found);
    // Tags of the current group without blank lines, and place and tags of the following group.
    let (mut names, mut later) = (first_tags(&text[found..]), (found, 0));
    while at > 0 {
        at = memrchr(b'\n', &text[..at - 1]).map_or(0, |end| end + 1);
        let line = &text[at..][..line_length(&text[at..])];
        if begins_tags(line) {
            let name = known_tags(std::iter::once(line));
            // A second `Event` tag begins a game, so the tags before this tag belong to an earlier
            // game. So does a group that repeats a tag.
            if line.starts_with(b"[Event ") && names & name != 0 {
                return Some(found);
            }
            (begin, names) = (at, names | name);
            if names & later.1 != 0 {
                return Some(later.0);
            }
        } else if !trimmed(line).is_empty() {
            break;
        } else if names != 0 {
            (later, names) = ((begin, names), 0);
        }
    }
    Some(begin).filter(|begin| *begin > 0)
}

/// Returns the first offset in `places` that is not in a comment; `places` must be in descending
/// order.
fn first_outside_comments(text: &[u8], places: impl Iterator<Item = usize>) -> Option<usize> {
    let mut comment = text.len();
    for at in places {
        // Each comment is searched only once, however many tags it contains.
        if at > comment {
            continue;
        }
        let brace = end_of_quote(&text[at..]).and_then(|_| memrchr2(b'{', b'}', &text[..at]));
        match brace.filter(|brace| text[*brace] == b'{') {
            Some(begin) => comment = begin,
            None => return Some(at),
        }
    }
    None
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn blocks_contain_complete_games_and_lose_nothing() {
        let game = |n: usize, end: &str| {
            format!("[Event \"{n}\"]{end}{end}1. e4 {{{}}} *{end}{end}", "x".repeat(n % 5000))
        };
        for end in ["\n", "\r\n"] {
            let text: String = (0..4000).map(|n| game(n, end)).collect();
            let mut joined = Vec::new();
            let mut number = 0;
            for block in Blocks::new(text.as_bytes()).map(Result::unwrap) {
                assert!(block.starts_with(b"[Event"));
                assert!(block.len() <= BLOCK);
                joined.extend_from_slice(&block);
                number += 1;
            }
            assert!(number > 1);
            assert!(joined == text.replace("\r\n", "\n").as_bytes());
        }
    }

    #[test]
    fn blocks_begin_with_the_first_tag_of_a_game() {
        for (text, expected) in [
            ("[White \"a\"]\n\n*\n\n[White \"b\"]\n[Event \"c\"]\n", Some(16)),
            ("[White \"a\"]\n\n*\n\n[White \"b\"]\n\n[Black \"c\"]\n", Some(16)),
            ("[White \"a\"]\n\n*\n\n[White \"b\"]\n\n1. e4 {\n\n[%eval 1]} *", Some(16)),
            ("[Event \"a\"]\n[White \"b\"]\n[Event \"c\"]\n", Some(24)),
            ("[White \"a\"]\n[Event \"b\"]\n", None),
            ("[White \"a\"]\n[Black \"b\"]\n\n[White \"c\"]\n[Black \"d\"]\n", Some(25)),
            ("[Event \"a\"]\n\n[White \"c\"]\n[Event \"d\"]\n", Some(13)),
            ("1. e4 {\n\n[%eval 1]} *", None),
            ("*\n\n[Event \"a\"]\n\n1. e4 {\n\n[Event \"b\"]\n[Event \"c\"]\n} *", Some(3)),
            ("*\n\n[White \"a\"]\n\n1. e4 {\n\n[White \"b\"]\n} *", Some(3)),
            ("1. e4 {\n\n[Event \"a\"]\n\n1. e4 {} *", Some(9)),
        ] {
            assert_eq!(last_game(text.as_bytes(), text.len()), expected, "{text}");
        }
    }

    #[test]
    fn a_text_without_games_is_one_block() {
        let blocks: Vec<_> = Blocks::new(&b"nothing"[..]).map(Result::unwrap).collect();
        assert_eq!(blocks, [b"nothing"]);
        assert!(Blocks::new(&b""[..]).next().is_none());
    }
}
