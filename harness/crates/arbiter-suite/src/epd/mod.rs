//! EPD suites: positions with the move to find, to avoid, the mate to see, or points for moves.
//!
//! [`read()`] parses lines into records, [`Judge`] follows a search and judges it, and [`Tally`]
//! counts. The names of operations are those of the PGN standard's section on EPD (S. J. Edwards,
//! 1994); points for moves in `c0` and `c7` to `c9` are the habit of the Strategic Test Suite.

mod judge;
mod points;
mod read;
mod tally;
mod task;
mod theme;

use shakmaty::Move;

pub use judge::{Answer, Judge, Outcome, SearchProgress};
pub use read::{Suite, read};
pub use tally::{Comparison, SearchOutcome, Tally, compare, themes};
pub use task::{EngineAnswers, Question, Search};

use arbiter_position::Start;
use arbiter_protocol::Score;

/// Position with its question.
#[derive(Debug, Clone)]
pub struct Record {
    /// Number of the line, from 1.
    pub line: usize,
    /// Text of the line.
    pub text: String,
    /// Operand of `id`.
    pub id: Option<String>,
    /// Theme of the position, as far as the id names one.
    pub theme: Option<String>,
    /// The position.
    pub start: Start,
    /// Condition for a solution.
    pub goal: Goal,
    /// Parts of the line that were left out, with reasons.
    pub notes: Vec<String>,
}

/// Condition for a solution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Goal {
    /// Operands of `bm`: any of these moves is right.
    pub best: Vec<Move>,
    /// Operands of `am`: any of these moves is wrong.
    pub avoid: Vec<Move>,
    /// Moves to mate: positive (`dm`, `bm #5`) for a mate to be found in as many at most, negative
    /// (`bm #-5`) if the side to move is mated in as many at most. Never zero.
    pub mate: Option<i32>,
    /// Points for moves; other moves have none.
    pub points: Vec<(Move, u32)>,
}

impl Goal {
    /// Returns whether no move, mate or points are asked for.
    pub fn is_empty(&self) -> bool {
        *self == Goal::default()
    }

    /// Returns whether a move with this score solves the position. A right move does; where a mate
    /// is asked for, its announcement in time does as well, and where nothing else is asked for,
    /// only that does. Where there are only points, a move with the most points is right.
    pub fn is_solved_by(&self, played: Move, score: Option<Score>) -> bool {
        // A record may have a mate or points as well; a move to avoid is wrong whatever its score.
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

    /// Returns whether a score is a mate by the side asked for, in at most the moves asked for.
    pub fn announces_mate(&self, score: Option<Score>) -> bool {
        let (Some(limit), Some(Score::Mate(moves))) = (self.mate, score) else { return false };
        // A faster mate than the one asked for is a solution too.
        moves.signum() == limit.signum() && moves.unsigned_abs() <= limit.unsigned_abs()
    }

    /// Returns the points of a move; `None` if the record gives none at all.
    pub fn points_of(&self, played: Move) -> Option<u32> {
        let found = self.points.iter().find(|(listed, _)| *listed == played);
        (!self.points.is_empty()).then(|| found.map_or(0, |(_, points)| *points))
    }

    /// Returns the most points of any move.
    pub fn most_points(&self) -> Option<u32> {
        self.points.iter().map(|(_, points)| *points).max()
    }
}
