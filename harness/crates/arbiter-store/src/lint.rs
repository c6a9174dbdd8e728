//! Findings of the lint.

use super::{Result, Store};
use arbiter_game::lint::LintRule;
use arbiter_game::record::GameRecord;

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
    /// Counts the findings in the games of a run that are on disk, by engine and rule.
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
}
