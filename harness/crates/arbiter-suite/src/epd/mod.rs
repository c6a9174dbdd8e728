//! EPD suites: positions with a move to find or to avoid, a mate to find, or points for moves.
//!
//! [`read()`] parses lines into records, [`Judge`] follows and judges a search, and [`Tally`]
//! counts results. Opcodes follow the EPD section of the PGN standard (S. J. Edwards, 1994); points
//! for moves in `c0` and `c7` to `c9` follow the Strategic Test Suite.

mod judge;
mod points;
mod read;
mod tally;
mod task;
mod theme;

use shakmaty::Move;

pub use judge::{Answer, Judge, Outcome, SearchProgress};
pub use read::read;
pub use tally::{Comparison, SearchOutcome, Tally, compare, themes};
pub use task::{EngineAnswers, Question, Search};

use arbiter_position::Start;
use arbiter_protocol::Score;

/// Position of a suite, with its solution and theme.
#[derive(Debug, Clone)]
pub struct Record {
    /// Number of the line, from 1.
    pub line: usize,
    /// Text of the line.
    pub text: String,
    /// Operand of `id`.
    pub id: Option<String>,
    /// Theme of the position, if the id contains one.
    pub theme: Option<String>,
    /// The position.
    pub start: Start,
    /// Condition for a solution.
    pub goal: Goal,
    /// Ignored parts of the line, with reasons.
    pub notes: Vec<String>,
}

/// Condition for a solution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Goal {
    /// Operands of `bm`: any of these moves is right.
    pub best: Vec<Move>,
    /// Operands of `am`: any of these moves is wrong.
    pub avoid: Vec<Move>,
    /// Moves to mate: positive (`dm`, `bm #5`) if the side to move mates in at most this many
    /// moves, negative (`bm #-5`) if the side to move is mated in at most this many moves. Never
    /// zero.
    pub mate: Option<i32>,
    /// Points for moves; a move that is not listed gets none.
    pub points: Vec<(Move, u32)>,
}

impl Goal {
    /// Returns whether the record asks for no move, mate or points.
    pub fn is_empty(&self) -> bool {
        *self == Goal::default()
    }

    /// Returns whether a move with this score solves the position. A right move solves the
    /// position. If the record asks for a mate, announcing the mate in time also solves the
    /// position; if the record asks for nothing else, this is the only solution. If the record only
    /// gives points, a move with the most points is right.
    pub fn is_solved_by(&self, played: Move, score: Option<Score>) -> bool {
        // A record may also have a mate or points; a move to avoid is wrong regardless of its
        // score.
        if self.avoid.contains(&played) {
            return false;
        }
        if self.mate.is_some() && self.announces_mate(score) {
            return true;
        }
        if !self.best.is_empty() {
            return self.best.contains(&played);
        }
        match (self.avoid.is_empty(), self.mate, self.most_points()) {
            // With `am` alone, any other move is right.
            (false, ..) => true,
            (true, None, Some(most)) => self.points_of(played) == Some(most),
            _ => false,
        }
    }

    /// Returns whether a score announces the mate that the record asks for, in at most the required
    /// number of moves.
    pub fn announces_mate(&self, score: Option<Score>) -> bool {
        let (Some(limit), Some(Score::Mate(moves))) = (self.mate, score) else { return false };
        // A faster mate is also a solution.
        moves.signum() == limit.signum() && moves.unsigned_abs() <= limit.unsigned_abs()
    }

    /// Returns the points of a move; `None` if the record gives no points.
    pub fn points_of(&self, played: Move) -> Option<u32> {
        let found = self.points.iter().find(|(listed, _)| *listed == played);
        (!self.points.is_empty()).then(|| found.map_or(0, |(_, points)| *points))
    }

    /// Returns the maximum number of points for a move.
    pub fn most_points(&self) -> Option<u32> {
        self.points.iter().map(|(_, points)| *points).max()
    }
}
