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

/// The blocks in order, and as the last one the error if reading fails.
impl<R: Read> Iterator for Blocks<R> {
    type Item = io::Result<Vec<u8>>;

    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let block = self.next_block();
        if block.is_err() {
            self.is_done = true;
            self.rest.clear();
        }
        block.map(|block| Some(block).filter(|block| !block.is_empty())).transpose()
    }
}

impl<R: Read> Blocks<R> {
    /// Blocks of `source`.
    pub(crate) fn new(source: R) -> Blocks<R> {
        Blocks { source, rest: Vec::new(), is_done: false }
    }

    /// The next block; empty at the end.
    fn next_block(&mut self) -> io::Result<Vec<u8>> {
        let mut wanted = BLOCK;
        while !self.is_done {
            self.fill(wanted)?;
            if self.is_done {
                break;
            }
            if let Some(end) = last_boundary(&self.rest) {
                let rest = self.rest.split_off(end);
                return Ok(std::mem::replace(&mut self.rest, rest));
            }
            if wanted >= MAX_GAME {
                let message = format!("expected games of at most {MAX_GAME} bytes");
                return Err(io::Error::new(io::ErrorKind::InvalidData, message));
            }
            wanted *= 2;
        }
        Ok(std::mem::take(&mut self.rest))
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
            let mut joined = Vec::new();
            let mut number = 0;
            for block in Blocks::new(text.as_bytes()).map(Result::unwrap) {
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
        let blocks: Vec<_> = Blocks::new(&b"nothing"[..]).map(Result::unwrap).collect();
        assert_eq!(blocks, [b"nothing"]);
        assert!(Blocks::new(&b""[..]).next().is_none());
    }
}
