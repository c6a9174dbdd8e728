//! Weights of micro-Max 3.2, in 1/99 pawn. Source: `PROVENANCE.md`.

use crate::eval::Score;

/// Gain for capturing a piece, by type, in units of [`UNIT`]. The king cannot be captured.
pub(crate) const WORTH: [Score; 6] = [1, 3, 3, 5, 9, 0];

/// Value of a pawn.
pub(crate) const UNIT: Score = 99;

/// Gain of a promotion to a queen. The gain is 7 more than 792, the value of a queen minus the
/// value of a pawn.
pub(crate) const PROMOTION: Score = 799;

/// Gain of castling.
pub(crate) const CASTLING: Score = 30;

/// Unit of the cost of a pawn move. The cost is n − 1 units. There are two squares on the pawn's
/// rank that are two files away from the pawn; n is the number of these squares without a friendly
/// pawn.
pub(crate) const UNSUPPORTED: Score = 9;

/// Cost of a piece that steps in front of a friendly pawn, in the experiment `blocked_pawn`.
pub(crate) const BLOCKED: Score = 9;

/// Contribution of each rank to the distance from the centre, first rank first.
const RANKS: [Score; 8] = [12, 6, 2, 0, 0, 2, 6, 12];

/// Returns a measure of the distance between a square and the centre: the squared distance from the
/// e-file, in files, plus the contribution of the rank.
pub(crate) const fn eccentricity(file: u8, rank: u8) -> Score {
    let files = file as Score - 4;
    files * files + RANKS[rank as usize & 7]
}
