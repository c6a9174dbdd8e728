//! Lazy evaluation of each version, which skips the full evaluation if it can hardly matter;
//! `PROVENANCE.md` lists the known facts.

use super::material::Counts;
use crate::chess::{Color, Position};
use crate::eval::Score;

/// Value of a pawn in the plain count, in centipawns.
const PAWN: Score = 106;

/// Difference between material and root score, in pawns, from which the older version uses the
/// material alone.
const ROOT_MARGIN: i32 = 3;

/// Margin in centipawns between an estimate and the window, for the newer version.
const WINDOW_MARGIN: Score = 250;

/// Input of the estimates, from White's point of view.
#[derive(Default)]
pub(super) struct Estimate {
    /// The score of the root, in pawns.
    root: i32,
    /// Positional part of the score at each ply of the line, in centipawns; until a position is
    /// evaluated, the value of the previous ply.
    positional: Vec<Score>,
}

impl Estimate {
    /// Starts at a new root, with its full score for the side to move.
    pub(super) fn reset(&mut self, position: &Position, score: Score) {
        self.root = signed(position, score) / PAWN;
        self.positional.clear();
        self.positional.push(0);
    }

    /// Records that a move is made.
    #[inline]
    pub(super) fn push<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.push(self.latest());
        }
    }

    /// Records that the latest move is taken back.
    #[inline]
    pub(super) fn pop<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.pop();
        }
    }

    /// Stores the positional part of a full score.
    pub(super) fn learn(&mut self, position: &Position, material: Score, score: Score) {
        if let Some(latest) = self.positional.last_mut() {
            *latest = signed(position, score) - material;
        }
    }

    fn latest(&self) -> Score {
        self.positional.last().copied().unwrap_or_default()
    }

    /// Returns whether the count differs so much from the root score that the material alone is
    /// used.
    #[inline]
    pub(super) fn is_far_from_root(&self, counts: &Counts) -> bool {
        (counts.difference() - self.root).abs() >= ROOT_MARGIN
    }

    /// Returns the material plus the positional part of the previous position, for the side to
    /// move.
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

/// Converts a score between the points of view of White and of the side to move.
#[inline]
pub(super) fn signed(position: &Position, score: Score) -> Score {
    if position.turn() == Color::White { score } else { -score }
}
