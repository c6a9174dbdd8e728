//! Response times of engines, as the number of occurrences of each value in all games of a run.

use rusqlite::params;

use super::{Result, Store};
use arbiter_run::Latencies;

impl Store {
    /// Adds response times. The caller must use the transaction that commits the pairs with these
    /// response times, so that each pair is counted once.
    pub(super) fn add_latencies(&self, run: &str, latencies: &Latencies) -> Result<()> {
        let insert =
            "INSERT INTO latencies (run, engine, kind, us, count) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT DO UPDATE SET count = count + excluded.count";
        for (engine, kind, distribution) in latencies.iter() {
            let kind = kind.to_string();
            for (us, count) in distribution.times() {
                self.execute(insert, params![run, engine, kind, us, count])?;
            }
        }
        Ok(())
    }

    /// Returns the response times of a run's engines in all games that are on disk.
    pub fn latencies(&self, run: &str) -> Result<Latencies> {
        let select = "SELECT engine, kind, us, count FROM latencies WHERE run = ?1";
        let rows: Vec<(usize, String, u64, u64)> =
            self.rows(select, [run], |row| row.try_into())?;
        let mut latencies = Latencies::default();
        for (engine, name, us, count) in rows {
            let unknown = |_| self.corrupt(run, format!("latency of '{name}'"));
            let kind = name.parse().map_err(unknown)?;
            latencies.add(engine, kind, us, count);
        }
        Ok(latencies)
    }
}
