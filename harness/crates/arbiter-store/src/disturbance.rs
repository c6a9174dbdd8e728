//! Pairs that the machine disturbed, for example by CPU contention: void pairs, and pairs that
//! count nevertheless.

use rusqlite::params;

use super::{Result, Store};
use crate::rows::GameRow;
use arbiter_run::{Disturbances, PlayedPair};

impl Store {
    /// Stores a void pair with its games, and with the reason why the pair is void. When the
    /// function returns, the pair is on disk.
    pub fn void(&self, run: &str, played: &PlayedPair, reason: &str) -> Result<()> {
        self.insert_disturbance(run, played.pairing.pair, reason, Some(played))
    }

    /// Adds a row for a disturbed pair. If the pair is void, `void` is the pair, and the games of
    /// the pair are stored in this row; otherwise, `void` is `None`.
    pub(super) fn insert_disturbance(
        &self,
        run: &str,
        pair: u64,
        reason: &str,
        void: Option<&PlayedPair>,
    ) -> Result<()> {
        let rows = void.map_or_else(Vec::new, games);
        let games = serde_json::to_string(&rows).expect("rows of numbers and text are JSON");
        // The statement itself counts the attempts, so that no other process can insert a row
        // between the count and the insertion.
        let insert = "INSERT INTO disturbances (run, pair, attempt, reason, counted, games)
            SELECT ?1, ?2, count(*), ?3, ?4, ?5 FROM disturbances WHERE run = ?1 AND pair = ?2";
        self.execute(insert, params![run, pair, reason, void.is_none(), games]).map(drop)
    }

    /// Returns the number of stored disturbances of a pair. For a pair that does not count yet,
    /// this number is the number of times that the pair has been voided.
    pub fn times_voided(&self, run: &str, pair: u64) -> Result<u64> {
        let count = "SELECT count(*) FROM disturbances WHERE run = ?1 AND pair = ?2";
        self.number(count, params![run, pair])
    }

    /// Returns the pairs that have been voided at least twice and are therefore postponed.
    pub fn postponed_pairs(&self, run: &str) -> Result<Vec<u64>> {
        let select = "SELECT pair FROM disturbances WHERE run = ?1 AND counted = 0
            GROUP BY pair HAVING count(*) > 1";
        self.rows(select, [run], |row| row.get(0))
    }

    /// Returns the numbers of disturbances in a run: of void pairs, and of pairs that count.
    pub fn disturbances(&self, run: &str) -> Result<Disturbances> {
        let of = |counted: bool| {
            let count = "SELECT count(*) FROM disturbances WHERE run = ?1 AND counted = ?2";
            self.number(count, params![run, counted])
        };
        Ok(Disturbances { voided: of(false)?, counted: of(true)? })
    }
}

/// Returns the stored form of the games of a pair that does not count.
pub(super) fn games(played: &PlayedPair) -> Vec<GameRow> {
    played.games.iter().map(GameRow::of).collect()
}
