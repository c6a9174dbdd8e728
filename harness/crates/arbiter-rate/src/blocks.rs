//! A stream cut into blocks of whole games.

use std::io::{self, Read};

/// Size at which a block is closed at the next game.
const BLOCK: usize = 4 << 20;

/// Longest game accepted, in bytes; what is longer is no game.
const MAX_GAME: usize = 64 << 20;

/// Cuts a stream where a game ends and the next one begins.
pub(crate) struct Blocks<R> {
    source: R,
    /// Read, but not handed out.
    rest: Vec<u8>,
    is_done: bool,
}

impl<R: Read> Blocks<R> {
    /// Blocks of `source`.
    pub(crate) fn new(source: R) -> Blocks<R> {
        Blocks { source, rest: Vec::new(), is_done: false }
    }

    /// The next block; `None` at the end.
    pub(crate) fn next_block(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut wanted = BLOCK;
        while !self.is_done {
            self.fill(wanted)?;
            if self.is_done {
                break;
            }
            if let Some(end) = last_boundary(&self.rest) {
                let rest = self.rest.split_off(end);
                return Ok(Some(std::mem::replace(&mut self.rest, rest)));
            }
            if wanted >= MAX_GAME {
                let message = format!("expected games of at most {MAX_GAME} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            wanted *= 2;
        }
        Ok(Some(std::mem::take(&mut self.rest)).filter(|block| !block.is_empty()))
    }

    /// Reads until there are `wanted` bytes.
    fn fill(&mut self, wanted: usize) -> io::Result<()> {
        let missing = wanted.saturating_sub(self.rest.len());
        self.rest.reserve(missing);
        let read = (&mut self.source).take(missing as u64).read_to_end(&mut self.rest)?;
        self.is_done = read < missing;
        Ok(())
    }
}

/// Where the last game of `text` begins, if it is not the first: at a tag after an empty line.
fn last_boundary(text: &[u8]) -> Option<usize> {
    let after = |start: usize, needle: &[u8]| {
        memchr::memmem::rfind(&text[start..], needle).map(|at| start + at + needle.len() - 1)
    };
    // Files end lines one way: a whole search for the other would find nothing.
    let found = after(0, b"\n\n[");
    after(found.unwrap_or(0), b"\n\r\n[").or(found)
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
            let mut blocks = Blocks::new(text.as_bytes());
            let mut joined = Vec::new();
            let mut number = 0;
            while let Some(block) = blocks.next_block().unwrap() {
                assert!(block.starts_with(b"[Event"));
                assert!(block.len() <= BLOCK);
                joined.extend_from_slice(&block);
                number += 1;
            }
            assert!(number > 1);
            assert!(joined == text.as_bytes());
        }
    }

    #[test]
    fn a_text_without_games_is_one_block() {
        let mut blocks = Blocks::new(&b"nothing"[..]);
        assert_eq!(blocks.next_block().unwrap().unwrap(), b"nothing");
        assert_eq!(blocks.next_block().unwrap(), None);
        assert_eq!(Blocks::new(&b""[..]).next_block().unwrap(), None);
    }
}
