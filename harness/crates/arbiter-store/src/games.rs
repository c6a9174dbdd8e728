//! Lists of a run's games, read page by page.

use rusqlite::{Row, named_params};

use super::{Result, Store};
use arbiter_game::outcome::Termination;

/// Filters and order for a list of games; a filter that is `None` accepts any game.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GameQuery {
    /// Index of an engine that must have played in the game.
    pub engine: Option<usize>,
    /// Required termination of the game.
    pub ending: Option<Termination>,
    /// Accepted openings, as indices in the order of the book.
    pub openings: Option<Vec<u64>>,
    /// Minimum number of plies, including book moves.
    pub min_plies: Option<u32>,
    /// Maximum number of plies, including book moves.
    pub max_plies: Option<u32>,
    /// Minimum swing, in centipawns. The swing of a game is the largest change of an engine's
    /// evaluation between two consecutive moves of that engine.
    pub min_swing: Option<u32>,
    /// Order of the list.
    pub order: GameOrder,
}

/// Order of a list of games.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum GameOrder {
    /// Order of the schedule.
    #[default]
    Schedule,
    /// Longest game first.
    Length,
    /// Largest swing first.
    Swing,
}

/// Part of a list of games.
#[derive(Debug, Clone, Copy)]
pub enum GamePart {
    /// At most `count` games, starting with game number `first` (from 1).
    Page {
        /// Number of the first game, from 1.
        first: u64,
        /// Maximum number of games.
        count: u64,
    },
    /// A game with the preceding and the following game; empty if the game is not in the list. The
    /// values are the number of the pair and the index of the game in the pair, both from 0.
    Around(u64, usize),
}

/// A game in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedGame {
    /// Number of the pair, from 0.
    pub pair: u64,
    /// Index of the game in the pair, from 0.
    pub half: usize,
    /// Index of the engine that played White.
    pub white: usize,
    /// Index of the engine that played Black.
    pub black: usize,
    /// Result: `1-0`, `0-1` or `1/2-1/2`.
    pub result: String,
    /// Termination of the game.
    pub termination: String,
    /// Number of plies, including book moves.
    pub plies: u32,
    /// Swing, in centipawns; `None` if the swing is unknown.
    pub swing: Option<u32>,
    /// Index of the opening in the order of the book.
    pub opening: u64,
    /// Number of the game in the list, from 1.
    pub number: u64,
    /// Total number of games in the list.
    pub total: u64,
}

impl ListedGame {
    /// Returns the value of the PGN tag `Round`: the number of the pair, a dot, and the number of
    /// the game in the pair. Both numbers count from 1.
    pub fn place(&self) -> String {
        format!("{}.{}", self.pair + 1, self.half + 1)
    }

    /// Returns the length of the game, in full moves, including book moves. The number of the last
    /// move is higher if the opening starts after move 1.
    pub fn length(&self) -> u32 {
        self.plies.div_ceil(2)
    }
}

/// Parses the value of the PGN tag `Round` into the number of the pair and the index of the game in
/// the pair, both from 0. Returns `None` for an invalid value.
pub fn parse_place(text: &str) -> Option<(u64, usize)> {
    let (pair, half) = text.split_once('.')?;
    Some((pair.parse::<u64>().ok()?.checked_sub(1)?, half.parse::<usize>().ok()?.checked_sub(1)?))
}

/// SQL query for a part of a list of games. The query returns each game with its number in the
/// complete list.
const CHOSEN: &str = "
    WITH chosen AS (
        SELECT pair, half, white, black, result, termination, plies, swing,
            row_number() OVER (
                ORDER BY CASE :order WHEN 0 THEN 0 WHEN 1 THEN -plies ELSE -coalesce(swing, -1) END,
                    pair, half
            ) AS number,
            count(*) OVER () AS total
        FROM games AS g
        WHERE run = :run
            AND (:engine IS NULL OR :engine IN (white, black))
            AND (:ending IS NULL OR :ending = termination)
            AND (:min_plies IS NULL OR plies >= :min_plies)
            AND (:max_plies IS NULL OR plies <= :max_plies)
            AND (:min_swing IS NULL OR swing >= :min_swing)
            AND (:openings IS NULL
                OR (SELECT opening FROM pairs AS p WHERE p.run = g.run AND p.pair = g.pair)
                    IN (SELECT value FROM json_each(:openings)))
    )
    SELECT pair, half, white, black, result, termination, plies, swing,
        (SELECT opening FROM pairs AS p WHERE p.run = :run AND p.pair = chosen.pair), number, total
    FROM chosen, (SELECT coalesce(:first, (
        SELECT number - 1 FROM chosen WHERE pair = :pair AND half = :half
    )) AS begin)
    WHERE number BETWEEN begin AND begin + :count - 1 ORDER BY number";

impl Store {
    /// Returns a part of the list of a run's games.
    pub fn games(&self, run: &str, query: &GameQuery, part: GamePart) -> Result<Vec<ListedGame>> {
        let (first, around, count) = match part {
            GamePart::Page { first, count } => (Some(first), None, count),
            GamePart::Around(pair, half) => (None, Some((pair, half)), 3),
        };
        let params = named_params! {
            ":run": run,
            ":engine": query.engine,
            ":ending": query.ending.map(|ending| ending.to_string()),
            // SQLite has no list parameters, so the list is passed as JSON; the debug format of a
            // list of numbers is valid JSON.
            ":openings": query.openings.as_ref().map(|openings| format!("{openings:?}")),
            ":min_plies": query.min_plies,
            ":max_plies": query.max_plies,
            ":min_swing": query.min_swing,
            ":order": query.order as u8,
            ":first": first,
            ":pair": around.map(|(pair, _)| pair),
            ":half": around.map(|(_, half)| half),
            ":count": count,
        };
        self.rows(CHOSEN, params, listed)
    }

    /// Returns the openings of a run's games. Each item contains the index of an opening in the
    /// order of the book, and the lowest number of a pair that was played from the opening.
    pub fn openings(&self, run: &str) -> Result<Vec<(u64, u64)>> {
        let select = "SELECT opening, min(pair) FROM pairs WHERE run = ?1 GROUP BY opening";
        self.rows(select, [run], |row| row.try_into())
    }
}

fn listed(row: &Row<'_>) -> rusqlite::Result<ListedGame> {
    Ok(ListedGame {
        pair: row.get(0)?,
        half: row.get(1)?,
        white: row.get(2)?,
        black: row.get(3)?,
        result: row.get(4)?,
        termination: row.get(5)?,
        plies: row.get(6)?,
        swing: row.get(7)?,
        opening: row.get(8)?,
        number: row.get(9)?,
        total: row.get(10)?,
    })
}
