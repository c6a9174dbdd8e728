//! Positions for suites, found in games: those with one clearly best move, as a strong engine
//! proves.
//!
//! [`games`] reads games, [`candidate`] takes positions out of them, [`proof`] judges what an
//! engine says of one, [`theme`] says what its solution is like, [`task`] asks the engine,
//! [`journal`] keeps what was found through interruptions, and [`epd`] writes the suite.

pub mod candidate;
pub mod epd;
pub mod games;
pub mod journal;
pub mod proof;
pub mod task;
pub mod theme;

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

/// What was proven of a position.
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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

impl Rejection {
    /// All of them.
    pub const ALL: [Rejection; 6] = [
        Rejection::Unpromising,
        Rejection::Unclear,
        Rejection::Unsettled,
        Rejection::Recapture,
        Rejection::Obvious,
        Rejection::Incomplete,
    ];

    /// One word for it, also in journals.
    pub fn word(self) -> &'static str {
        match self {
            Rejection::Unpromising => "unpromising",
            Rejection::Unclear => "unclear",
            Rejection::Unsettled => "unsettled",
            Rejection::Recapture => "recapture",
            Rejection::Obvious => "obvious",
            Rejection::Incomplete => "incomplete",
        }
    }
}
