//! Pairs that the machine disturbed: which were void, and which counted all the same.

use rusqlite::{Connection, params};

use super::{Store, StoreError};
use arbiter_plan::run::job::PlayedPair;
use arbiter_plan::run::noise::Disturbances;
use arbiter_schema::GameRow;

impl Store {
    /// Notes a pair that does not count, with its games and the reason; when it returns this is on
    /// the disk.
    pub fn void(&self, run: &str, played: &PlayedPair, reason: &str) -> Result<(), StoreError> {
        let pair = played.pairing.pair;
        insert(&self.connection, run, pair, reason, Some(played)).map_err(|e| self.sqlite(e))
    }

    /// How often a pair was void so far.
    pub fn times_voided(&self, run: &str, pair: u64) -> Result<u32, StoreError> {
        let count = "SELECT count(*) FROM disturbances WHERE run = ?1 AND pair = ?2";
        self.connection
            .query_row(count, params![run, pair], |row| row.get(0))
            .map_err(|e| self.sqlite(e))
    }

    /// The disturbances of a run.
    pub fn disturbances(&self, run: &str) -> Result<Disturbances, StoreError> {
        let sums = "SELECT count(*) FILTER (WHERE NOT counted), count(*) FILTER (WHERE counted)
                    FROM disturbances WHERE run = ?1";
        self.connection
            .query_row(sums, [run], |row| {
                Ok(Disturbances { voided: row.get(0)?, counted: row.get(1)? })
            })
            .map_err(|e| self.sqlite(e))
    }
}

/// The games of a pair that does not count.
pub(super) fn games(played: &PlayedPair) -> Vec<GameRow> {
    played.games.iter().map(GameRow::of).collect()
}

/// Adds a row; `void` is a pair that does not count, whose games are nowhere else.
pub(super) fn insert(
    connection: &Connection,
    run: &str,
    pair: u64,
    reason: &str,
    void: Option<&PlayedPair>,
) -> rusqlite::Result<()> {
    let games = void.map_or_else(Vec::new, games);
    let mut statement = connection.prepare_cached(
        "INSERT INTO disturbances (run, pair, attempt, reason, counted, games)
         SELECT ?1, ?2, count(*), ?3, ?4, ?5 FROM disturbances WHERE run = ?1 AND pair = ?2",
    )?;
    let games = serde_json::to_string(&games).expect("rows of numbers and text are JSON");
    statement.execute(params![run, pair, reason, void.is_none(), games]).map(drop)
}
