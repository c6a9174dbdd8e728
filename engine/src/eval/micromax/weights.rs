//! Weights of micro-Max 3.2, in 1/99 pawn. Source: `PROVENANCE.md`.

use crate::eval::Score;

/// Gain for capturing a piece, by kind, in units of [`UNIT`]. The king cannot be captured.
pub(crate) const WORTH: [Score; 6] = [1, 3, 3, 5, 9, 0];

/// Value of a pawn.
pub(crate) const UNIT: Score = 99;

/// Gain of a promotion to a queen. It is 7 more than the value of a queen minus a pawn, 792.
pub(crate) const PROMOTION: Score = 799;

/// Gain of castling.
pub(crate) const CASTLING: Score = 30;

/// Cost unit of a pawn move. The cost is this unit times n − 1. Here, n counts the squares without
/// a friendly pawn among the two squares on the same rank and two files away.
pub(crate) const UNSUPPORTED: Score = 9;

/// Cost of a piece that steps in front of a friendly pawn, in the experiment `blocked_pawn`.
pub(crate) const BLOCKED: Score = 9;

/// Contribution of the rank to the distance from the centre, first rank first.
const RANKS: [Score; 8] = [12, 6, 2, 0, 0, 2, 6, 12];

/// Returns the distance of a square from the centre: the square of the distance from the e-file,
/// plus the contribution of the rank.
pub(crate) const fn eccentricity(file: u8, rank: u8) -> Score {
    let files = file as Score - 4;
    files * files + RANKS[rank as usize & 7]
}
