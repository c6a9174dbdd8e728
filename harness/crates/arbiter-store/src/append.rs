//! Writing to the store.

use rusqlite::{Connection, params};

use super::{Offsets, Store, StoreError};
use super::{disturbance, latencies, remarks, transcripts};
use arbiter_game::record::GameRecord;
use arbiter_plan::plan::Plan;
use arbiter_plan::run::event::Ending;
use arbiter_plan::run::job::PlayedPair;
use arbiter_plan::run::latency::Latencies;
use arbiter_schema::{Fingerprints, GameRow, PlanRow};

impl Store {
    /// Enters a new run. `created_ms` is Unix time; `about` says in one line what it tries.
    pub fn begin_run(
        &self,
        run: &str,
        created_ms: i64,
        plan: &Plan,
        fingerprints: &Fingerprints,
        offsets: Offsets,
        about: Option<&str>,
    ) -> Result<(), StoreError> {
        let version = env!("CARGO_PKG_VERSION");
        let json = PlanRow::of(plan, fingerprints).to_json();
        let inserted = self
            .connection
            .execute(
                "INSERT INTO runs (run, created_ms, version, plan, pgn_offset, epd_offset, about)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
                params![run, created_ms, version, json, offsets.pgn, offsets.epd, about],
            )
            .map_err(|e| self.sqlite(e))?;
        if inserted == 0 { Err(StoreError::Exists(run.to_owned())) } else { Ok(()) }
    }

    /// Begins a group of changes that go to the disk together, by [`Store::commit_group`]: to write
    /// one takes as long as to write many. A store that goes before then forgets them all.
    pub fn begin_group(&mut self) -> Result<(), StoreError> {
        self.group_latencies.clear();
        self.connection.execute_batch("BEGIN IMMEDIATE").map_err(|e| self.sqlite(e))
    }

    /// Ends a group; when it returns all of it is on the disk.
    pub fn commit_group(&mut self) -> Result<(), StoreError> {
        for (run, latencies) in std::mem::take(&mut self.group_latencies) {
            latencies::add(&self.connection, &run, &latencies).map_err(|e| self.sqlite(e))?;
        }
        self.connection.execute_batch("COMMIT").map_err(|e| self.sqlite(e))
    }

    /// Commits a pair with its games; when it returns they are on the disk, unless they are part of
    /// a [group](Store::begin_group). `noise` says how the machine disturbed it, if it did, and
    /// `worker` who played it, if not this machine. A pair that is there already stays as it is, and
    /// `false` says so.
    pub fn append(
        &mut self,
        run: &str,
        played: &PlayedPair,
        noise: Option<&str>,
        worker: Option<&str>,
    ) -> Result<bool, StoreError> {
        self.insert_pair(run, played, noise, worker).map_err(|e| self.sqlite(e))
    }

    fn insert_pair(
        &mut self,
        run: &str,
        played: &PlayedPair,
        noise: Option<&str>,
        worker: Option<&str>,
    ) -> rusqlite::Result<bool> {
        let pairing = played.pairing;
        let is_alone = self.connection.is_autocommit();
        // Alone it is a transaction, in a group a part of one.
        let transaction = self.connection.savepoint()?;
        let inserted = transaction
            .prepare_cached(
                "INSERT INTO pairs (run, pair, first, second, opening) VALUES (?1, ?2, ?3, ?4, ?5)
                 ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                run,
                pairing.pair,
                pairing.engines[0],
                pairing.engines[1],
                pairing.opening
            ])?;
        if inserted == 0 {
            return Ok(false);
        }
        for (half, game) in played.games.iter().enumerate() {
            insert_game(&transaction, run, pairing.pair, half, game)?;
        }
        if is_alone {
            latencies::add(&transaction, run, &Latencies::of(played))?;
        }
        if let Some(worker) = worker {
            remarks::insert_player(&transaction, run, pairing.pair, worker)?;
        }
        if let Some(reason) = noise {
            disturbance::insert(&transaction, run, pairing.pair, reason, None)?;
        }
        transaction.commit()?;
        if !is_alone {
            // Much the same times come with every pair, so they are written once for all of a group.
            self.group_latencies.entry(run.to_owned()).or_default().count(played);
        }
        Ok(true)
    }

    /// Says what a run tries, in one line; `None` takes back what was said.
    pub fn set_about(&self, run: &str, about: Option<&str>) -> Result<(), StoreError> {
        let changed = self
            .connection
            .execute("UPDATE runs SET about = ?2 WHERE run = ?1", params![run, about])
            .map_err(|e| self.sqlite(e))?;
        if changed == 0 { Err(self.no_run(run)) } else { Ok(()) }
    }

    /// Notes how a run ended; `None` while it runs.
    pub fn set_ending(&self, run: &str, ending: Option<Ending>) -> Result<(), StoreError> {
        let name = ending.map(ending_name);
        self.connection
            .execute("UPDATE runs SET ending = ?2 WHERE run = ?1", params![run, name])
            .map(drop)
            .map_err(|e| self.sqlite(e))
    }

    /// Replaces a run's plan, whose PGN file may have changed, and notes where in that file the
    /// run begins.
    pub fn set_plan(
        &self,
        run: &str,
        plan: &Plan,
        fingerprints: &Fingerprints,
        pgn_offset: u64,
    ) -> Result<(), StoreError> {
        let json = PlanRow::of(plan, fingerprints).to_json();
        self.connection
            .execute(
                "UPDATE runs SET plan = ?2, pgn_offset = ?3 WHERE run = ?1",
                params![run, json, pgn_offset],
            )
            .map(drop)
            .map_err(|e| self.sqlite(e))
    }
}

fn insert_game(
    connection: &Connection,
    run: &str,
    pair: u64,
    half: usize,
    game: &GameRecord,
) -> rusqlite::Result<()> {
    let row = GameRow::of(game);
    connection
        .prepare_cached(
            "INSERT INTO games (run, pair, half, white, black, result, termination,
                 detail, fen, chess960, plies, duration_ms, moves)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
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
            row.moves
        ])?;
    match &game.transcript {
        Some(transcript) => transcripts::insert(connection, run, pair, half, transcript),
        None => Ok(()),
    }
}

/// The stored name of an ending.
pub(super) fn ending_name(ending: Ending) -> &'static str {
    match ending {
        Ending::AcceptedH1 => "H1",
        Ending::AcceptedH0 => "H0",
        Ending::Complete => "complete",
        Ending::Interrupted => "interrupted",
    }
}
