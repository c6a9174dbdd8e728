//! Parts of a run besides its pairs and games: iterations of a tuning run, response times of
//! engines, pairs that the machine disturbed (for example by CPU contention), lint findings, and
//! transcripts.

use std::io::Read;

use flate2::read::ZlibDecoder;
use rusqlite::params;

use super::{Result, Store};
use crate::rows::GameRow;
use arbiter_game::lint::LintRule;
use arbiter_game::record::GameRecord;
use arbiter_game::transcript::Transcript;
use arbiter_run::{Disturbances, Latencies, PlayedPair};
use arbiter_spsa::Iteration;

/// Maximum length of a transcript that is read, in bytes. A longer transcript is truncated, and the
/// incomplete last line causes an error.
const MAX_TRANSCRIPT: u64 = 256 << 20;

/// Number of findings of one rule in the games of one engine, with the first finding as an example.
#[derive(Debug, Clone)]
pub struct LintCount {
    /// Index of the engine.
    pub engine: usize,
    /// Rule of the lint.
    pub rule: LintRule,
    /// Number of moves that violate the rule.
    pub moves: u64,
    /// Number of games in which at least one move violates the rule.
    pub games: u64,
    /// Number of the example game's pair, from 0.
    pub pair: u64,
    /// Index of the example game in the pair, from 0.
    pub half: usize,
    /// Index of the move in the example game, from 0.
    pub ply: usize,
    /// Evidence for the finding in the example, as text.
    pub what: String,
    /// Record of the example game.
    pub game: GameRecord,
}

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
        let rows = void.map_or_else(Vec::new, game_rows);
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

    /// Returns the number of times that disturbed pairs of a run were voided, and the number of
    /// disturbed pairs that count.
    pub fn disturbances(&self, run: &str) -> Result<Disturbances> {
        let of = |counted: bool| {
            let count = "SELECT count(*) FROM disturbances WHERE run = ?1 AND counted = ?2";
            self.number(count, params![run, counted])
        };
        Ok(Disturbances { voided: of(false)?, counted: of(true)? })
    }

    /// Counts the lint findings in a run's games on disk, by engine and rule.
    pub fn lint(&self, run: &str) -> Result<Vec<LintCount>> {
        // With `min`, SQLite takes the other columns from the row with the minimum. The row with
        // the minimum is the first finding, because a game has far fewer than 65,536 plies.
        let select =
            "SELECT engine, rule, count(*), count(DISTINCT 2 * pair + half), pair, half, ply, what,
                 min((2 * pair + half) * 65536 + ply)
             FROM findings WHERE run = ?1 GROUP BY engine, rule";
        type Columns = (usize, String, u64, u64, u64, usize, usize, String, i64);
        let rows: Vec<Columns> = self.rows(select, [run], |row| row.try_into())?;
        let count = |(engine, rule, moves, games, pair, half, ply, what, _): Columns| {
            let rule = rule.parse().map_err(|error| self.corrupt(run, error))?;
            let played = self.pair(run, pair)?;
            let game = played.and_then(|played| played.games.iter().nth(half).cloned());
            let game = game.ok_or_else(|| self.schedule_mismatch(run, pair))?;
            Ok(LintCount { engine, rule, moves, games, pair, half, ply, what, game })
        };
        rows.into_iter().map(count).collect()
    }

    /// Returns the transcript of a game; `None` if no transcript was stored.
    pub(crate) fn transcript(&self, run: &str, game: (u64, usize)) -> Result<Option<Transcript>> {
        let (pair, half) = game;
        let select =
            "SELECT transcript FROM transcripts WHERE run = ?1 AND pair = ?2 AND half = ?3";
        let packed: Option<Vec<u8>> =
            self.row(select, params![run, pair, half], |row| row.get(0))?;
        let Some(packed) = packed else { return Ok(None) };
        let mut text = String::new();
        // A small value in a store from an untrusted source may expand to an unbounded size.
        let unpacked = ZlibDecoder::new(&packed[..]).take(MAX_TRANSCRIPT).read_to_string(&mut text);
        let read = unpacked.map_err(|e| e.to_string()).and_then(|_| text.parse());
        read.map(Some).map_err(|e| self.corrupt(run, format!("transcript of pair {pair}: {e}")))
    }

    /// Returns the games of a run that have stored transcripts, in schedule order. Each game is
    /// given as the number of the pair and the index of the game in the pair, both from 0.
    pub fn transcribed(&self, run: &str) -> Result<Vec<(u64, usize)>> {
        let select = "SELECT pair, half FROM transcripts WHERE run = ?1 ORDER BY pair, half";
        self.rows(select, [run], |row| row.try_into())
    }
}

/// Returns the stored form of the games of a pair that does not count.
pub(super) fn game_rows(played: &PlayedPair) -> Vec<GameRow> {
    played.games.iter().map(GameRow::of).collect()
}
