//! Writing runs and pairs to the store.

use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rusqlite::params;

use super::checksum::{GAME_COLUMNS, enter_of_pairs};
use super::{Offsets, Result, Store, StoreError};
use crate::rows::{Fingerprints, GameRow, PlanRow};
use arbiter_game::lint::LintFinding;
use arbiter_game::record::GameRecord;
use arbiter_plan::Plan;
use arbiter_run::{FilePrefix, Latencies, PlayedPair, RunEnd};
use arbiter_schedule::Pairing;

impl Store {
    /// Inserts a new run. `created_ms` is the start of the run, as Unix time in milliseconds;
    /// `about` is the purpose of the run, in one line. Fails if the store already contains a run of
    /// this name.
    pub fn begin_run(
        &self,
        run: &str,
        created_ms: i64,
        plan: &Plan,
        fingerprints: &Fingerprints,
        offsets: Offsets,
        about: Option<&str>,
    ) -> Result<()> {
        let version = env!("CARGO_PKG_VERSION");
        let json = PlanRow::of(plan, fingerprints).to_json();
        let inserted = self.execute(
            "INSERT INTO runs (run, created_ms, version, plan, pgn_offset, epd_offset, about, checksum)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, checksum(?2, ?3, ?4, ?5, NULL, ?6, ?7))
             ON CONFLICT DO NOTHING",
            params![run, created_ms, version, json, offsets.pgn, offsets.epd, about],
        )?;
        if inserted == 0 { Err(StoreError::Exists(run.to_owned())) } else { Ok(()) }
    }

