//! Lazy evaluation of each version, which skips the evaluation where it can hardly matter;
//! `PROVENANCE.md` says what is known of it.

use super::material::Counts;
use crate::chess::{Color, Position};
use crate::eval::Score;

/// A pawn of the plain count, in centipawns.
const PAWN: Score = 106;

/// Difference in pawns between material and the root's score from which material alone decides, for
/// the older version.
const ROOT_MARGIN: i32 = 3;

/// Margin in centipawns between an estimate and the window, for the younger version.
const WINDOW_MARGIN: Score = 250;

/// Input of the estimates; all from White's side.
#[derive(Default)]
pub(super) struct Estimate {
    /// The score of the root, in pawns.
    root: i32,
    /// Positional part of the score at each ply of the line, or the one of the ply before if the
    /// position was not evaluated; in centipawns.
    positional: Vec<Score>,
}

impl Estimate {
    /// A new root, with its whole score for the side to move.
    pub(super) fn reset(&mut self, position: &Position, score: Score) {
        self.root = signed(position, score) / PAWN;
        self.positional.clear();
        self.positional.push(0);
    }

    /// Notes that a move is made.
    #[inline]
    pub(super) fn push<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.push(self.latest());
        }
    }

    /// Notes that the move is taken back.
    #[inline]
    pub(super) fn pop<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.pop();
        }
    }

    /// Keeps the positional part of a whole score.
    pub(super) fn learn(&mut self, position: &Position, material: Score, score: Score) {
        if let Some(latest) = self.positional.last_mut() {
            *latest = signed(position, score) - material;
        }
    }

    fn latest(&self) -> Score {
        self.positional.last().copied().unwrap_or_default()
    }

    /// Returns whether the count is so far from the root's score that material alone decides.
    #[inline]
    pub(super) fn is_far_from_root(&self, counts: &Counts) -> bool {
        (counts.difference() - self.root).abs() >= ROOT_MARGIN
    }

    /// Returns the material plus the previous position's positional part, for the side to move.
    #[inline]
    pub(super) fn score(&self, position: &Position, material: Score) -> Score {
        signed(position, material + self.latest())
    }
}

/// Returns whether an estimate is so far outside the window that it is good enough.
#[inline]
pub(super) fn is_outside(estimate: Score, alpha: Score, beta: Score) -> bool {
    estimate < alpha - WINDOW_MARGIN || estimate > beta + WINDOW_MARGIN
}

/// Converts a score between White's side and the side to move.
#[inline]
pub(super) fn signed(position: &Position, score: Score) -> Score {
    if position.turn() == Color::White { score } else { -score }
}
