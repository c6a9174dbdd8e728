//! The path of a tuning.

use rusqlite::{Row, params};

use super::{Store, StoreError};
use arbiter_spsa::Iteration;

impl Store {
    /// Notes an iteration whose pairs are on disk; one that is there already stays as it is.
    pub fn append_iteration(&self, run: &str, iteration: &Iteration) -> Result<(), StoreError> {
        let json = |values: &[f64]| serde_json::Value::from(values.to_vec()).to_string();
        let Iteration { number, sides: [plus, minus], score, theta } = iteration;
        let mut statement = self
            .connection
            .prepare_cached(
                "INSERT INTO iterations (run, iteration, plus, minus, score, theta)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT DO NOTHING",
            )
            .map_err(|e| self.sqlite(e))?;
        statement
            .execute(params![run, number, json(plus), json(minus), score, json(theta)])
            .map(drop)
            .map_err(|e| self.sqlite(e))
    }

    /// The iterations on disk, in their order.
    pub fn iterations(&self, run: &str) -> Result<Vec<Iteration>, StoreError> {
        let read = || -> rusqlite::Result<Vec<IterationRow>> {
            let mut statement = self.connection.prepare(
                "SELECT iteration, plus, minus, score, theta FROM iterations
                 WHERE run = ?1 ORDER BY iteration",
            )?;
            statement.query_map([run], IterationRow::read)?.collect()
        };
        let rows = read().map_err(|e| self.sqlite(e))?;
        let iterations = rows.into_iter().map(IterationRow::into_iteration);
        iterations.collect::<Result<_, _>>().map_err(|e| self.corrupt(run, e))
    }
}

struct IterationRow {
    number: u64,
    values: [String; 3],
    score: i64,
}

impl IterationRow {
    fn read(row: &Row<'_>) -> rusqlite::Result<IterationRow> {
        let values = [row.get(1)?, row.get(2)?, row.get(4)?];
        Ok(IterationRow { number: row.get(0)?, values, score: row.get(3)? })
    }

    fn into_iteration(self) -> Result<Iteration, String> {
        let number = self.number;
        let list = |text: &String| -> Result<Vec<f64>, String> {
            serde_json::from_str(text).map_err(|error| format!("iteration {number}: {error}"))
        };
        let [plus, minus, theta] = &self.values;
        let sides = [list(plus)?, list(minus)?];
        Ok(Iteration { number, sides, score: self.score, theta: list(theta)? })
    }
}
