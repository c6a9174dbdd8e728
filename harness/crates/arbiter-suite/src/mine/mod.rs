//! Mining of suite positions from games: positions that have one clearly best move according to a
//! strong engine.
//!
//! [`read_games`] parses games, and [`candidates`] extracts positions from the games. A [`Search`]
//! asks the engine about a position and judges the answer. A [`Journal`] keeps the results across
//! interruptions. [`suite_lines`] returns the lines of the suite.

mod candidate;
mod epd;
mod games;
mod journal;
mod proof;

pub use candidate::{Candidate, candidates};
pub use epd::{MinedPosition, suite_lines};
pub use games::{Game, is_fault, read_games, stored_game};
pub use journal::{Journal, JournalError, MiningResult};
pub use proof::{OPTIONS, Search};

use serde::{Deserialize, Serialize};
use shakmaty::Move;

use arbiter_protocol::Score;

/// Conditions under which a move is clearly best and not obvious.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criteria {
    /// Depths, in plies and in ascending order, of the quick searches that determine whether the
    /// proof search is worthwhile.
    pub looks: Vec<u32>,
    /// Depth of the proof search, in plies.
    pub depth: u32,
    /// Minimum difference, in centipawns, between the scores of the best and the second best move.
    pub gap: i32,
    /// Absolute score, in centipawns, at which the game is decided. Scores are limited to ± this
    /// value, so that neither of two winning moves is clearly best.
    pub decided: i32,
    /// Minimum depth, in plies, at which the engine may start to prefer the solution. At a lower
    /// depth, the solution would be obvious.
    pub found_at: u32,
}

/// Number of depths at the end of the proof search, including the last depth, at which the solution
/// must be clearly best.
pub const CONFIRMATIONS: u32 = 3;

/// Best move in a position, and the lead of this move over the second best move.
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
    /// Difference between the two scores, in centipawns. Each score is limited to
    /// ±[`Criteria::decided`].
    pub gap: i32,
    /// Lowest depth, in plies, such that the engine preferred the best move at this depth and at
    /// every greater depth.
    pub found_at: u32,
    /// Principal variation, starting with the best move.
    pub line: Vec<Move>,
}

/// Reason for rejecting a position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rejection {
    /// A quick search finds two moves of similar value.
    Unpromising,
    /// The proof search finds two moves of similar value.
    Unclear,
    /// At one of the last depths of the proof search, the best move is different or has no clear
    /// lead.
    Unsettled,
    /// The best move is a recapture.
    Recapture,
    /// The engine already prefers the best move at a low depth.
    Obvious,
    /// The search ended early, or the output of the engine lacks scores or moves.
    Incomplete,
}

arbiter_names::named!(Rejection);
