//! The figures of the search. Depths in plies, margins in centipawns.

use crate::eval::Score;

/// Half-width of the first aspiration window.
pub(super) const ASPIRATION_START: Score = 18;
/// Depth from which windows are used.
pub(super) const ASPIRATION_DEPTH: i32 = 4;

/// The most that errors remembered for parts of the position change its static evaluation: pawns,
/// White's pieces, Black's pieces, minor pieces with the kings.
pub(super) const CORRECTION_PARTS: [Score; 4] = [40, 32, 32, 24];
/// The same for the two moves that led to it.
pub(super) const CORRECTION_MOVES: Score = 32;
/// How fast errors are learned, in eighths per centipawn and ply.
pub(super) const CORRECTION_RATE: i32 = 2;

/// Plies without capture or pawn move that would let nothing remain of a static evaluation.
pub(super) const CLOCK_SCALE: i32 = 200;
/// Plies without capture or pawn move from which the table's scores are not trusted.
pub(super) const CLOCK_NEAR_END: u16 = 90;

/// Deepest node at which the static score alone may cause a cut-off.
pub(super) const REVERSE_FUTILITY_DEPTH: i32 = 8;
/// Margin per ply over beta; one ply less if the side is improving.
pub(super) const REVERSE_FUTILITY_MARGIN: Score = 76;

/// Deepest node dropped into quiescence when hopeless.
pub(super) const RAZOR_DEPTH: i32 = 3;
/// Margin per ply under alpha.
pub(super) const RAZOR_MARGIN: Score = 240;

/// Shallowest node at which passing is tried.
pub(super) const NULL_DEPTH: i32 = 3;
/// Plies taken off for passing, before depth and score add to it.
pub(super) const NULL_REDUCTION: i32 = 4;
/// One more ply off per this much over beta, up to three.
pub(super) const NULL_SCORE_STEP: Score = 200;

/// Shallowest node at which a search without passing must agree.
pub(super) const NULL_VERIFY_DEPTH: i32 = 14;

/// Shallowest node at which captures are tried against a bar well over beta.
pub(super) const PROBCUT_DEPTH: i32 = 5;
/// The height of that bar over beta.
pub(super) const PROBCUT_MARGIN: Score = 180;
/// How much lower it is for a side that is improving.
pub(super) const PROBCUT_IMPROVING: Score = 50;
/// Plies by which the captures are searched less deep.
pub(super) const PROBCUT_REDUCTION: i32 = 3;

/// Shallowest node without a table move that is searched one ply less.
pub(super) const NO_MOVE_REDUCTION_DEPTH: i32 = 4;

/// Deepest node at which single moves are skipped unseen; for futility and lost material of quiet
/// moves, the plies that reductions leave.
pub(super) const SKIP_DEPTH: i32 = 8;
/// Margin under alpha at which quiet moves are hopeless: base and per ply that reductions leave.
pub(super) const FUTILITY_MARGIN: (Score, Score) = (150, 105);
/// The same for captures, besides what they take.
pub(super) const NOISY_FUTILITY_MARGIN: (Score, Score) = (230, 190);
/// Most plies that reductions may leave for captures to be hopeless.
pub(super) const NOISY_FUTILITY_DEPTH: i32 = 6;
/// Loss of material that rules out a quiet move, per ply squared that reductions leave.
pub(super) const QUIET_SEE_MARGIN: Score = 26;
/// Loss of material that rules out a capture, per ply.
pub(super) const NOISY_SEE_MARGIN: Score = 95;
/// History under which a quiet move is skipped, per ply.
pub(super) const HISTORY_SKIP: i32 = 3_200;

/// Shallowest node at which the table move is tested for being the only good one.
pub(super) const SINGULAR_DEPTH: i32 = 6;
/// How much the others must fall short, in centipawns per ply.
pub(super) const SINGULAR_MARGIN: Score = 2;

/// What a cut-off adds to the history of its move: per ply, less this, at most.
pub(super) const HISTORY_BONUS: (i32, i32, i32) = (170, 110, 1_800);

/// By how much more they must fall short for a second ply.
pub(super) const DOUBLE_MARGIN: Score = 18;

/// What the static evaluation adds to the history of a quiet move that led to it: per centipawn
/// won, having taken the worth of the move off either side, at most.
pub(super) const SWING_BONUS: (i32, Score, i32) = (6, 15, 900);

/// Shallowest node at which late moves are reduced.
pub(super) const REDUCTION_DEPTH: i32 = 3;
/// 1024ths of a ply more where things do not get better.
pub(super) const REDUCTION_NOT_IMPROVING: i32 = 512;
/// 1024ths of a ply more for a quiet move where the table's is none.
pub(super) const REDUCTION_TABLE_NOISY: i32 = 800;
/// 1024ths of a ply more where a cut-off is expected.
pub(super) const REDUCTION_CUT: i32 = 1_500;
/// 1024ths of a ply more where nodes beside the next have cut off more often than [`MANY_CUTOFFS`].
pub(super) const REDUCTION_CUTOFFS: i32 = 768;
/// Cut-offs that make more of them likely.
pub(super) const MANY_CUTOFFS: u32 = 3;
/// 1024ths of a ply less per centipawn by which the static evaluation had to be corrected.
pub(super) const REDUCTION_DOUBT: i32 = 10;
/// By this much better than the best so far, a reduced move is looked at again one ply deeper...
pub(super) const DEEPER_MARGIN: Score = 45;
/// ...and by less than this, one ply less deep.
pub(super) const SHALLOWER_MARGIN: Score = 8;
/// History worth one ply of reduction.
pub(super) const REDUCTION_HISTORY: i32 = 7_000;

/// What a capture in quiescence may bring beyond the piece taken.
pub(super) const CAPTURE_MARGIN: Score = 170;
/// What a way out of check may lose, once another is known.
pub(super) const EVASION_SEE_MARGIN: Score = 80;

/// Nodes between two looks at the clock and the stop signal.
pub(super) const POLL_INTERVAL: u64 = 512;
