//! Checksums of runs, pairs and games, to detect damage when rows are read.
//!
//! An SQL function computes the checksums inside SQLite: when rows are written, when rows are read,
//! and when a store of an older format without checksums is migrated.

use std::fmt::Write;

use crc32fast::Hasher;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row, params};

use super::{Result, Store, StoreError};
use crate::rows::stored_hash;

/// SQL expression for the checksum of a row of `runs`. The checksum excludes the name of the run,
/// because the name may change when another store imports the run.
pub(super) const OF_RUN: &str =
    "checksum(created_ms, version, plan, pgn_offset, ending, epd_offset, about)";

/// Columns of `games` except the run and the checksum.
pub(super) const GAME_COLUMNS: &str = "pair, half, white, black, result, termination, detail, fen,
    chess960, plies, duration_ms, moves, begun_ms, swing";

/// SQL join of pairs (`p`) with the first game (`a`) and the second game (`b`) of each pair. The
/// index contains the results of the games. Rows of the table `games` are hundreds of times as
/// large as rows of the index, because rows of the table contain the moves.
pub(super) const PAIRS: &str = "pairs p
    LEFT JOIN games a INDEXED BY games_listed ON a.run = p.run AND a.pair = p.pair AND a.half = 0
    LEFT JOIN games b INDEXED BY games_listed ON b.run = p.run AND b.pair = p.pair AND b.half = 1";

/// SQL expression for the checksum of a row of [`PAIRS`]. The checksum covers all values that
/// affect the counts. The checksum excludes the moves, so that readers of the counts need not read
/// the moves.
pub(super) const OF_PAIR: &str = "checksum(p.pair, p.first, p.second, p.opening, p.first_hash,
    p.second_hash, a.white, a.black, a.result, a.termination, b.white, b.black, b.result, b.termination)";

/// Returns the checksum of a row of `games`, as SQL.
pub(super) fn game_checksum() -> String {
    format!("checksum({GAME_COLUMNS})")
}

/// Result of checking a run: numbers of checked pairs and games, and damaged parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedRun {
    /// Number of checked pairs.
    pub pairs: u64,
    /// Number of checked games.
    pub games: u64,
    /// Descriptions of all damaged parts, each with its location in the run.
    pub damaged: Vec<String>,
}

/// Adds two SQL functions to a connection: `checksum` of any values, and `game_hash` of FEN,
/// castling rules and moves.
pub(super) fn add_functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("checksum", -1, flags, |values| Ok(checksum(values)))?;
    connection.create_scalar_function("game_hash", 3, flags, |values| {
        let (fen, moves) = (values.get_raw(0).as_str()?, values.get_raw(2).as_str()?);
        Ok(stored_hash(fen, values.get(1)?, moves).map(u64::cast_signed))
    })
}

/// Returns the CRC-32 of the values, including their types and lengths. A CRC-32 detects every
/// burst error of up to 32 bits.
fn checksum(values: &Context<'_>) -> u32 {
    let mut hasher = Hasher::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]);
        // Without the lengths, bytes could move from one column to the next without changing the
        // checksum.
        hasher.update(&bytes.len().to_le_bytes());
        hasher.update(bytes);
    };
    for index in 0..values.len() {
        match values.get_raw(index) {
            ValueRef::Null => add(0, &[]),
            ValueRef::Integer(number) => add(1, &number.to_le_bytes()),
            ValueRef::Real(number) => add(2, &number.to_le_bytes()),
            ValueRef::Text(text) => add(3, text),
            ValueRef::Blob(bytes) => add(4, bytes),
        }
    }
    hasher.finalize()
}

/// Adds missing hashes and checksums to rows. A pair without a first game gets no checksum.
pub(super) fn fill_in(connection: &Connection) -> rusqlite::Result<()> {
    let mut sql = format!(
        "UPDATE runs SET checksum = {OF_RUN} WHERE checksum IS NULL;
         UPDATE games SET checksum = {} WHERE checksum IS NULL;",
        game_checksum()
    );
    for (half, hash) in ["first_hash", "second_hash"].into_iter().enumerate() {
        // Writing to memory cannot fail.
        let _ = write!(
            sql,
            "UPDATE pairs AS p SET {hash} = (
                 SELECT game_hash(fen, chess960, moves) FROM games g
                 WHERE g.run = p.run AND g.pair = p.pair AND g.half = {half}
             ) WHERE {hash} IS NULL AND checksum IS NULL;"
        );
    }
    connection.execute_batch(&sql)?;
    // The checksums of pairs come last, because they cover the hashes and the results of games.
    connection.execute_batch(&format!("{} WHERE checksum IS NULL", enter_of_pairs()))
}

