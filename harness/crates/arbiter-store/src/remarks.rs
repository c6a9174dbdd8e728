//! Workers of a run: the number of pairs that each worker has played, and remarks about workers.

use std::collections::BTreeMap;

use rusqlite::params;

use super::{Result, Store};
use arbiter_run::Remark;

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
}
