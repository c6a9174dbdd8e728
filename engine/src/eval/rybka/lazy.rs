//! Lazy evaluation of each version: an estimate replaces the full score if the difference is
//! unlikely to matter. Source: `PROVENANCE.md`.

use super::material::Counts;
use crate::chess::{Color, Position};
use crate::eval::Score;

/// Value of a pawn in the piece count, in centipawns.
const PAWN: Score = 106;

/// Minimum difference between piece count and root score, in pawns, at which the older version uses
/// the material alone.
const ROOT_MARGIN: i32 = 3;

/// Margin, in centipawns, by which an estimate must be outside the search window to replace the
/// full score in the newer version.
const WINDOW_MARGIN: Score = 250;

/// Input of the estimates. All values are from White's point of view.
#[derive(Default)]
pub(super) struct Estimate {
    /// Score of the root, in pawns.
    root: i32,
    /// Positional part of the score at each ply of the line, in centipawns. Until the position at a
    /// ply is evaluated, the element for the ply is a copy of the previous element.
    positional: Vec<Score>,
}

impl Estimate {
    /// Starts at a new root. `score` is the full score of the root, in centipawns from the point of
    /// view of the side to move.
    pub(super) fn reset(&mut self, position: &Position, score: Score) {
        self.root = signed(position, score) / PAWN;
        self.positional.clear();
        self.positional.push(0);
    }

    /// Adds a ply if `LAZY`.
    #[inline]
    pub(super) fn push<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.push(self.latest());
        }
    }

    /// Removes the latest ply if `LAZY`.
    #[inline]
    pub(super) fn pop<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.pop();
        }
    }

    /// Stores the positional part of a full score at the latest ply. `material` is from White's
    /// point of view, `score` from the point of view of the side to move.
    pub(super) fn learn(&mut self, position: &Position, material: Score, score: Score) {
        if let Some(latest) = self.positional.last_mut() {
            *latest = signed(position, score) - material;
        }
    }

    fn latest(&self) -> Score {
        self.positional.last().copied().unwrap_or_default()
    }

    /// Returns whether the piece count differs so much from the root score that the material alone
    /// is used.
    #[inline]
    pub(super) fn is_far_from_root(&self, counts: &Counts) -> bool {
        (counts.difference() - self.root).abs() >= ROOT_MARGIN
    }

    /// Returns the estimate: the material plus the positional part of the latest evaluated
    /// position, from the point of view of the side to move.
    #[inline]
    pub(super) fn score(&self, position: &Position, material: Score) -> Score {
        signed(position, material + self.latest())
    }
}

/// Returns whether an estimate is so far outside the search window that it replaces the full score.
#[inline]
pub(super) fn is_outside(estimate: Score, alpha: Score, beta: Score) -> bool {
    estimate < alpha - WINDOW_MARGIN || estimate > beta + WINDOW_MARGIN
}

/// Converts a score from White's point of view to the point of view of the side to move, or vice
/// versa.
#[inline]
pub(super) fn signed(position: &Position, score: Score) -> Score {
    if position.turn() == Color::White { score } else { -score }
}
