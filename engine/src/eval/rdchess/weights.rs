//! Weights of the evaluation, in centipawns. Source: `PROVENANCE.md`.

use crate::eval::Score;

/// Value of a piece, by type.
pub(super) const WORTH: [Score; 6] = [100, 325, 325, 510, 900, 0];
/// Value of a side's minor and major pieces in the starting position.
pub(super) const OFFICERS: Score = 3_220;

/// Maximum value of the opponent's minor and major pieces at which a king is evaluated as in the
/// endgame.
pub(super) const ENDGAME: Score = 1_350;
/// Minimum total value of both sides' minor and major pieces at which the game is in its early
/// phase.
pub(super) const EARLY: Score = 4_800;
/// Maximum total value of both sides' minor and major pieces at which the game is in its late
/// phase.
pub(super) const LATE: Score = 3_000;
/// Near mate: the lead over a side without pawns must be greater than this value.
pub(super) const NEAR_MATE: Score = 510;

/// Trade-down: maximum lead that counts.
pub(super) const TRADE_LEAD_MAX: Score = 2_400;
/// Trade-down: minimum total material at which there is no bonus.
pub(super) const TRADE_MATERIAL_MAX: Score = 8_000;
/// Trade-down: divisor of the product of the lead, the missing material and p / (p + 1), where p is
/// the number of pawns.
pub(super) const TRADE_DIVISOR: Score = 6_400;

/// Control of d4, e4, d5, e5.
pub(super) const CONTROL_CENTRE: Score = 4;
/// Control of the other squares of c3–f6.
pub(super) const CONTROL_NEAR: Score = 2;
/// Control of any other square.
pub(super) const CONTROL: Score = 1;

/// Pawn advance: bonus per rank, by file.
pub(super) const ADVANCE: [Score; 8] = [0, 1, 3, 5, 5, 3, 1, 0];
/// Pawn advance: additional bonus per rank on the wing opposite to the castled friendly king.
pub(super) const ADVANCE_STORM: Score = 2;
/// Pawn advance: bonus per rank, in addition to [`ADVANCE_STORM`], if the enemy king has castled on
/// the pawn's wing.
pub(super) const ADVANCE_ASSAULT: Score = 2;
/// Pawn advance: additional bonus per rank in the late phase.
pub(super) const ADVANCE_LATE: Score = 3;

pub(super) const ISOLATED: Score = -12;
pub(super) const ISOLATED_HALF_OPEN: Score = -6;
pub(super) const BACKWARD: Score = -8;
pub(super) const BACKWARD_HALF_OPEN: Score = -4;
pub(super) const DOUBLED: Score = -10;
/// Passed pawn, by rank from the point of view of the pawn's side.
pub(super) const PASSED: [Score; 8] = [0, 5, 10, 20, 35, 60, 100, 0];

pub(super) const CASTLED: Score = 25;
pub(super) const SHORT_RIGHT_LOST: Score = -12;
pub(super) const LONG_RIGHT_LOST: Score = -8;
/// King in the middlegame: score per rank away from the back rank.
pub(super) const KING_ADVANCED: Score = -10;
/// Shelter, by the pawns on a file: a friendly pawn on its second rank, a friendly pawn on its
/// third rank, any other pawn, no pawn.
pub(super) const SHELTER: [Score; 4] = [8, 4, -8, -14];
/// Endgame king: factor of 7 − d, where d is the distance from the centre (1, 3, 5 or 7).
pub(super) const KING_CENTRE: Score = 3;
/// Endgame king: score per step between the king and the square in front of a passed pawn.
pub(super) const KING_TO_PASSED: Score = -2;
/// Endgame king: score per step between the king and a backward pawn.
pub(super) const KING_TO_BACKWARD: Score = -1;

/// Minor or major piece: score per attacked square of c3–f6.
pub(super) const OFFICER_CENTRE: Score = 1;
/// Minor or major piece: score per attacked square next to the enemy king. The second value applies
/// if the enemy king is evaluated as in the endgame.
pub(super) const OFFICER_KING: [Score; 2] = [2, 1];
/// Minor or major piece on the back rank in the early phase, by piece type.
pub(super) const UNDEVELOPED: [Score; 6] = [0, -10, -10, -2, -2, 0];
/// Queen on the fourth rank or higher in the early phase.
pub(super) const EARLY_QUEEN: Score = -12;
pub(super) const ROOK_OPEN: Score = 12;
pub(super) const ROOK_HALF_OPEN: Score = 6;
pub(super) const ROOK_SEVENTH: Score = 20;
pub(super) const ROOK_PAWN_FILE: Score = 6;
pub(super) const ROOK_BEHIND: Score = 15;
pub(super) const ROOKS_DOUBLED: Score = 12;
pub(super) const BISHOP_PAIR: Score = 30;

/// Hanging piece: fixed part of the penalty. The variable part is the value of the piece divided by
/// [`HUNG_DIVISOR`].
pub(super) const HUNG: Score = -8;
pub(super) const HUNG_DIVISOR: Score = 50;
/// Several hanging pieces: additional penalty, counted once.
pub(super) const HUNG_SEVERAL: Score = -20;
pub(super) const PINNED_PAWN: Score = -5;
pub(super) const PINNED: Score = -15;
/// Score of each friendly pawn on a square of the same colour as the enemy's bishops. A friendly
/// pawn on a square of the same colour as the friendly bishops has this score with the opposite
/// sign.
pub(super) const BISHOP_COLOUR: Score = -4;

/// Unstoppable pawn: base value, and bonus per rank from the point of view of the pawn's side.
pub(super) const RUNNER: [Score; 2] = [500, 20];

/// Base score of the endings of two bishops, or of bishop and knight, against a lone king.
pub(super) const WON_ENDING: Score = 950;
/// Two bishops: score per step of the lone king towards a corner.
pub(super) const CORNER: Score = 10;
/// Bishop and knight: score per step of the lone king towards a corner of the bishop's colour.
pub(super) const RIGHT_CORNER: Score = 15;
/// Won ending: score per step of the kings towards each other.
pub(super) const KINGS_CLOSE: Score = 5;
/// Near mate: score per unit of the losing king's distance from the centre (1, 3, 5 or 7).
pub(super) const DRIVEN: Score = 12;
/// Near mate: score per step of the kings towards each other.
pub(super) const NEAR_KINGS_CLOSE: Score = 6;
