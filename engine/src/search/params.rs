//! The figures of the search. Depths in plies, margins in centipawns.

use crate::eval::Score;

/// Half-width of the first aspiration window.
pub(super) const ASPIRATION_START: Score = 18;
/// Depth from which windows are used.
pub(super) const ASPIRATION_DEPTH: i32 = 4;

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
pub(super) const NULL_REDUCTION: i32 = 3;
/// One more ply off per this much over beta, up to three.
pub(super) const NULL_SCORE_STEP: Score = 200;

/// Shallowest node without a table move that is searched one ply less.
pub(super) const NO_MOVE_REDUCTION_DEPTH: i32 = 4;

/// Deepest node at which single moves are skipped unseen.
pub(super) const SKIP_DEPTH: i32 = 8;
/// Margin under alpha at which quiet moves are hopeless: base and per ply.
pub(super) const FUTILITY_MARGIN: (Score, Score) = (110, 92);
/// Loss of material that rules out a quiet move, per ply squared.
pub(super) const QUIET_SEE_MARGIN: Score = 22;
/// Loss of material that rules out a capture, per ply.
pub(super) const NOISY_SEE_MARGIN: Score = 95;
/// History under which a quiet move is skipped, per ply.
pub(super) const HISTORY_SKIP: i32 = 3_200;

/// Shallowest node at which the table move is tested for being the only good one.
pub(super) const SINGULAR_DEPTH: i32 = 7;
/// How much the others must fall short, in centipawns per ply.
pub(super) const SINGULAR_MARGIN: Score = 2;

/// Shallowest node at which late moves are reduced.
pub(super) const REDUCTION_DEPTH: i32 = 3;
/// History worth one ply of reduction.
pub(super) const REDUCTION_HISTORY: i32 = 7_000;

/// Nodes between two looks at the clock and the stop signal.
pub(super) const POLL_INTERVAL: u64 = 512;
