//! Figures of micro-Max 3.2; see `PROVENANCE.md`.

use crate::eval::Score;

/// Gain for taking a piece, by its kind, in units of [`UNIT`]; the king cannot be taken.
pub(crate) const WORTH: [Score; 6] = [1, 3, 3, 5, 9, 0];

/// A pawn.
pub(crate) const UNIT: Score = 99;

/// Gained by the promotion to a queen: not quite the difference of a queen and a pawn.
pub(crate) const PROMOTION: Score = 799;

/// Gained by castling.
pub(crate) const CASTLING: Score = 30;

/// Lost for each of the two squares beside a pawn's neighbours that holds no own pawn, beyond one.
pub(crate) const UNSUPPORTED: Score = 9;

/// Lost by a piece that steps before an own pawn, where that is tried.
pub(crate) const BLOCKED: Score = 9;

/// The part of the distance from the centre that the ranks make, first rank first.
const RANKS: [Score; 8] = [12, 6, 2, 0, 0, 2, 6, 12];

/// Returns the distance of a square from the centre, whose middle is the e-file.
pub(crate) const fn eccentricity(file: u8, rank: u8) -> Score {
    let files = file as Score - 4;
    files * files + RANKS[rank as usize & 7]
}
