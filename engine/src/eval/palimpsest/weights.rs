//! The figures of the evaluation, in centipawns: middle game first, endgame second.
//!
//! Tables by square are written from White's side, eighth rank on top, files a to d only: files e
//! to h mirror them.

use super::super::pair::Pair;

const fn p(middle: i32, end: i32) -> Pair {
    Pair::new(middle, end)
}

/// A half board of bonuses, eighth rank first.
pub(super) type HalfBoard = [[Pair; 4]; 8];

/// Worth of a piece by kind.
pub(super) const MATERIAL: [Pair; 6] =
    [p(86, 108), p(335, 305), p(350, 325), p(470, 545), p(1010, 985), p(0, 0)];

/// How much a piece keeps the game in its middle; the start is worth [`PHASE_MAX`].
pub(super) const PHASE: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// Phase of the starting position.
pub(super) const PHASE_MAX: i32 = 24;

/// Having the move.
pub(super) const TEMPO: i32 = 14;

/// Two bishops.
pub(super) const BISHOP_PAIR: Pair = p(28, 52);

/// A pawn without own pawns on the neighbouring files.
pub(super) const ISOLATED: Pair = p(-12, -14);

/// A pawn with an own pawn in front of it.
pub(super) const DOUBLED: Pair = p(-8, -20);

/// A pawn defended by a pawn or with one beside it.
pub(super) const CONNECTED: Pair = p(9, 7);

/// A passed pawn, by its rank from its own side.
pub(super) const PASSED: [Pair; 8] =
    [p(0, 0), p(0, 8), p(2, 14), p(6, 32), p(26, 62), p(64, 118), p(110, 190), p(0, 0)];

/// A passed pawn that may step forward at once, per rank beyond the second.
pub(super) const PASSED_FREE: Pair = p(1, 6);

/// Distance of the kings from the square before a passed pawn, per step and rank beyond the third.
pub(super) const PASSED_KING: [i32; 2] = [3, 5];

/// A rook on a file without pawns, and without own pawns.
pub(super) const ROOK_FILE: [Pair; 2] = [p(36, 12), p(16, 8)];

/// A minor piece on a square defended by an own pawn and safe from enemy pawns for good.
pub(super) const OUTPOST: Pair = p(22, 12);

/// A piece attacked by a pawn.
pub(super) const PAWN_THREAT: Pair = p(48, 34);

/// A rook or queen attacked by a minor piece.
pub(super) const MINOR_THREAT: Pair = p(34, 28);

/// Each square within reach of a knight, bishop, rook or queen, above the usual number.
pub(super) const MOBILITY: [Pair; 4] = [p(5, 5), p(5, 6), p(3, 6), p(2, 5)];

/// The usual number of squares within reach.
pub(super) const MOBILITY_USUAL: [i32; 4] = [4, 6, 6, 12];

/// Units of danger per knight, bishop, rook or queen that looks at the king's surroundings.
pub(super) const ATTACKER: [i32; 4] = [8, 7, 9, 13];

/// Units of danger per square beside the king that is attacked.
pub(super) const ATTACKED_SQUARE: i32 = 3;

/// Units of danger a pawn of the shield takes away.
pub(super) const SHIELD: i32 = 4;

/// A pawn of the shield: next to the king's rank, and one further.
pub(super) const SHIELD_PAWN: [Pair; 2] = [p(14, 0), p(7, 0)];

/// Danger is squared, divided by this, and capped.
pub(super) const DANGER_DIVISOR: i32 = 10;

/// The cap.
pub(super) const DANGER_MAX: i32 = 420;

/// Sixteenths of the endgame score kept when the stronger side has no pawns and little more than
/// the other, and when bishops of opposite colour stand alone.
pub(super) const SCALE_NO_PAWNS: i32 = 3;

/// See [`SCALE_NO_PAWNS`].
pub(super) const SCALE_OPPOSITE_BISHOPS: i32 = 9;

/// Bonus by kind and square.
pub(super) const SQUARES: [HalfBoard; 6] = [PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING];

