//! Pairs that the machine disturbed, for example by CPU contention: void pairs, and pairs that
//! count nevertheless.

use rusqlite::params;

use super::{Result, Store};
use crate::rows::GameRow;
use arbiter_run::{Disturbances, PlayedPair};

impl Store {
    /// Stores a pair that does not count, with its games and the reason; when the function returns,
    /// the pair is on disk.
    pub fn void(&self, run: &str, played: &PlayedPair, reason: &str) -> Result<()> {
        self.insert_disturbance(run, played.pairing.pair, reason, Some(played))
    }

    /// Adds a row; `void` is a pair that does not count, and whose games are therefore stored in
    /// this row.
    pub(super) fn insert_disturbance(
        &self,
        run: &str,
        pair: u64,
        reason: &str,
        void: Option<&PlayedPair>,
    ) -> Result<()> {
        let rows = void.map_or_else(Vec::new, games);
        let games = serde_json::to_string(&rows).expect("rows of numbers and text are JSON");
        // The statement itself counts the attempts, so that no other row can be inserted in
        // between.
        let insert = "INSERT INTO disturbances (run, pair, attempt, reason, counted, games)
            SELECT ?1, ?2, count(*), ?3, ?4, ?5 FROM disturbances WHERE run = ?1 AND pair = ?2";
        self.execute(insert, params![run, pair, reason, void.is_none(), games]).map(drop)
    }

    /// Returns the number of stored disturbances of a pair. For a pair that does not count yet,
    /// this is the number of times that the pair has been void.
    pub fn times_voided(&self, run: &str, pair: u64) -> Result<u64> {
        let count = "SELECT count(*) FROM disturbances WHERE run = ?1 AND pair = ?2";
        self.number(count, params![run, pair])
    }

    /// Returns the pairs that have been void at least twice and are therefore postponed.
    pub fn postponed_pairs(&self, run: &str) -> Result<Vec<u64>> {
        let select = "SELECT pair FROM disturbances WHERE run = ?1 AND counted = 0
            GROUP BY pair HAVING count(*) > 1";
        self.rows(select, [run], |row| row.get(0))
    }

    /// Returns the numbers of disturbances of a run, by whether the disturbed pair counts.
    pub fn disturbances(&self, run: &str) -> Result<Disturbances> {
        let of = |counted: bool| {
            let count = "SELECT count(*) FROM disturbances WHERE run = ?1 AND counted = ?2";
            self.number(count, params![run, counted])
        };
        Ok(Disturbances { voided: of(false)?, counted: of(true)? })
    }
}

/// Returns the games of a pair that does not count.
pub(super) fn games(played: &PlayedPair) -> Vec<GameRow> {
    played.games.iter().map(GameRow::of).collect()
}
