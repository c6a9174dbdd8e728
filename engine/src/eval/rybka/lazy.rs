//! The evaluation skipped where it can hardly matter, as each version does it; `PROVENANCE.md` says what
//! is known of it.

use super::material::Counts;
use crate::chess::{Color, Position};
use crate::eval::Score;

/// A pawn of the plain count, in centipawns.
const PAWN: Score = 106;

/// Pawns that the count of material may differ from the root's score, for the older version.
const ROOT_MARGIN: i32 = 3;

/// Centipawns that an estimate has to be outside the window, for the younger version.
const WINDOW_MARGIN: Score = 250;

/// What estimates are made from; all from White's side.
#[derive(Default)]
pub(super) struct Estimate {
    /// The score of the root, in pawns.
    root: i32,
    /// The positional part of the latest score at each ply of the line, or of the ply before; in
    /// centipawns.
    positional: Vec<Score>,
}

impl Estimate {
    /// A new root, with its whole score for the side to move.
    pub(super) fn reset(&mut self, position: &Position, score: Score) {
        self.root = signed(position, score) / PAWN;
        self.positional.clear();
        self.positional.push(0);
    }

    /// A move is made.
    #[inline]
    pub(super) fn push<const LAZY: bool>(&mut self) {
        if LAZY {
            self.positional.push(self.latest());
        }
    }

    /// It is taken back.
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

    /// Is the count so far from the root's score that material alone decides?
    #[inline]
    pub(super) fn is_far_from_root(&self, counts: &Counts) -> bool {
        (counts.difference() - self.root).abs() >= ROOT_MARGIN
    }

    /// What the material and the positional part of the position before make, for the side to move.
    #[inline]
    pub(super) fn score(&self, position: &Position, material: Score) -> Score {
        signed(position, material + self.latest())
    }
}

/// Is an estimate so far outside the window that it is good enough?
#[inline]
pub(super) fn is_outside(estimate: Score, alpha: Score, beta: Score) -> bool {
    estimate < alpha - WINDOW_MARGIN || estimate > beta + WINDOW_MARGIN
}

/// From White's side to that of the side to move, or back.
#[inline]
pub(super) fn signed(position: &Position, score: Score) -> Score {
    if position.turn() == Color::White { score } else { -score }
}
