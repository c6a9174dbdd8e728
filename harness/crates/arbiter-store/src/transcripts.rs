//! What was said in games.

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use rusqlite::{Connection, OptionalExtension, params};

use super::{Store, StoreError};
use arbiter_game::transcript::Transcript;

/// Adds the transcript of a game. Packed, as most of it is the same words again and again.
pub(super) fn insert(
    connection: &Connection,
    run: &str,
    pair: u64,
    half: usize,
    transcript: &Transcript,
) -> rusqlite::Result<()> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
    // Writing to memory cannot fail.
    let _ = packer.write_all(transcript.to_string().as_bytes());
    let packed = packer.finish().unwrap_or_default();
    connection
        .prepare_cached(
            "INSERT INTO transcripts (run, pair, half, transcript) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![run, pair, half, packed])
        .map(drop)
}

impl Store {
    /// What was said in a game, if it was kept.
    pub(crate) fn transcript(
        &self,
        run: &str,
        pair: u64,
        half: usize,
    ) -> Result<Option<Transcript>, StoreError> {
        let packed: Option<Vec<u8>> = self
            .connection
            .query_row(
                "SELECT transcript FROM transcripts WHERE run = ?1 AND pair = ?2 AND half = ?3",
                params![run, pair, half],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| self.sqlite(e))?;
        let Some(packed) = packed else { return Ok(None) };
        let mut text = String::new();
        let unpacked = ZlibDecoder::new(&packed[..]).read_to_string(&mut text);
        let read = unpacked.map_err(|e| e.to_string()).and_then(|_| text.parse());
        read.map(Some).map_err(|e| self.corrupt(run, format!("transcript of pair {pair}: {e}")))
    }

    /// The games of a run whose transcripts are kept: pair and half, in the order of the schedule.
    pub fn transcribed(&self, run: &str) -> Result<Vec<(u64, usize)>, StoreError> {
        let read = || -> rusqlite::Result<Vec<(u64, usize)>> {
            let mut statement = self
                .connection
                .prepare("SELECT pair, half FROM transcripts WHERE run = ?1 ORDER BY pair, half")?;
            statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(|e| self.sqlite(e))
    }
}
