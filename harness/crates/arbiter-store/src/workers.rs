//! Workers of a run: the number of pairs that each worker has played, remarks about workers, and
//! excluded workers with their withdrawn pairs.

use std::collections::BTreeMap;

use rusqlite::params;
use serde_json::json;

use super::{Result, Store};
use crate::parts::game_rows;
use arbiter_run::{ExcludedWorker, PairTally, Remark};

impl Store {
    /// Stores a remark about a worker; `at_ms` is the time of the remark, as Unix time in
    /// milliseconds. Remarks do not affect the counts.
    pub fn note_remark(&self, run: &str, at_ms: i64, remark: &Remark) -> Result<()> {
        let Remark { worker, pair, text } = remark;
        let insert = "INSERT INTO remarks (run, number, at_ms, worker, pair, what)
            SELECT ?1, count(*), ?2, ?3, ?4, ?5 FROM remarks WHERE run = ?1";
        self.execute(insert, params![run, at_ms, worker, pair, text]).map(drop)
    }

    /// Returns the remarks about workers of a run, in the order in which they were stored.
    pub fn remarks(&self, run: &str) -> Result<Vec<Remark>> {
        let select = "SELECT worker, pair, what FROM remarks WHERE run = ?1 ORDER BY number";
        self.rows(select, [run], |row| {
            let (worker, pair, text) = row.try_into()?;
            Ok(Remark { worker, pair, text })
        })
    }

    /// Returns the number of pairs on disk for each worker. Pairs that this machine played are not
    /// included.
    pub fn pairs_by_worker(&self, run: &str) -> Result<BTreeMap<String, u64>> {
        let select = "SELECT worker, count(*) FROM players WHERE run = ?1 GROUP BY worker";
        let pairs: Vec<(String, u64)> = self.rows(select, [run], |row| row.try_into())?;
        Ok(pairs.into_iter().collect())
    }

    /// Excludes a worker from a run. If `takes_back` is `true`, the pairs of the worker are
    /// withdrawn: the pairs are removed from the run and stored separately, with all games and
    /// transcripts. When the function returns, all changes are on disk. `at_ms` is the time of the
    /// exclusion, as Unix time in milliseconds.
    pub fn exclude_worker(
        &mut self,
        run: &str,
        at_ms: i64,
        remark: &Remark,
        takes_back: bool,
    ) -> Result<ExcludedWorker> {
        let Remark { worker, text, .. } = remark;
        let insert = "INSERT INTO set_aside (run, worker, at_ms, reason) VALUES (?1, ?2, ?3, ?4)
                      ON CONFLICT DO NOTHING";
        self.atomically(|| {
            self.execute(insert, params![run, worker, at_ms, text])?;
            let mut pairs: Vec<u64> = Vec::new();
            if takes_back {
                let select = "SELECT pair FROM players WHERE run = ?1 AND worker = ?2";
                pairs = self.rows(select, [run, worker], |row| row.get(0))?;
            }
            // Pairs are moved one at a time, because the games of a long run may not fit into
            // memory.
            for pair in &pairs {
                self.discard(run, worker, *pair)?;
            }
            let pairs = pairs.len() as u64;
            Ok(ExcludedWorker { worker: worker.clone(), reason: text.clone(), pairs })
        })
    }

    /// Returns the excluded workers of a run, ordered by name.
    pub fn excluded_workers(&self, run: &str) -> Result<Vec<ExcludedWorker>> {
        let select = "SELECT worker, reason, (SELECT count(*) FROM discarded d
                WHERE d.run = a.run AND d.worker = a.worker)
            FROM set_aside a WHERE run = ?1 ORDER BY worker";
        self.rows(select, [run], |row| {
            let (worker, reason, pairs) = row.try_into()?;
            Ok(ExcludedWorker { worker, reason, pairs })
        })
    }

    /// Returns the number of withdrawn pairs and the number of removed runs in the store. At least
    /// one of the two numbers changes when pairs of any run are withdrawn or a run is removed.
    pub fn epoch(&self) -> Result<[u64; 2]> {
        let count = |table| self.number(&format!("SELECT count(*) FROM {table}"), []);
        Ok([count("discarded")?, count("removed")?])
    }

    /// Returns the pairs that workers have played in a run, each with the name of the worker.
    pub fn played_by_workers(&self, run: &str) -> Result<Vec<(String, PairTally)>> {
        let select = "SELECT pair, worker FROM players WHERE run = ?1";
        let players: Vec<(u64, String)> = self.rows(select, [run], |row| row.try_into())?;
        let mut players: BTreeMap<u64, String> = players.into_iter().collect();
        let tallies = self.tallies(run)?.into_iter();
        Ok(tallies.filter_map(|tally| Some((players.remove(&tally.pair)?, tally))).collect())
    }

    /// Moves a pair with its games and transcripts out of the run.
    fn discard(&self, run: &str, worker: &str, pair: u64) -> Result<()> {
        let played = self.pair(run, pair)?;
        let played = played.ok_or_else(|| self.corrupt(run, format!("pair {pair} is missing")))?;
        let mut transcripts = Vec::new();
        for half in 0..played.games.iter().count() {
            let transcript = self.transcript(run, (pair, half))?;
            transcripts.push(transcript.map(|transcript| transcript.to_string()));
        }
        let [first, second] = played.pairing.engines;
        let pair_json = json!({
            "first": first,
            "second": second,
            "opening": played.pairing.opening,
            "games": game_rows(&played),
            "transcripts": transcripts,
        });
        let insert = "INSERT INTO discarded (run, pair, worker, played) VALUES (?1, ?2, ?3, ?4)";
        self.execute(insert, params![run, pair, worker, pair_json.to_string()])?;
        // Rows that refer to other rows are deleted first.
        for table in ["findings", "transcripts", "games", "players", "pairs"] {
            let delete = format!("DELETE FROM {table} WHERE run = ?1 AND pair = ?2");
            self.execute(&delete, params![run, pair])?;
        }
        Ok(())
    }
}
