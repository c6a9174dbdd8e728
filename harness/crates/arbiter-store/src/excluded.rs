//! Excluded workers, and their pairs, which do not count.

use std::collections::BTreeMap;

use rusqlite::params;
use serde_json::json;

use super::{Result, Store, disturbance};
use arbiter_run::{ExcludedWorker, PairTally, Remark};

impl Store {
    /// Excludes a worker from a run. With `takes_back`, the pairs of the worker are removed from
    /// the run and stored separately, with their games and transcripts. When the function returns,
    /// everything is on disk; `at_ms` is Unix time.
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
            let mut pairs = 0;
            let mut from = 0;
            // Pairs are moved one at a time, because the games of a long run may not fit into
            // memory.
            while takes_back && let Some(pair) = self.next_pair_of(run, worker, from)? {
                let pair_json = self.pair_as_json(run, pair)?;
                self.discard(run, worker, pair, &pair_json)?;
                pairs += 1;
                from = pair + 1;
            }
            Ok(ExcludedWorker { worker: worker.clone(), reason: text.clone(), pairs })
        })
    }

    /// Returns the excluded workers of a run, in the order of their names.
    pub fn excluded_workers(&self, run: &str) -> Result<Vec<ExcludedWorker>> {
        let select = "SELECT worker, reason, (SELECT count(*) FROM discarded d
                WHERE d.run = a.run AND d.worker = a.worker)
            FROM set_aside a WHERE run = ?1 ORDER BY worker";
        self.rows(select, [run], |row| {
            let (worker, reason, pairs) = row.try_into()?;
            Ok(ExcludedWorker { worker, reason, pairs })
        })
    }

    /// Returns two numbers, one of which changes whenever pairs of any run are taken back or a run
    /// is removed.
    pub fn epoch(&self) -> Result<[u64; 2]> {
        let count = |table| self.number(&format!("SELECT count(*) FROM {table}"), []);
        Ok([count("set_aside")?, count("removed")?])
    }

    /// Returns the pairs of a run that workers have played, each with its worker.
    pub fn played_by_workers(&self, run: &str) -> Result<Vec<(String, PairTally)>> {
        let select = "SELECT pair, worker FROM players WHERE run = ?1";
        let players: Vec<(u64, String)> = self.rows(select, [run], |row| row.try_into())?;
        let mut players: BTreeMap<u64, String> = players.into_iter().collect();
        let tallies = self.tallies(run)?.into_iter();
        Ok(tallies.filter_map(|tally| Some((players.remove(&tally.pair)?, tally))).collect())
    }

    /// Returns the number of the first pair, from the number `from` on, that a worker has played.
    fn next_pair_of(&self, run: &str, worker: &str, from: u64) -> Result<Option<u64>> {
        let next = "SELECT pair FROM players WHERE run = ?1 AND worker = ?2 AND pair >= ?3
                    ORDER BY pair LIMIT 1";
        self.row(next, params![run, worker, from], |row| row.get(0))
    }

    /// Returns a pair with its games and transcripts, as JSON.
    fn pair_as_json(&self, run: &str, pair: u64) -> Result<String> {
        let played = self.pair(run, pair)?;
        let played = played.ok_or_else(|| self.corrupt(run, format!("pair {pair} is missing")))?;
        let mut transcripts = Vec::new();
        for half in 0..played.games.iter().count() {
            let transcript = self.transcript(run, pair, half)?;
            transcripts.push(transcript.map(|transcript| transcript.to_string()));
        }
        let [first, second] = played.pairing.engines;
        let pair_json = json!({
            "first": first,
            "second": second,
            "opening": played.pairing.opening,
            "games": disturbance::games(&played),
            "transcripts": transcripts,
        });
        Ok(pair_json.to_string())
    }

    /// Moves a pair out of the run; `pair_json` is the pair as JSON.
    fn discard(&self, run: &str, worker: &str, pair: u64, pair_json: &str) -> Result<()> {
        let insert = "INSERT INTO discarded (run, pair, worker, played) VALUES (?1, ?2, ?3, ?4)";
        self.execute(insert, params![run, pair, worker, pair_json])?;
        // Rows that refer to other rows are deleted first.
        for table in ["findings", "transcripts", "games", "players", "pairs"] {
            let delete = format!("DELETE FROM {table} WHERE run = ?1 AND pair = ?2");
            self.execute(&delete, params![run, pair])?;
        }
        Ok(())
    }
}
