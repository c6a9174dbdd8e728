//! Workers that were excluded, and the pairs they had played, which do not count.

use std::collections::BTreeMap;

use rusqlite::{OptionalExtension, params};
use serde_json::json;

use super::{Store, StoreError, disturbance};
use arbiter_plan::run::event::{ExcludedWorker, Remark};
use arbiter_plan::run::standing::PairTally;

impl Store {
    /// Excludes a worker from a run. With `takes_back` the pairs that it has played are no pairs of the run
    /// any more: they are kept apart, with their games and all that was said in them. When it
    /// returns all of it is on the disk; `at_ms` is Unix time.
    pub fn exclude_worker(
        &mut self,
        run: &str,
        at_ms: i64,
        remark: &Remark,
        takes_back: bool,
    ) -> Result<ExcludedWorker, StoreError> {
        // Alone it is a transaction, in a group a part of one.
        self.connection.execute_batch("SAVEPOINT exclusion").map_err(|e| self.sqlite(e))?;
        let excluded = self.exclude(run, at_ms, remark, takes_back);
        let end = match excluded {
            Ok(_) => "RELEASE exclusion",
            Err(_) => "ROLLBACK TO exclusion; RELEASE exclusion",
        };
        let ended = self.connection.execute_batch(end).map_err(|e| self.sqlite(e));
        let excluded = excluded?;
        ended.map(|()| excluded)
    }

    /// The workers that were excluded in a run, in the order of their names.
    pub fn excluded_workers(&self, run: &str) -> Result<Vec<ExcludedWorker>, StoreError> {
        let read = || -> rusqlite::Result<Vec<ExcludedWorker>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT worker, reason, (SELECT count(*) FROM discarded d
                     WHERE d.run = a.run AND d.worker = a.worker)
                 FROM set_aside a WHERE run = ?1 ORDER BY worker",
            )?;
            let excluded = |row: &rusqlite::Row<'_>| {
                Ok(ExcludedWorker { worker: row.get(0)?, reason: row.get(1)?, pairs: row.get(2)? })
            };
            statement.query_map([run], excluded)?.collect()
        };
        read().map_err(|e| self.sqlite(e))
    }

    /// A number that changes whenever pairs of some run are taken back.
    pub fn epoch(&self) -> Result<u64, StoreError> {
        let count = "SELECT count(*) FROM set_aside";
        self.connection.query_row(count, [], |row| row.get(0)).map_err(|e| self.sqlite(e))
    }

    /// What other machines have played for a run, and who.
    pub fn played_by_workers(&self, run: &str) -> Result<Vec<(String, PairTally)>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<u64, String>> {
            let mut statement =
                self.connection.prepare("SELECT pair, worker FROM players WHERE run = ?1")?;
            statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        let mut players = read().map_err(|e| self.sqlite(e))?;
        let tallies = self.tallies(run)?.into_iter();
        Ok(tallies.filter_map(|tally| Some((players.remove(&tally.pair)?, tally))).collect())
    }

    fn exclude(
        &self,
        run: &str,
        at_ms: i64,
        remark: &Remark,
        takes_back: bool,
    ) -> Result<ExcludedWorker, StoreError> {
        let Remark { worker, what, .. } = remark;
        let insert = "INSERT INTO set_aside (run, worker, at_ms, reason) VALUES (?1, ?2, ?3, ?4)
                      ON CONFLICT DO NOTHING";
        self.connection
            .execute(insert, params![run, worker, at_ms, what])
            .map_err(|e| self.sqlite(e))?;
        let (mut pairs, mut from) = (0, 0);
        // One at a time: all games of a long run do not fit into memory.
        while takes_back
            && let Some(pair) = self.next_pair_of(run, worker, from).map_err(|e| self.sqlite(e))?
        {
            let whole = self.whole(run, pair)?;
            self.discard(run, worker, pair, &whole).map_err(|e| self.sqlite(e))?;
            (pairs, from) = (pairs + 1, pair + 1);
        }
        Ok(ExcludedWorker { worker: worker.clone(), reason: what.clone(), pairs })
    }

    /// The first pair from number `from` on that a worker has played.
    fn next_pair_of(&self, run: &str, worker: &str, from: u64) -> rusqlite::Result<Option<u64>> {
        let next = "SELECT pair FROM players WHERE run = ?1 AND worker = ?2 AND pair >= ?3
                    ORDER BY pair LIMIT 1";
        let mut statement = self.connection.prepare_cached(next)?;
        statement.query_row(params![run, worker, from], |row| row.get(0)).optional()
    }

    /// A pair with all that is known of it, as JSON.
    fn whole(&self, run: &str, pair: u64) -> Result<String, StoreError> {
        let played = self.pair(run, pair)?;
        let played = played.ok_or_else(|| self.corrupt(run, format!("pair {pair} is missing")))?;
        let mut transcripts = Vec::new();
        for half in 0..played.games.iter().count() {
            let transcript = self.transcript(run, pair, half)?;
            transcripts.push(transcript.map(|transcript| transcript.to_string()));
        }
        let [first, second] = played.pairing.engines;
        let whole = json!({
            "first": first,
            "second": second,
            "opening": played.pairing.opening,
            "games": disturbance::games(&played),
            "transcripts": transcripts,
        });
        Ok(whole.to_string())
    }

    /// Moves a pair out of the run; `whole` is all that is known of it.
    fn discard(&self, run: &str, worker: &str, pair: u64, whole: &str) -> rusqlite::Result<()> {
        let insert = "INSERT INTO discarded (run, pair, worker, played) VALUES (?1, ?2, ?3, ?4)";
        self.connection.prepare_cached(insert)?.execute(params![run, pair, worker, whole])?;
        // Those that refer to others first.
        for table in ["transcripts", "games", "players", "pairs"] {
            let delete = format!("DELETE FROM {table} WHERE run = ?1 AND pair = ?2");
            self.connection.prepare_cached(&delete)?.execute(params![run, pair])?;
        }
        Ok(())
    }
}
