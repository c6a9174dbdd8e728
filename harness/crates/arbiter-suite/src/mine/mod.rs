//! Mining of suite positions from games: positions with one clearly best move according to a strong
//! engine.
//!
//! [`read_games`] parses games, [`candidates`] extracts positions from them, a [`Search`] asks the
//! engine about a position and judges the answer, a [`Journal`] preserves the results across
//! interruptions, and [`suite_lines`] writes the suite.

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

/// Conditions for a move to be clearly best and not obvious.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criteria {
    /// Depths, in plies and in ascending order, of the quick searches that decide whether to run
    /// the proof search.
    pub looks: Vec<u32>,
    /// Depth of the proof search, in plies.
    pub depth: u32,
    /// Minimum lead of the best move over the second best move, in centipawns.
    pub gap: i32,
    /// Score that decides the game, in centipawns. Scores are limited to this value, so that
    /// neither of two winning moves is clearly best.
    pub decided: i32,
    /// Minimum depth, in plies, at which the engine first settles on the solution.
    pub found_at: u32,
}

/// Number of depths, including the last one, at which a solution must have been clearly best.
pub const CONFIRMATIONS: u32 = 3;

/// Best move of a position, and its lead over the second best move.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proof {
    /// Best move.
    pub best: Move,
    /// Second best move.
    pub second: Move,
    /// Score of the best move, from the point of view of the side to move.
    pub best_score: Score,
    /// Score of the second best move, from the point of view of the side to move.
    pub second_score: Score,
    /// Difference of the two scores, in centipawns; each score is limited to [`Criteria::decided`].
    pub gap: i32,
    /// Lowest depth, in plies, since which the engine always preferred the best move.
    pub found_at: u32,
    /// Principal variation, starting with the best move.
    pub line: Vec<Move>,
}

/// Reason for the rejection of a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// A quick search finds two moves of about equal value.
    Unpromising,
    /// The proof search finds two moves of about equal value.
    Unclear,
    /// The best move changes, or loses its clear lead, in the last depths of the search.
    Unsettled,
    /// The best move only recaptures.
    Recapture,
    /// The engine already prefers the best move at a low depth.
    Obvious,
    /// The search ended early or reported too little.
    Incomplete,
}

arbiter_names::named!(Rejection);