const PAWN: HalfBoard = [
    [p(0, 0), p(0, 0), p(0, 0), p(0, 0)],
    [p(40, 60), p(45, 56), p(48, 50), p(52, 44)],
    [p(6, 34), p(12, 32), p(22, 26), p(28, 20)],
    [p(-8, 14), p(4, 10), p(6, 4), p(18, -2)],
    [p(-14, 4), p(-4, 4), p(4, -3), p(16, -5)],
    [p(-14, -4), p(-4, -2), p(-2, -3), p(4, -1)],
    [p(-16, 0), p(4, 2), p(-6, 4), p(-10, 6)],
    [p(0, 0), p(0, 0), p(0, 0), p(0, 0)],
];

const KNIGHT: HalfBoard = [
    [p(-90, -52), p(-42, -36), p(-22, -18), p(-12, -12)],
    [p(-38, -30), p(-20, -14), p(12, -10), p(16, 2)],
    [p(-16, -18), p(12, -8), p(26, 8), p(36, 10)],
    [p(-2, -12), p(10, 4), p(24, 14), p(32, 20)],
    [p(-8, -12), p(8, 2), p(16, 14), p(20, 20)],
    [p(-20, -18), p(0, -6), p(10, 2), p(16, 14)],
    [p(-30, -28), p(-22, -14), p(-6, -8), p(2, -2)],
    [p(-62, -40), p(-26, -32), p(-26, -18), p(-16, -14)],
];

const BISHOP: HalfBoard = [
    [p(-22, -14), p(-10, -12), p(-20, -8), p(-20, -6)],
    [p(-20, -8), p(-4, -4), p(-4, -2), p(-8, -2)],
    [p(-4, -2), p(10, 0), p(16, 2), p(14, 2)],
    [p(-4, -2), p(6, 4), p(14, 6), p(26, 10)],
    [p(0, -6), p(8, 2), p(10, 8), p(22, 10)],
    [p(4, -8), p(14, 0), p(12, 6), p(10, 8)],
    [p(4, -14), p(16, -8), p(12, -4), p(4, 2)],
    [p(-14, -16), p(-2, -8), p(-10, -6), p(-12, -4)],
];

const ROOK: HalfBoard = [
    [p(10, 10), p(10, 12), p(12, 12), p(16, 10)],
    [p(10, 14), p(12, 14), p(26, 12), p(32, 8)],
    [p(-4, 8), p(10, 8), p(12, 6), p(16, 4)],
    [p(-14, 6), p(-6, 4), p(4, 6), p(8, 2)],
    [p(-20, 2), p(-12, 2), p(-8, 2), p(-2, 0)],
    [p(-24, -4), p(-10, -4), p(-10, -4), p(-6, -6)],
    [p(-26, -6), p(-10, -8), p(-6, -4), p(-2, -6)],
    [p(-10, -6), p(-8, -4), p(4, -4), p(12, -8)],
];

const QUEEN: HalfBoard = [
    [p(-12, 2), p(2, 8), p(8, 12), p(14, 14)],
    [p(-10, 0), p(-22, 12), p(-2, 20), p(-4, 28)],
    [p(2, -4), p(0, 4), p(6, 18), p(10, 26)],
    [p(-8, 4), p(-10, 16), p(-6, 18), p(-8, 30)],
    [p(-6, -2), p(-6, 10), p(-6, 14), p(-8, 26)],
    [p(-8, -10), p(2, -8), p(-2, 8), p(-4, 4)],
    [p(-16, -20), p(-6, -20), p(6, -18), p(6, -10)],
    [p(-8, -26), p(-14, -24), p(-8, -20), p(4, -18)],
];

const KING: HalfBoard = [
    [p(-30, -60), p(-10, -30), p(-30, -18), p(-50, -14)],
    [p(-20, -14), p(-10, 10), p(-30, 14), p(-40, 14)],
    [p(-24, 2), p(-6, 20), p(-26, 26), p(-40, 24)],
    [p(-36, -6), p(-20, 14), p(-36, 24), p(-52, 28)],
    [p(-42, -16), p(-22, 2), p(-40, 16), p(-56, 24)],
    [p(-18, -20), p(-8, -4), p(-30, 8), p(-42, 16)],
    [p(14, -32), p(14, -12), p(-18, 2), p(-38, 8)],
    [p(22, -58), p(36, -36), p(4, -22), p(-14, -24)],
];
