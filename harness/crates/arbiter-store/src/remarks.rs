//! Machines that play for a run: which pairs each played, and what they did that changed nothing.

use std::collections::BTreeMap;

use rusqlite::{Connection, params};

use super::{Store, StoreError};
use arbiter_plan::run::event::Remark;

/// Notes which machine played a pair.
pub(super) fn insert_player(
    connection: &Connection,
    run: &str,
    pair: u64,
    worker: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT INTO players (run, pair, worker) VALUES (?1, ?2, ?3)")?
        .execute(params![run, pair, worker])
        .map(drop)
}

impl Store {
    /// Notes what a machine did that changed nothing; `at_ms` is Unix time.
    pub fn note_remark(&self, run: &str, at_ms: i64, remark: &Remark) -> Result<(), StoreError> {
        let Remark { worker, pair, what } = remark;
        let insert = || -> rusqlite::Result<usize> {
            self.connection
                .prepare_cached(
                    "INSERT INTO remarks (run, number, at_ms, worker, pair, what)
                     SELECT ?1, count(*), ?2, ?3, ?4, ?5 FROM remarks WHERE run = ?1",
                )?
                .execute(params![run, at_ms, worker, pair, what])
        };
        insert().map(drop).map_err(|e| self.sqlite(e))
    }

    /// What machines did in a run that changed nothing, in the order in which it was noticed.
    pub fn remarks(&self, run: &str) -> Result<Vec<Remark>, StoreError> {
        let read = || -> rusqlite::Result<Vec<Remark>> {
            let mut statement = self
                .connection
                .prepare("SELECT worker, pair, what FROM remarks WHERE run = ?1 ORDER BY number")?;
            let remark = |row: &rusqlite::Row<'_>| {
                Ok(Remark { worker: row.get(0)?, pair: row.get(1)?, what: row.get(2)? })
            };
            statement.query_map([run], remark)?.collect()
        };
        read().map_err(|e| self.sqlite(e))
    }

    /// How many of a run's pairs on disk each machine played, but for this one.
    pub fn pairs_by_worker(&self, run: &str) -> Result<BTreeMap<String, u64>, StoreError> {
        let read = || -> rusqlite::Result<BTreeMap<String, u64>> {
            let mut statement = self
                .connection
                .prepare("SELECT worker, count(*) FROM players WHERE run = ?1 GROUP BY worker")?;
            statement.query_map([run], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        read().map_err(|e| self.sqlite(e))
    }
}