/// Returns the first part of an SQL statement that writes the checksums of pairs whose first game
/// is stored.
pub(super) fn enter_of_pairs() -> String {
    format!(
        "UPDATE pairs AS o SET checksum = (
             SELECT {OF_PAIR} FROM {PAIRS} WHERE p.run = o.run AND p.pair = o.pair AND a.pair NOTNULL
         )"
    )
}

impl Store {
    /// Returns the error for a damaged part of a run.
    pub(super) fn damage_error(&self, run: &str, part: &str) -> StoreError {
        let found = format!("run '{run}', {part}: changed since it was written");
        StoreError::Damaged { file: self.file.clone(), found }
    }

    /// Returns the error for a damaged game. `pair` is the number of the pair, and `half` is the
    /// index of the game in the pair, both from 0.
    pub(super) fn damaged_game(&self, run: &str, pair: u64, half: u64) -> StoreError {
        self.damage_error(run, &format!("pair {}, game {}", pair + 1, half + 1))
    }

    /// Checks a run with all its pairs, games and transcripts.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read. Damage to the run is not an error, but part of the
    /// result.
    pub fn check_run(&self, run: &str) -> Result<CheckedRun> {
        self.atomically(|| {
            let mut found = vec![self.run(run).map(drop), self.tallies(run).map(drop)];
            match self.damaged_games(run) {
                Ok(games) => found.extend(games.into_iter().map(Err)),
                Err(error) => found.push(Err(error)),
            }
            found.extend(self.read_parts(run));
            let mut damaged = Vec::new();
            for error in found.into_iter().filter_map(Result::err) {
                match error {
                    StoreError::Damaged { found, .. } => damaged.push(found),
                    StoreError::Corrupt { what, .. } => {
                        damaged.push(format!("run '{run}': {what}"))
                    }
                    error => return Err(error),
                }
            }
            let count = |table| {
                let count = format!("SELECT count(*) FROM {table} WHERE run = ?1");
                self.number(&count, [run]).unwrap_or(0)
            };
            let (pairs, games) = (count("pairs"), count("games"));
            Ok(CheckedRun { pairs, games, damaged })
        })
    }

    /// Reads all parts of a run except its settings, pairs and games.
    pub(super) fn read_parts(&self, run: &str) -> [Result<()>; 4] {
        let transcripts = || {
            let mut kept = self.transcribed(run)?.into_iter();
            kept.try_for_each(|game| self.transcript(run, game).map(drop))
        };
        [
            transcripts(),
            self.iterations(run).map(drop),
            self.remarks(run).map(drop),
            self.latencies(run).map(drop),
        ]
    }

    /// Checks all games of a run.
    ///
    /// # Errors
    ///
    /// If games are damaged, returns the error for the first damaged game. Also fails if the store
    /// cannot be read.
    pub fn check_games(&self, run: &str) -> Result<()> {
        self.damaged_games(run)?.into_iter().next().map_or(Ok(()), Err)
    }

    /// Returns an error for each damaged game of a run.
    fn damaged_games(&self, run: &str) -> Result<Vec<StoreError>> {
        let select = format!(
            "SELECT pair, half FROM games WHERE run = ?1 AND checksum IS NOT {} ORDER BY pair, half",
            game_checksum()
        );
        self.rows(&select, [run], |row| Ok(self.damaged_game(run, row.get(0)?, row.get(1)?)))
    }

    /// Returns descriptions of the damage that SQLite finds in the file; empty if SQLite finds no
    /// damage.
    ///
    /// # Errors
    ///
    /// Fails if the store cannot be read.
    pub fn check_file(&self) -> Result<Vec<String>> {
        let lost =
            "SELECT DISTINCT \"table\" || ' without ' || parent FROM pragma_foreign_key_check";
        let found = ["SELECT * FROM pragma_integrity_check", lost]
            .map(|select| self.rows(select, [], |row: &Row<'_>| row.get::<_, String>(0)));
        match found.into_iter().collect::<Result<Vec<_>, _>>() {
            Ok(lines) => Ok(lines.into_iter().flatten().filter(|line| line != "ok").collect()),
            Err(StoreError::Damaged { found, .. }) => Ok(vec![found]),
            Err(error) => Err(error),
        }
    }

    /// Changes a run and its checksum. `set` contains the SQL assignments, and the first parameter
    /// is the name of the run. Returns the number of changed rows.
    pub(super) fn change_run(&self, run: &str, set: &str, params: impl Params) -> Result<usize> {
        self.atomically(|| {
            let changed = self.execute(&format!("UPDATE runs SET {set} WHERE run = ?1"), params)?;
            let sum = format!("UPDATE runs SET checksum = {OF_RUN} WHERE run = ?1");
            self.execute(&sum, params![run])?;
            Ok(changed)
        })
    }
}
