//! How promptly engines answered, summed up over the games of a run.

use rusqlite::{Connection, params};

use super::{Store, StoreError};
use arbiter_plan::run::latency::{Kind, Latencies};

/// Adds what a pair adds, in the transaction that commits it: so each pair counts once.
pub(super) fn add(
    connection: &Connection,
    run: &str,
    latencies: &Latencies,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached(
        "INSERT INTO latencies (run, engine, kind, us, count) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET count = count + excluded.count",
    )?;
    for (engine, kind, distribution) in latencies.iter() {
        for (us, count) in distribution.times() {
            statement.execute(params![run, engine, kind.as_str(), us, count])?;
        }
    }
    Ok(())
}

impl Store {
    /// How promptly the engines of a run answered, in all games that are on disk.
    pub fn latencies(&self, run: &str) -> Result<Latencies, StoreError> {
        let read = || -> rusqlite::Result<Vec<(usize, String, u64, u64)>> {
            let mut statement = self
                .connection
                .prepare("SELECT engine, kind, us, count FROM latencies WHERE run = ?1")?;
            let row =
                |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?));
            statement.query_map([run], row)?.collect()
        };
        let mut latencies = Latencies::default();
        for (engine, name, us, count) in read().map_err(|e| self.sqlite(e))? {
            let kind = Kind::ALL.into_iter().find(|kind| kind.as_str() == name);
            let kind = kind.ok_or_else(|| self.corrupt(run, format!("latency of '{name}'")))?;
            latencies.add(engine, kind, us, count);
        }
        Ok(latencies)
    }
}
