//! Positions for suites, found in games: those with one clearly best move, as proved by a strong
//! engine.
//!
//! [`read_games`] parses games, [`candidates`] takes positions out of them, a [`Search`] asks the
//! engine about one and judges its answer, a [`Journal`] keeps the results through interruptions,
//! and [`suite_lines`] writes the suite.

mod candidate;
mod epd;
mod games;
mod journal;
mod proof;
mod task;
mod theme;

pub use candidate::{Candidate, candidates};
pub use epd::{MinedPosition, suite_lines};
pub use games::{Game, read_games, stored_game};
pub use journal::{Journal, JournalError, MiningResult};
pub use task::{OPTIONS, Search};

use serde::{Deserialize, Serialize};
use shakmaty::Move;

use arbiter_protocol::Score;

/// Conditions for a move to be clearly best, and for a position to be worth its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criteria {
    /// Depths of the quick looks that decide whether a proof is worth its time, in plies, rising.
    pub looks: Vec<u32>,
    /// Depth of the proof, in plies.
    pub depth: u32,
    /// Least lead of the best move over the second, in centipawns.
    pub gap: i32,
    /// Score that decides the game, in centipawns: scores beyond it count as this much, so that of
    /// two winning moves none is clearly best.
    pub decided: i32,
    /// Least depth at which the engine first settles on the solution, in plies.
    pub found_at: u32,
}

/// Number of depths, the last one included, at which a solution must have been clearly best.
pub const CONFIRMATIONS: u32 = 3;

/// Best move of a position, and its lead over the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Best move.
    pub best: Move,
    /// Second best move.
    pub second: Move,
    /// Score of the best move, for the side to move.
    pub best_score: Score,
    /// Score of the second best move, for the side to move.
    pub second_score: Score,
    /// Difference of the scores in centipawns, each limited to [`Criteria::decided`].
    pub gap: i32,
    /// Depth from which on the engine preferred the best move, in plies.
    pub found_at: u32,
    /// Principal variation, the best move first.
    pub line: Vec<Move>,
}

/// Reason for the rejection of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// A quick look shows two moves about as good.
    Unpromising,
    /// The proof shows two moves about as good.
    Unclear,
    /// The best move, or its clear lead, changes in the last depths of the search.
    Unsettled,
    /// The best move only recaptures.
    Recapture,
    /// The engine prefers the best move from a low depth on.
    Obvious,
    /// The search ended early or reported too little.
    Incomplete,
}

arbiter_names::named!(Rejection);
