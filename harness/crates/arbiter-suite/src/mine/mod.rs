//! Positions for suites, found in games: those with one clearly best move, as a strong engine
//! proves.
//!
//! [`read_games`] reads games, [`candidates`] takes positions out of them, a [`Search`] asks the
//! engine about one and judges what it says, a [`Journal`] keeps what was found through
//! interruptions, and [`suite_lines`] writes the suite.

mod candidate;
mod epd;
mod games;
mod journal;
mod proof;
mod task;
mod theme;

pub use candidate::{Candidate, candidates};
pub use epd::{Found, suite_lines};
pub use games::{Game, read_games, stored_game};
pub use journal::{Journal, JournalError, Judged};
pub use task::{OPTIONS, Search};

use serde::{Deserialize, Serialize};
use shakmaty::Move;

use arbiter_protocol::Score;

/// What makes a move clearly best, and a position worth its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criteria {
    /// Depths of the looks that decide whether a proof is worth its time, in plies, rising.
    pub looks: Vec<u32>,
    /// Depth of the proof, in plies.
    pub depth: u32,
    /// How much better than the second move the best one is at least, in centipawns.
    pub gap: i32,
    /// A score that decides the game, in centipawns: whatever is beyond counts as this much, so
    /// that of two moves that win, none is clearly best.
    pub decided: i32,
    /// The engine must not prefer the solution from before this depth on, in plies.
    pub found_at: u32,
}

/// Depths, the last one included, at which a solution must have been clearly best.
pub const CONFIRMATIONS: u32 = 3;

/// The best move of a position, and how much better it is than the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// The one move.
    pub best: Move,
    /// The second best move.
    pub second: Move,
    /// Score of the best move, for the side to move.
    pub best_score: Score,
    /// Score of the second.
    pub second_score: Score,
    /// Difference of the scores in centipawns, both within what decides the game.
    pub gap: i32,
    /// The depth from which on the engine preferred the best move, in plies.
    pub found_at: u32,
    /// What the engine expects, the best move first.
    pub line: Vec<Move>,
}

/// Why a position is no question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// A quick look showed two moves about as good.
    Unpromising,
    /// The proof did.
    Unclear,
    /// Deep in the search, the best move changed.
    Unsettled,
    /// The best move only takes back.
    Recapture,
    /// The engine saw the best move at once.
    Obvious,
    /// The search ended early or told too little.
    Incomplete,
}

arbiter_names::named!(Rejection);
