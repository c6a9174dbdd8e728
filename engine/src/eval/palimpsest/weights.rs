//! The weights of the evaluation, written by `palimpsest tune`; `layout.rs` describes them.
//!
//! Scores are in centipawns for the middlegame and for the endgame. Units of danger and scales are
//! explained where they are used.

use super::layout::LEN;
use crate::eval::pair::Pair;

const fn p(middle: i32, end: i32) -> Pair {
    Pair::new(middle, end)
}

/// The weights, group by group; the middlegame comes first.
#[rustfmt::skip]
pub(super) static WEIGHTS: [Pair; LEN] = [
    // MATERIAL: P N B R Q
    p(  50,  100), p( 311,  314), p( 343,  341), p( 426,  588), p(1022, 1008),
    // PST_PAWN: pawn, a2 to h7
    p( -15,    2), p(   0,   10), p(  -9,    0), p( -10,   11), p(  -8,    9), p(  -6,    9), p(  16,    8), p(  -9,    3),
    p( -22,    1), p( -20,   -5), p(  -2,   -7), p(  -6,    2), p(   7,   -6), p(   4,    5), p(  14,    4), p( -11,   -7),
    p( -23,    5), p(  -5,    4), p(  -3,   -9), p(  10,  -17), p(  15,   -8), p(   0,    4), p(  -6,    4), p( -17,   12),
    p(   1,    6), p(  -1,    4), p(  16,    0), p(   6,  -13), p(  14,   -4), p(   7,    5), p(   5,    9), p( -13,   13),
    p(   6,   30), p(  14,   30), p(  17,   24), p(  30,   22), p(  22,   20), p(  25,   25), p(  14,   38), p(  -2,   35),
    p(  41,   61), p(  43,   55), p(  48,   49), p(  51,   42), p(  51,   45), p(  46,   46), p(  46,   56), p(  38,   59),
    // PST_KNIGHT: knight, a1 to h8
    p( -61,  -39), p( -33,  -38), p( -22,  -20), p( -20,  -17), p( -10,  -16), p( -26,  -20), p( -41,  -35), p( -62,  -41),
    p( -23,  -30), p( -22,  -14), p( -23,  -11), p( -13,    4), p(  -1,   -1), p(  -8,   -5), p( -22,  -13), p( -27,  -29),
    p( -10,  -25), p( -22,   -4), p(   5,    4), p(  22,   14), p(   6,   15), p(   9,    4), p(  -3,   -3), p( -15,  -23),
    p( -12,   -9), p(   9,    3), p(  16,   11), p(  19,   23), p(  28,   24), p(  15,   13), p(   9,    3), p(  -9,   -8),
    p(   5,   -9), p(  22,    5), p(  14,   12), p(  41,   19), p(  30,   21), p(  34,   15), p(  10,    6), p(  16,   -9),
    p( -12,  -14), p(  19,   -5), p(  25,    5), p(  32,    9), p(  33,    5), p(  25,    8), p(  10,   -7), p( -16,  -15),
    p( -39,  -33), p( -19,  -12), p(   8,  -10), p(  15,    3), p(  16,    3), p(  10,  -12), p( -21,  -13), p( -37,  -28),
    p( -92,  -52), p( -42,  -36), p( -22,  -18), p( -13,  -11), p( -14,  -14), p( -24,  -18), p( -42,  -38), p( -94,  -54),
    // PST_BISHOP: bishop, a1 to h8
    p( -12,  -16), p(  -4,   -9), p(  -4,  -10), p(  -7,   -1), p( -14,   -4), p( -10,    3), p(  -2,  -10), p( -12,  -16),
    p(  -3,  -15), p(  17,   -7), p(  10,   -7), p(   0,   -9), p(  -1,    6), p(  11,   -2), p(  23,  -10), p(   8,  -13),
    p(  -1,  -13), p(  13,    3), p(   3,    7), p(  10,   14), p(  11,    6), p(  18,   10), p(   3,   -3), p(   1,   -9),
    p(   5,   -5), p(   4,    1), p(   2,   11), p(  21,    8), p(  12,    5), p(  15,    5), p(  10,    1), p(   2,   -4),
    p(  -4,   -2), p(  19,    5), p(  20,    5), p(  17,   12), p(  27,   11), p(  10,    1), p(   9,    7), p(  -5,    0),
    p(  -5,   -3), p(   7,    2), p(  11,    1), p(  18,    7), p(  17,    5), p(  11,   -1), p(  13,    2), p(  -6,   -5),
    p( -24,   -9), p(  -6,   -3), p(   0,    0), p(  -8,   -2), p(  -7,    0), p(   0,    1), p(  -5,   -5), p( -16,   -4),
    p( -23,  -14), p( -10,  -12), p( -21,   -8), p( -20,   -9), p( -20,   -7), p( -21,   -9), p( -10,  -11), p( -23,  -16),
    // PST_ROOK: rook, a1 to h8
    p( -19,   -5), p(  -6,   -7), p(   4,   -3), p(  10,  -15), p(   9,  -11), p(  -2,   -7), p( -17,   -1), p( -22,  -10),
    p( -20,   -4), p( -17,  -11), p(  -5,    3), p(   0,   -6), p(  -7,   -8), p(  -5,   -4), p( -12,  -11), p( -25,   -7),
    p( -25,   -6), p( -16,   -7), p( -14,   -6), p(   7,   -2), p(  -9,   -6), p(  -4,   -2), p(  -2,    2), p( -24,   -5),
    p( -21,    9), p( -13,    4), p( -12,   -3), p(   0,    4), p(  -5,    2), p( -11,   -3), p( -15,    3), p( -30,    3),
    p( -18,   11), p(  -8,    5), p(   7,   13), p(   8,    1), p(  13,    3), p(   4,    8), p(  -7,    4), p( -12,    9),
    p(  -7,   10), p(  13,    9), p(  13,    7), p(  14,    2), p(  18,    8), p(  14,   11), p(  14,   15), p(  -2,    9),
    p(   9,   18), p(  12,   12), p(  25,   11), p(  34,    9), p(  32,   11), p(  24,   11), p(  10,   12), p(  11,   13),
    p(   9,   11), p(   9,   14), p(  13,   13), p(  16,   11), p(  17,   13), p(  12,   15), p(  11,   13), p(   8,    7),
    // PST_QUEEN: queen, a1 to h8
    p( -10,  -24), p( -12,  -24), p(  -6,  -20), p(   0,  -21), p(  -4,  -21), p(  -9,  -20), p( -13,  -24), p(  -5,  -26),
    p( -14,  -18), p(   1,  -19), p(  11,  -14), p(  -8,  -10), p(  -3,  -10), p(   4,  -18), p(  -4,  -21), p( -13,  -21),
    p(  -4,   -8), p(   2,   -7), p(   9,   11), p(   3,    3), p(  -2,    6), p(   2,   10), p(  19,   -4), p( -12,  -11),
    p(   2,   -1), p(  -5,   13), p( -10,   14), p(  -5,   26), p( -11,   26), p(  -7,   16), p(  -1,   11), p(  -4,    0),
    p(  -5,    5), p( -17,   14), p(  -9,   17), p(  -9,   30), p(  -7,   31), p( -11,   18), p(  -7,   17), p(  -7,    6),
    p(   5,   -2), p(  -1,    4), p(   5,   18), p(  10,   27), p(   7,   26), p(   6,   16), p(   0,    6), p(  -2,   -6),
    p( -13,    0), p( -17,   13), p(  -3,   20), p(  -8,   28), p(  -5,   28), p(  -8,   20), p( -24,   13), p( -14,   -1),
    p( -13,    3), p(   2,    9), p(   8,   12), p(  13,   14), p(  14,   14), p(   6,   11), p(  -3,    5), p( -15,    0),
    // PST_KING: king, e1 to h8
    p(  -6,  -29), p(  -5,  -22), p(  48,  -42), p(  32,  -52), p( -41,    0), p( -19,   -3), p(   3,  -13), p(  21,  -28),
    p( -48,   11), p( -43,    5), p(  -2,    2), p( -19,  -25), p( -55,   28), p( -37,   22), p( -24,    6), p( -45,  -22),
    p( -50,   30), p( -35,   28), p( -20,   14), p( -35,   -5), p( -41,   26), p( -26,   32), p(  -6,   18), p( -24,    3),
    p( -39,   15), p( -29,   17), p( -11,   12), p( -20,  -13), p( -50,  -14), p( -30,  -18), p( -10,  -30), p( -30,  -60),
    // BISHOP_PAIR
    p(  16,   57),
    // SUPPORTED: defended, by rank
    p(   0,    0), p(   0,    0), p(   8,    8), p(  10,   -6), p(  10,    0), p(  20,   13), p(  29,   29), p(   0,    0),
    // PHALANX: beside another, by rank
    p(   0,    0), p(   4,    2), p(   0,   11), p(   8,   10), p(  10,    8), p(  25,   30), p(  40,   51), p(   0,    0),
    // ISOLATED: by file
    p(  -4,   -6), p(  -7,  -13), p(  -5,   -2), p(   4,  -10),
    // ISOLATED_OPEN: no enemy pawn ahead
    p(  -7,    2),
    // DOUBLED: by file
    p(  -5,  -27), p(  -7,  -29), p(  -8,  -15), p(  -7,  -11),
    // BACKWARD: by rank
    p(   0,    0), p(  -5,   -3), p(  -5,   -4), p(  -8,   -6), p(  -2,   -8), p(   0,    0), p(   0,    0), p(   0,    0),
    // BACKWARD_OPEN: no enemy pawn ahead
    p( -16,   -7),
    // CANDIDATE: by rank
    p(   0,    0), p(   6,    9), p(  12,    0), p(   0,   11), p(  15,   22), p(  29,   45), p(   0,    0), p(   0,    0),
    // PASSED: by rank
    p(   0,    0), p(  -9,   15), p(   5,   19), p(   4,   37), p(  18,   60), p(  56,   97), p(  92,  157), p(   0,    0),
    // PASSED_FILE: by file
    p(   0,   13), p(   1,   20), p(  -6,    3), p( -13,   -3),
    // PASSED_DEFENDED: square ahead defended, by rank
    p(   0,    0), p(  -9,    3), p(  12,   13), p(   0,    7), p(   5,   20), p(  11,   20), p(  21,   26), p(   0,    0),
    // PASSED_BLOCKED: enemy ahead, by rank
    p(   0,    0), p(   0,    3), p(   0,   -5), p(  -3,   -6), p(  -3,  -13), p(  -9,  -25), p( -17,  -46), p(   0,    0),
    // PASSED_STEP: safe step, by rank
    p(   0,    0), p(  -4,    5), p(   6,   10), p(  -1,    7), p(   6,   17), p(  10,   28), p(  12,   36), p(   0,    0),
    // PASSED_PATH: safe way, by rank
    p(   0,    0), p(   2,   11), p(   1,   14), p(   4,   24), p(  11,   43), p(  14,   60), p(  23,   77), p(   0,    0),
    // PASSED_UNSTOPPABLE: out of the king's reach
    p(   0,  152),
    // PASSED_OWN_KING: own king, by distance
    p(   2,   13), p(  -1,   16), p(  -1,   -4), p(  -4,  -13), p(  -7,  -16), p(   4,  -23), p( -11,  -22), p(  -5,  -23),
    // PASSED_ENEMY_KING: enemy king, by distance
    p(  -9,  -11), p(  -6,  -12), p(   0,    3), p(   3,   19), p(  -4,   34), p(  -2,   42), p(  -5,   40), p(  -1,   38),
    // PASSED_ROOK: own, enemy
    p(   7,   11), p(  -9,  -28),
    // MOBILITY_KNIGHT: knight, by squares
    p( -30,  -29), p( -27,  -20), p( -14,  -12), p(  -3,   -6), p(   3,    4), p(   7,    9), p(   6,   15), p(   3,   20),
    p(   9,    9),
    // MOBILITY_BISHOP: bishop, by squares
    p( -52,  -49), p( -36,  -42), p( -25,  -22), p( -20,  -23), p(  -2,  -10), p(  -2,   -4), p(   5,    7), p(   4,    7),
    p(   7,   12), p(  15,   14), p(  17,   25), p(  16,   25), p(  26,   32), p(  30,   35),
    // MOBILITY_ROOK: rook, by squares
    p( -27,  -48), p( -35,  -41), p( -15,  -35), p( -12,  -25), p(  -3,  -13), p(  -2,   -1), p(  -9,    3), p(  -1,   14),
    p(  -1,    7), p(   2,   27), p(   6,   27), p(   7,   32), p(  21,   39), p(  20,   43), p(  22,   49),
    // MOBILITY_QUEEN: queen, by squares
    p( -30,  -75), p( -34,  -69), p( -17,  -61), p( -24,  -56), p( -11,  -48), p( -23,  -46), p( -14,  -39), p( -15,  -32),
    p( -11,  -27), p(  -4,  -13), p(  -5,   -8), p(  -5,   -1), p(   1,    3), p(   4,    9), p(   4,   10), p(   8,   17),
    p(   5,   19), p(   8,   23), p(  11,   28), p(  11,   31), p(  14,   36), p(  14,   37), p(  19,   45), p(  21,   51),
    p(  22,   54), p(  23,   57), p(  25,   63), p(  27,   68),
    // OUTPOST: knight, bishop
    p(  32,   19), p(  19,   14),
    // OUTPOST_REACH: within reach of a knight, bishop
    p(  20,   14), p(   9,    3),
    // MINOR_SHELTERED: behind a pawn
    p(  -3,   10),
    // MINOR_KING: knight, bishop, per step from the king
    p(  -4,    4), p(  -4,    0),
    // BISHOP_PAWNS: per own pawn of its colour
    p(  -5,    3),
    // BISHOP_BLOCKED: per blocked one
    p(  -5,  -11),
    // BISHOP_CENTRE: sees two squares of the centre
    p(  13,    5),
    // ROOK_FILE: open, half open
    p(  21,   16), p(  21,   15),
    // ROOK_BLOCKED: own blocked pawn
    p( -13,    5),
    // ROOK_SEVENTH
    p(   1,   14),
    // PAWN_THREAT: N B R Q
    p(  52,   31), p(  58,   37), p(  57,   33), p(  47,   29),
    // PUSH_THREAT
    p(  13,   14),
    // MINOR_THREAT: P N B R Q
    p(   6,   11), p(  19,   21), p(  22,   18), p(  46,   29), p(  38,   28),
    // ROOK_THREAT: P N B R Q
    p(  -4,   22), p(  18,   26), p(  17,   21), p(   3,    7), p(  36,   12),
    // HANGING: undefended, or attacked twice
    p(  17,   35),
    // KING_THREAT: attacked by the king
    p(   7,   28),
    // RESTRICTED
    p(   3,   -3),
    // SPACE
    p(  -3,    5),
    // SHELTER: own pawn, by file and rank
    p(   0,   -1), p(   8,  -11), p(  17,   -2), p(   9,    4), p(   2,    4), p(   1,    3), p(  -1,    0), p(   0,    0),
    p(  -7,    6), p(  12,   -2), p(   1,   -1), p(   0,   -5), p(   8,    4), p(   0,    4), p(   2,    2), p(   0,    0),
    p( -12,    7), p(  14,    7), p(  13,   -6), p(   2,    0), p(  -4,   -4), p(   3,   -3), p(  -3,   -4), p(   0,    0),
    p(  -4,    4), p(  10,    8), p(   2,   -7), p(  -4,   -6), p(   0,   -8), p(  -2,    4), p(  -2,   -1), p(   0,    0),
    // STORM: enemy pawn, by file and rank
    p(   1,   -4), p(  -2,    1), p( -13,    1), p( -12,    2), p(   2,   -3), p(   1,    3), p(   6,    4), p(   0,    0),
    p( -11,   -3), p(  -1,    3), p(  -9,    4), p(  -3,    0), p(  -3,   -2), p(  -8,    3), p(  -8,   -2), p(   0,    0),
    p(  -6,    2), p(  -3,    3), p( -19,    0), p( -11,    2), p(   5,    1), p(   3,    6), p(  -6,   -5), p(   0,    0),
    p(  -6,   -2), p(  -3,    3), p( -13,    0), p( -14,    3), p(  -8,    7), p(  10,    4), p(   2,  -10), p(   0,    0),
    // STORM_BLOCKED: enemy pawn blocked by an own one, by rank
    p(   0,    0), p(   0,    0), p(  -2,   -9), p(  -4,   -7), p(  12,  -15), p(  17,    1), p(  -4,    3), p(   0,    0),
    // DANGER_BASE: always
    p(-105,  -20),
    // DANGER_ATTACKER: N B R Q
    p(  79,   21), p(  50,   19), p(  81,   20), p(  76,   19),
    // DANGER_SQUARE: square attacked
    p(  14,    8),
    // DANGER_WEAK: square hardly defended
    p(  32,    8),
    // DANGER_CHECK: safe check by N B R Q: one, more
    p(  79,   10), p( 111,   15), p(  51,   11), p(  58,   15), p(  96,   12), p( 122,   16), p(  70,   10), p( 108,   15),
    // DANGER_NO_QUEEN: no queen
    p(-243,  -40),
    // DANGER_BARE_FILE: file without shield
    p(  50,    0),
    // DANGER_STORM: pawn coming near
    p(   9,   -1),
    // DANGER_FLANK: squares of the flank: attacked, defended
    p(   9,   10), p(  -2,   11),
    // DANGER_DEFENDER: minor piece beside the king
    p( -20,   -1),
    // SCALE_NO_PAWNS: no pawns
    p(   0,   12),
    // SCALE_WRONG_BISHOP: bishop of the wrong colour for a rook pawn
    p(   0,    2),
    // SCALE_OPPOSITE_ALONE: opposite bishops alone
    p(   0,   32),
    // SCALE_OPPOSITE: opposite bishops and more
    p(   0,   54),
    // SCALE_ROOKS: rook against rook, pawns on one side
    p(   0,   44),
    // SCALE_FEW_PAWNS: any other: at least, per pawn
    p(   0,   46), p(   0,    4),
    // TEMPO: side to move
    p(  19,   17),
];
