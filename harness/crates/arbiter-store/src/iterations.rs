//! Iterations of tuning runs.

use rusqlite::params;

use super::{Result, Store};
use arbiter_spsa::Iteration;

impl Store {
    /// Stores an iteration whose pairs are on disk; an iteration that is already stored remains
    /// unchanged.
    pub fn append_iteration(&self, run: &str, iteration: &Iteration) -> Result<()> {
        let json = |values: &[f64]| serde_json::Value::from(values.to_vec()).to_string();
        let Iteration { number, sides: [plus, minus], score, theta } = iteration;
        let insert = "INSERT INTO iterations (run, iteration, plus, minus, score, theta)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING";
        let values = params![run, number, json(plus), json(minus), score, json(theta)];
        self.execute(insert, values).map(drop)
    }

    /// Returns the iterations on disk, in ascending order.
    pub fn iterations(&self, run: &str) -> Result<Vec<Iteration>> {
        let select = "SELECT iteration, score, plus, minus, theta FROM iterations
            WHERE run = ?1 ORDER BY iteration";
        let rows: Vec<(u64, i64, String, String, String)> =
            self.rows(select, [run], |row| row.try_into())?;
        let read = |(number, score, plus, minus, theta): (_, _, String, String, String)| {
            let list = |text: &str| -> Result<Vec<f64>> {
                let corrupt = |error| self.corrupt(run, format!("iteration {number}: {error}"));
                serde_json::from_str(text).map_err(corrupt)
            };
            let sides = [list(&plus)?, list(&minus)?];
            Ok(Iteration { number, sides, score, theta: list(&theta)? })
        };
        rows.into_iter().map(read).collect()
    }
}
