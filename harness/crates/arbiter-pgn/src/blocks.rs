//! A stream cut into blocks of whole games.

use std::io::{self, ErrorKind, Read};

use arbiter_position::PlainText;

/// Size at which a block is closed at the next game; small enough to stay in the cache of a core.
const BLOCK: usize = 1 << 20;

/// Length of the longest game accepted, in bytes; a longer one is an error. A file that is no PGN
/// would otherwise be read into memory as one game.
const MAX_GAME: usize = 64 << 20;

/// Cuts a stream where a game ends and the next one begins. Lines end with line feeds.
#[derive(Debug)]
pub struct Blocks<R> {
    source: PlainText<R>,
    /// Bytes that were read, but not handed out.
    rest: Vec<u8>,
    /// End of the source: its last byte, or an error.
    end: Option<io::Result<()>>,
}

/// Yields the blocks in order, and as the last one the error if reading fails: the text before the
/// game that cannot be read to its end comes first.
impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let mut wanted = BLOCK;
        while self.end.is_none() {
            self.fill(wanted);
            if matches!(self.end, Some(Ok(()))) {
                break;
            }
            if let Some(begin) = last_game(&self.rest) {
                let rest = self.rest.split_off(begin);
                return Some(Ok(std::mem::replace(&mut self.rest, rest)));
            }
            if wanted >= MAX_GAME && self.end.is_none() {
                let message = format!("expected games of at most {MAX_GAME} bytes");
                self.end = Some(Err(io::Error::new(ErrorKind::InvalidData, message)));
            }
            // Doubling keeps the search for the beginning of a game linear in the length of a long
            // one.
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

    /// Reads until there are `wanted` bytes.
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

/// Returns the place where the last game of a text begins, if it is not the first: at a tag `Event`
/// that begins a line, or else at any tag after an empty line.
fn last_game(text: &[u8]) -> Option<usize> {
    let find = |needle: &[u8]| memchr::memmem::rfind(text, needle);
    find(b"\n[Event ").map(|at| at + 1).or_else(|| find(b"\n\n[").map(|at| at + 2))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_whole_games_and_lose_nothing() {
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
    fn a_text_without_games_is_one_block() {
        let blocks: Vec<_> = Blocks::new(&b"nothing"[..]).map(Result::unwrap).collect();
        assert_eq!(blocks, [b"nothing"]);
        assert!(Blocks::new(&b""[..]).next().is_none());
    }
}
