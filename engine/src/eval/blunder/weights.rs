//! Weights other than the piece-square tables, in centipawns, middlegame before endgame; see
//! `PROVENANCE.md`.

use super::super::pair::Pair;

const fn p(middle: i32, end: i32) -> Pair {
    Pair::new(middle, end)
}

/// Value of a piece, by kind.
pub(super) const MATERIAL: [Pair; 6] =
    [p(83, 98), p(328, 273), p(365, 303), p(473, 522), p(968, 976), p(0, 0)];

/// Phase of a piece, by kind: its share in keeping the game out of the endgame.
pub(super) const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Phase with all pieces on the board.
pub(super) const PHASE_MAX: i32 = 24;

/// Mobility, per reachable square above the usual number: knight, bishop, rook, queen.
pub(super) const MOBILITY: [Pair; 4] = [p(3, 4), p(4, 4), p(5, 3), p(1, 7)];

/// Usual number of reachable squares: knight, bishop, rook, queen.
pub(super) const MOBILITY_USUAL: [i32; 4] = [4, 7, 7, 14];

/// Isolated pawn: no friendly pawn on an adjacent file.
pub(super) const ISOLATED: Pair = p(-19, -5);

/// Doubled pawn: a friendly pawn ahead.
pub(super) const DOUBLED: Pair = p(-1, -17);

/// A passed pawn, by rank from its own side.
pub(super) const PASSED: [Pair; 8] =
    [p(0, 0), p(9, 1), p(4, 5), p(1, 25), p(13, 50), p(48, 103), p(109, 149), p(0, 0)];

/// Knight outpost: guarded by a pawn and safe from enemy pawns, from the fifth rank on.
pub(super) const KNIGHT_OUTPOST: Pair = p(41, 8);

/// Points per square attacked two steps from the enemy king: knight, bishop, rook, queen.
pub(super) const OUTER_POINTS: [i32; 4] = [1, 1, 1, 1];

/// Points per square attacked on or beside the enemy king.
pub(super) const INNER_POINTS: [i32; 4] = [3, 3, 4, 3];

/// Points for each file at the king without a friendly pawn.
pub(super) const FILE_POINTS: i32 = 2;

/// Initial points of a king on its first three ranks, by rank and file.
pub(super) const KING_POINTS: [[i32; 8]; 3] =
    [[2, 0, 2, 4, 4, 2, 0, 2], [2, 2, 4, 8, 8, 4, 2, 2], [6, 6, 8, 10, 10, 8, 6, 6]];

/// Initial points of a king beyond its third rank.
pub(super) const KING_POINTS_AWAY: i32 = 16;

/// Maximum number of points.
pub(super) const POINTS_MAX: i32 = 99;

/// Largest penalty, in centipawns.
pub(super) const DANGER_MAX: i32 = 1260;

/// Penalty per point in hundredths of a centipawn, in place of the table; its mean over all points
/// equals the mean of the table.
pub(super) const LINEAR: i32 = 1328;

/// Penalty per point in hundredths of a centipawn, in place of the table; its mean over the points
/// of kings in games equals the mean of the table.
pub(super) const LINEAR_IN_PLAY: i32 = 485;
