//! Weights of micro-Max 3.2, in 1/99 pawn; see `PROVENANCE.md`.

use crate::eval::Score;

/// Gain for taking a piece, by its kind, in units of [`UNIT`]; the king cannot be taken.
pub(crate) const WORTH: [Score; 6] = [1, 3, 3, 5, 9, 0];

/// Value of a pawn.
pub(crate) const UNIT: Score = 99;

/// Gain of a promotion to a queen; the value of a queen minus a pawn would be 792.
pub(crate) const PROMOTION: Score = 799;

/// Gain of castling.
pub(crate) const CASTLING: Score = 30;

/// Cost unit of a pawn move. The cost is this unit times the number of squares, of the two squares
/// two files beside the pawn, that have no friendly pawn, minus one unit.
pub(crate) const UNSUPPORTED: Score = 9;

/// Cost of a piece that steps in front of a friendly pawn, in the experiment `blocked_pawn`.
pub(crate) const BLOCKED: Score = 9;

/// Contribution of the ranks to the distance from the centre, first rank first.
const RANKS: [Score; 8] = [12, 6, 2, 0, 0, 2, 6, 12];

/// Returns the distance of a square from the centre, which is on the e-file.
pub(crate) const fn eccentricity(file: u8, rank: u8) -> Score {
    let files = file as Score - 4;
    files * files + RANKS[rank as usize & 7]
}
