//! EPD suites: positions with the move to find, to avoid, the mate to see, or points for moves.
//!
//! [`read()`] makes records of lines, [`Judge`] follows a search and says what it is worth, and
//! [`Tally`] counts. The names of operations are those of the PGN standard's section on EPD
//! (S. J. Edwards, 1994); points for moves in `c0` and `c7` to `c9` are the habit of the Strategic
//! Test Suite.

mod judge;
mod points;
mod read;
mod tally;
mod task;
mod theme;

use shakmaty::Move;

pub use judge::{Answer, Judge, Outcome, SearchProgress};
pub use read::{Suite, read};
pub use tally::{Comparison, Searched, Tally, compare, themes};
pub use task::{Answered, Question, Search};

use arbiter_position::Start;
use arbiter_protocol::Score;

/// A position with its question.
#[derive(Debug, Clone)]
pub struct Record {
    /// Number of its line, from 1.
    pub line: usize,
    /// The line itself.
    pub text: String,
    /// Its `id`.
    pub id: Option<String>,
    /// What it is about, as far as the id tells.
    pub theme: Option<String>,
    /// The position.
    pub start: Start,
    /// What counts as a solution.
    pub goal: Goal,
    /// Parts of the line that were left out, and why.
    pub notes: Vec<String>,
}

/// What counts as a solution.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Goal {
    /// `bm`: any of these moves is right.
    pub best: Vec<Move>,
    /// `am`: any of these moves is wrong.
    pub avoid: Vec<Move>,
    /// `dm`, `bm #5`: a mate in so many moves can be had; `bm #-5`: the side to move is mated in as many
    /// at most. Never zero.
    pub mate: Option<i32>,
    /// Points for moves; other moves have none.
    pub points: Vec<(Move, u32)>,
}

impl Goal {
    /// Whether no move, mate or points are asked for.
    pub fn is_empty(&self) -> bool {
        *self == Goal::default()
    }

    /// Whether a move with this score solves the position. A move does by being right; where a
    /// mate is asked for, to announce it in time does as well, and where nothing else is asked,
    /// it is what counts. Where there are only points, the move with the most is right.
    pub fn is_solved_by(&self, played: Move, score: Option<Score>) -> bool {
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
            (false, ..) => true,
            (true, None, Some(most)) => self.points_of(played) == Some(most),
            _ => false,
        }
    }

    /// Whether a score is a mate by the same side, soon enough.
    pub fn announces_mate(&self, score: Option<Score>) -> bool {
        let (Some(limit), Some(Score::Mate(moves))) = (self.mate, score) else { return false };
        moves.signum() == limit.signum() && moves.unsigned_abs() <= limit.unsigned_abs()
    }

    /// The points of a move; `None` if the record gives none at all.
    pub fn points_of(&self, played: Move) -> Option<u32> {
        let found = self.points.iter().find(|(listed, _)| *listed == played);
        (!self.points.is_empty()).then(|| found.map_or(0, |(_, points)| *points))
    }

    /// The most points that can be had.
    pub fn most_points(&self) -> Option<u32> {
        self.points.iter().map(|(_, points)| *points).max()
    }
}
