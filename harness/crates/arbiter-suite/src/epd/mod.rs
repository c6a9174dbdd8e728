//! EPD suites: positions with a best move, a move to avoid, a mate to find, or points for moves.
//!
//! [`read()`] parses lines into records, [`Judge`] follows and judges a search, and [`Tally`]
//! counts results. Opcodes follow the EPD section of the PGN standard (S. J. Edwards, 1994). Points
//! for moves in `c0` and `c7` to `c9` follow the Strategic Test Suite (STS).

mod judge;
mod read;
mod tally;
mod task;

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
    /// Number of the line, counted from 1.
    pub line: usize,
    /// Text of the line.
    pub text: String,
    /// Operand of `id`.
    pub id: Option<String>,
    /// Theme of the position; `None` if no theme can be derived from the id.
    pub theme: Option<String>,
    /// Position to search.
    pub start: Start,
    /// Condition for solving the position.
    pub goal: Goal,
    /// Messages about parts of the line that are ignored.
    pub notes: Vec<String>,
}

/// Condition for solving a position.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Goal {
    /// Operands of `bm`: each of these moves is correct.
    pub best: Vec<Move>,
    /// Operands of `am`: each of these moves is wrong.
    pub avoid: Vec<Move>,
    /// Maximum number of moves to mate in the engine's score. Positive (`dm`, `bm #5`) if the side
    /// to move must mate; negative (`bm #-5`) if the side to move is mated. Never zero.
    pub mate: Option<i32>,
    /// Points for moves; all other moves get no points.
    pub points: Vec<(Move, u32)>,
}

impl Goal {
    /// Returns whether the record specifies neither moves nor a mate nor points.
    pub fn is_empty(&self) -> bool {
        *self == Goal::default()
    }

    /// Returns whether a move with this score solves the position. A best move solves the position.
    /// If the record requires a mate, announcing this mate within the required number of moves also
    /// solves the position. If the record gives only points, a move with the most points solves the
    /// position. A move to avoid never solves the position. If the record specifies moves to avoid
    /// but no best moves, every other move solves the position.
    pub fn is_solved_by(&self, played: Move, score: Option<Score>) -> bool {
        // The record may also require a mate or give points, but a move to avoid is wrong
        // regardless of the score.
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
            // Without `bm`, every move that `am` does not list is correct.
            (false, ..) => true,
            (true, None, Some(most)) => self.points_of(played) == Some(most),
            _ => false,
        }
    }

    /// Returns whether a score announces the mate that the record requires, in at most the required
    /// number of moves.
    pub fn announces_mate(&self, score: Option<Score>) -> bool {
        let (Some(limit), Some(Score::Mate(moves))) = (self.mate, score) else { return false };
        // A shorter mate is also a solution.
        moves.signum() == limit.signum() && moves.unsigned_abs() <= limit.unsigned_abs()
    }

    /// Returns the points for a move; `None` if the record gives no points.
    pub fn points_of(&self, played: Move) -> Option<u32> {
        let found = self.points.iter().find(|(listed, _)| *listed == played);
        (!self.points.is_empty()).then(|| found.map_or(0, |(_, points)| *points))
    }

    /// Returns the maximum number of points for a move; `None` if the record gives no points.
    pub fn most_points(&self) -> Option<u32> {
        self.points.iter().map(|(_, points)| *points).max()
    }
}
