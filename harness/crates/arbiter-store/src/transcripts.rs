//! Transcripts of games.

use std::io::Read;

use flate2::read::ZlibDecoder;
use rusqlite::params;

use super::{Result, Store};
use arbiter_game::transcript::Transcript;

/// Maximum length of a transcript that is read, in bytes. A longer transcript is truncated, and the
/// incomplete last line causes an error.
const MAX_BYTES: u64 = 256 << 20;

impl Store {
    /// Returns the transcript of a game; `None` if no transcript was stored.
    pub(crate) fn transcript(&self, run: &str, game: (u64, usize)) -> Result<Option<Transcript>> {
        let (pair, half) = game;
        let select =
            "SELECT transcript FROM transcripts WHERE run = ?1 AND pair = ?2 AND half = ?3";
        let packed: Option<Vec<u8>> =
            self.row(select, params![run, pair, half], |row| row.get(0))?;
        let Some(packed) = packed else { return Ok(None) };
        let mut text = String::new();
        // A small value in a store from an untrusted source may expand to an unbounded size.
        let unpacked = ZlibDecoder::new(&packed[..]).take(MAX_BYTES).read_to_string(&mut text);
        let read = unpacked.map_err(|e| e.to_string()).and_then(|_| text.parse());
        read.map(Some).map_err(|e| self.corrupt(run, format!("transcript of pair {pair}: {e}")))
    }

    /// Returns the games of a run that have stored transcripts, in schedule order. Each game is
    /// given as the number of the pair and the index of the game in the pair, both from 0.
    pub fn transcribed(&self, run: &str) -> Result<Vec<(u64, usize)>> {
        let select = "SELECT pair, half FROM transcripts WHERE run = ?1 ORDER BY pair, half";
        self.rows(select, [run], |row| row.try_into())
    }
}