    /// Starts a group of changes that [`Store::commit_group`] writes to disk together, because
    /// committing a group takes about as long as committing a single change. Dropping the store
    /// before the commit discards the group. Fails if another program has replaced, deleted or
    /// truncated the file, or holds the write lock for 30 s.
    pub fn begin_group(&mut self) -> Result<()> {
        self.check_in_place()?;
        self.group_latencies.clear();
        // An immediate transaction takes the write lock now. A deferred transaction could be
        // refused in the middle of the group.
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| self.sqlite(e))
    }

    /// Commits a group; when the function returns, the complete group is on disk.
    pub fn commit_group(&mut self) -> Result<()> {
        for (run, latencies) in std::mem::take(&mut self.group_latencies) {
            self.add_latencies(&run, &latencies)?;
        }
        self.connection.execute_batch("COMMIT").map_err(|e| self.sqlite(e))
    }

    /// Commits a pair with its games. When the function returns, the pair is on disk, unless the
    /// pair is part of a [group](Store::begin_group). If the machine disturbed the pair but the
    /// pair counts nevertheless, `noise` describes the disturbance. `worker` is the worker that
    /// played the pair; `None` if this machine played the pair. Returns `false` if the pair is
    /// already stored; the stored pair then remains unchanged.
    pub fn append(
        &mut self,
        run: &str,
        played: &PlayedPair,
        noise: Option<&str>,
        worker: Option<&str>,
    ) -> Result<bool> {
        // In a group, the file has already been checked, and latencies are written at the commit.
        let is_alone = self.connection.is_autocommit();
        if is_alone {
            self.check_in_place()?;
        }
        let is_new = self.atomically(|| -> Result<_> {
            let Pairing { pair, engines: [first, second], opening } = played.pairing;
            let mut hashes = played.games.iter().map(|game| game.hash().cast_signed());
            let inserted = self.execute(
                "INSERT INTO pairs (run, pair, first, second, opening, first_hash, second_hash)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
                params![run, pair, first, second, opening, hashes.next(), hashes.next()],
            )?;
            if inserted == 0 {
                return Ok(false);
            }
            for (half, game) in played.games.iter().enumerate() {
                self.insert_game(run, pair, half, game)?;
            }
            let sum = format!("{} WHERE run = ?1 AND pair = ?2", enter_of_pairs());
            self.execute(&sum, params![run, pair])?;
            if is_alone {
                self.add_latencies(run, &Latencies::of(played))?;
            }
            if let Some(worker) = worker {
                let insert = "INSERT INTO players (run, pair, worker) VALUES (?1, ?2, ?3)";
                self.execute(insert, params![run, pair, worker])?;
            }
            if let Some(reason) = noise {
                self.insert_disturbance(run, pair, reason, None)?;
            }
            Ok(true)
        })?;
        if is_new && !is_alone {
            // The pairs of a group share most latency values, so the counts are added up and
            // written once.
            self.group_latencies.entry(run.to_owned()).or_default().count(played);
        }
        Ok(is_new)
    }

    /// Sets the purpose of a run, in one line; `None` removes the purpose.
    pub fn set_about(&self, run: &str, about: Option<&str>) -> Result<()> {
        let changed = self.change_run(run, "about = ?2", params![run, about])?;
        if changed == 0 { Err(self.no_run(run)) } else { Ok(()) }
    }

    /// Stores the ending of a run; `None` while the run is in progress.
    pub fn set_ending(&self, run: &str, ending: Option<RunEnd>) -> Result<()> {
        self.check_in_place()?;
        let ending = ending.map(|ending| ending.to_string());
        self.change_run(run, "ending = ?2", params![run, ending]).map(drop)
    }

    /// Replaces the plan of a run. The new plan may name another PGN file. `pgn_offset` is the
    /// offset in the new plan's PGN file, in bytes, at which the games of the run start.
    pub fn set_plan(
        &self,
        run: &str,
        plan: &Plan,
        fingerprints: &Fingerprints,
        pgn_offset: u64,
    ) -> Result<()> {
        let json = PlanRow::of(plan, fingerprints).to_json();
        // The notes about written files refer to the PGN file of the old plan.
        self.execute("DELETE FROM written WHERE run = ?1", [run])?;
        let set = "plan = ?2, pgn_offset = ?3";
        self.change_run(run, set, params![run, json, pgn_offset]).map(drop)
    }

    /// Stores the length and hash of the written part of a run's output file.
    pub fn note_written(&self, run: &str, written: &FilePrefix) -> Result<()> {
        let FilePrefix { file, pairs, end, hash } = written;
        let insert = "INSERT OR REPLACE INTO written (run, file, pairs, length, hash, checksum)
            VALUES (?1, ?2, ?3, ?4, ?5, checksum(?3, ?4, ?5))";
        self.execute(insert, params![run, file.to_string_lossy(), pairs, end, hash]).map(drop)
    }

    /// Returns the last stored length and hash of the written part of an output file; `None` if no
    /// values are stored or the stored values are damaged.
    pub fn last_note(&self, run: &str, file: &Path) -> Result<Option<FilePrefix>> {
        let select = "SELECT pairs, length, hash FROM written
            WHERE run = ?1 AND file = ?2 AND checksum = checksum(pairs, length, hash)";
        self.row(select, params![run, file.to_string_lossy()], |row| {
            let (pairs, end, hash) = row.try_into()?;
            Ok(FilePrefix { file: file.to_owned(), pairs, end, hash })
        })
    }

    fn insert_game(&self, run: &str, pair: u64, half: usize, game: &GameRecord) -> Result<()> {
        let row = GameRow::of(game);
        let values = "?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15";
        self.execute(
            &format!(
                "INSERT INTO games (run, {GAME_COLUMNS}, checksum)
                 VALUES (?1, {values}, checksum({values}))"
            ),
            params![
                run,
                pair,
                half,
                row.white,
                row.black,
                row.result,
                row.termination,
                row.detail,
                row.fen,
                row.chess960,
                game.moves.len(),
                row.duration_ms,
                row.moves,
                row.begun_ms,
                game.swing()
            ],
        )?;
        for (ply, color, LintFinding { rule, what, .. }) in game.findings() {
            // A move violates a rule at most once, but a worker may repeat a finding.
            let insert = "INSERT INTO findings (run, pair, half, ply, engine, rule, what)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING";
            let engine = game.engines.get(color);
            let rule = rule.to_string();
            self.execute(insert, params![run, pair, half, ply, engine, rule, what])?;
        }
        let Some(transcript) = &game.transcript else { return Ok(()) };
        // Most transcripts are repetitive, so they are compressed.
        let mut packer = ZlibEncoder::new(Vec::new(), Compression::fast());
        // Writing to memory cannot fail.
        let _ = packer.write_all(transcript.to_string().as_bytes());
        let packed = packer.finish().unwrap_or_default();
        let insert =
            "INSERT INTO transcripts (run, pair, half, transcript) VALUES (?1, ?2, ?3, ?4)";
        self.execute(insert, params![run, pair, half, packed]).map(drop)
    }
}
