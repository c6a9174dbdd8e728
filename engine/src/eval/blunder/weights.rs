//! Weights other than the piece-square tables, in centipawns, as pairs of a middlegame and an
//! endgame value. Source: `PROVENANCE.md`.

use super::super::pair::Pair;

const fn p(middle: i32, end: i32) -> Pair {
    Pair::new(middle, end)
}

/// Value of a piece, by type.
pub(super) const MATERIAL: [Pair; 6] =
    [p(83, 98), p(328, 273), p(365, 303), p(473, 522), p(968, 976), p(0, 0)];

/// Contribution of a piece to the game phase, by type.
pub(super) const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Game phase of the starting position.
pub(super) const PHASE_MAX: i32 = 24;

/// Mobility bonus for each reachable square above the usual number: knight, bishop, rook, queen.
pub(super) const MOBILITY: [Pair; 4] = [p(3, 4), p(4, 4), p(5, 3), p(1, 7)];

/// Usual number of reachable squares: knight, bishop, rook, queen.
pub(super) const MOBILITY_USUAL: [i32; 4] = [4, 7, 7, 14];

/// Penalty for an isolated pawn, which has no friendly pawn on an adjacent file.
pub(super) const ISOLATED: Pair = p(-19, -5);

/// Penalty for a doubled pawn, which has a friendly pawn in front of it on the same file.
pub(super) const DOUBLED: Pair = p(-1, -17);

/// Bonus for a passed pawn, by rank from the point of view of the pawn's side.
pub(super) const PASSED: [Pair; 8] =
    [p(0, 0), p(9, 1), p(4, 5), p(1, 25), p(13, 50), p(48, 103), p(109, 149), p(0, 0)];

/// Bonus for a knight outpost. The knight must be on the fifth rank or higher, and protected by a
/// pawn; no enemy pawn may be able to attack the knight.
pub(super) const KNIGHT_OUTPOST: Pair = p(41, 8);

/// King attack points for each attacked square two king moves from the enemy king: knight, bishop,
/// rook, queen.
pub(super) const OUTER_POINTS: [i32; 4] = [1, 1, 1, 1];

/// King attack points for each attacked square on or next to the enemy king: knight, bishop, rook,
/// queen.
pub(super) const INNER_POINTS: [i32; 4] = [3, 3, 4, 3];

/// King attack points for each bare file: the king's file or an adjacent file, if no pawn of the
/// king's side is on the file.
pub(super) const FILE_POINTS: i32 = 2;

/// King attack points for the square of a king on its first three ranks, by rank and file.
pub(super) const KING_POINTS: [[i32; 8]; 3] =
    [[2, 0, 2, 4, 4, 2, 0, 2], [2, 2, 4, 8, 8, 4, 2, 2], [6, 6, 8, 10, 10, 8, 6, 6]];

/// King attack points for the square of a king beyond its third rank.
pub(super) const KING_POINTS_AWAY: i32 = 16;

/// Maximum number of king attack points.
pub(super) const POINTS_MAX: i32 = 99;

/// Maximum quadratic penalty for the attack on a king, in centipawns.
pub(super) const DANGER_MAX: i32 = 1260;

/// Penalty per king attack point in the experiment `linear_danger`, in hundredths of a centipawn.
/// The mean of this linear penalty over all numbers of points equals the mean of the quadratic
/// penalty.
pub(super) const LINEAR: i32 = 1328;

/// Penalty per king attack point in the experiment `linear_danger_in_play`, in hundredths of a
/// centipawn. The mean of this linear penalty over kings in games equals the mean of the quadratic
/// penalty.
pub(super) const LINEAR_IN_PLAY: i32 = 485;
