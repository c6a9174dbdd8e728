//! Search parameters. Depths are in plies, margins in centipawns.
//!
//! Many of the values were found by SPSA in self-play games; each run tuned some of the parameters.
//! See `results/tuning-search.md` and the other files in the folder `results`. A tuner must stay
//! within the ranges.

use super::tunable::tunable_params;
use crate::eval::Score;

tunable_params! {
    /// Half-width of the first aspiration window.
    aspiration_start = 16 in 6..=54;
    /// Minimum depth with an aspiration window.
    aspiration_depth = 4 in 1..=8;

    /// Weights of the correction histories by pawns, by the pieces of a side, and by minor pieces
    /// and kings. A weight is the maximum change of the static evaluation by one history, in
    /// centipawns.
    correction_pawns = 30 in 13..=120;
    /// See [`correction_pawns`].
    correction_pieces = 33 in 10..=96;
    /// See [`correction_pawns`].
    correction_minors = 24 in 8..=72;
    /// Weight of the correction history by the last two moves.
    correction_moves = 35 in 10..=96;
    /// Update of the correction history, in eighths, per centipawn of error and ply of depth.
    correction_rate = 2 in 1..=6;

    /// Half-move clock at which the scaled static evaluation would be 0.
    clock_scale = 200 in 66..=600;

    /// Reverse futility pruning: maximum depth.
    reverse_futility_depth = 8 in 5..=12;
    /// Reverse futility pruning: margin above beta per ply of depth. In an improving node, the
    /// margin is for one ply less.
    reverse_futility_margin = 59 in 25..=228;

    /// Razoring: maximum depth.
    razor_depth = 3 in 1..=7;
    /// Razoring: margin below alpha per ply of depth.
    razor_margin = 278 in 80..=720;

    /// Null move: minimum depth.
    null_depth = 3 in 1..=7;
    /// Null move: minimum margin of the evaluation above beta.
    null_margin = 6 in -60..=120;
    /// Null move: base reduction, in plies.
    null_reduction = 4 in 1..=7;
    /// Null move: margin of the evaluation above beta for each additional ply of reduction, up to
    /// three plies.
    null_score_step = 150 in 66..=600;

    /// Null move: minimum depth with a verification search.
    null_verify_depth = 14 in 10..=18;

    /// ProbCut: minimum depth.
    probcut_depth = 5 in 1..=9;
    /// ProbCut: margin above beta.
    probcut_margin = 204 in 60..=540;
    /// ProbCut: decrease of the margin in an improving node.
    probcut_improving = 50 in 16..=150;
    /// ProbCut: reduction of the search of captures, in plies.
    probcut_reduction = 3 in 1..=7;

    /// Minimum margin above beta at which a score in the transposition table (from a search at most
    /// four plies shallower) causes a cutoff.
    likely_cut_margin = 539 in 150..=1_000;

    /// Internal iterative reduction: minimum depth.
    no_move_reduction_depth = 4 in 1..=8;

    /// Late move pruning: base number of moves, and additional hundredths of a move per squared ply
    /// of depth.
    late_move_base = 4 in 1..=10;
    /// See [`late_move_base`].
    late_move_slope = 87 in 40..=250;

    /// Ordering of quiet moves: bonus for leaving a square that a less valuable piece attacks, and
    /// penalty for moving to such a square. The three values are for a minor piece, a rook, and a
    /// queen.
    threat_minor = 10_614 in 0..=30_000;
    /// See [`threat_minor`].
    threat_rook = 13_327 in 0..=40_000;
    /// See [`threat_minor`].
    threat_queen = 11_702 in 0..=60_000;
    /// Ordering of quiet moves: bonus for a direct check.
    check_order = 5_917 in 0..=24_000;

    /// Maximum depth at which moves are pruned by history, SEE or futility. For futility and SEE
    /// pruning of quiet moves, the limit applies to the depth after the late move reduction.
    skip_depth = 8 in 5..=12;
    /// Futility pruning of quiet moves: margin below alpha, as a base and a value per ply of
    /// reduced depth.
    futility_margin_base = 66 in 36..=330;
    /// See [`futility_margin_base`].
    futility_margin_per_ply = 150 in 30..=276;
    /// Futility pruning of captures: margin below alpha in addition to the value of the captured
    /// piece, as a base and a value per ply of reduced depth.
    noisy_futility_base = 230 in 76..=690;
    /// See [`noisy_futility_base`].
    noisy_futility_per_ply = 190 in 63..=570;
    /// Futility pruning of captures: maximum reduced depth.
    noisy_futility_depth = 6 in 2..=10;
    /// SEE pruning of quiet moves: allowed loss per squared ply of reduced depth.
    quiet_see_margin = 37 in 7..=66;
    /// SEE pruning of captures: allowed loss per ply of depth.
    noisy_see_margin = 83 in 31..=285;
    /// History pruning: a quiet move is pruned if its history score is below −`history_skip` ×
    /// depth.
    history_skip = 2_682 in 1_066..=9_600;

    /// Singular extensions: minimum depth.
    singular_depth = 6 in 4..=11;
    /// Singular extensions: margin below the transposition-table score, per ply of depth.
    singular_margin = 2 in 1..=6;

    /// History bonus for a cutoff: value per ply of depth, subtracted offset, and maximum.
    history_bonus_per_ply = 225 in 56..=510;
    /// See [`history_bonus_per_ply`].
    history_bonus_less = 110 in 36..=330;
    /// See [`history_bonus_per_ply`].
    history_bonus_max = 1_757 in 600..=5_400;

    /// Singular extensions: additional margin for a double extension.
    double_margin = 8 in 6..=54;

    /// History bonus of a quiet move for the change of the static evaluation: value per centipawn,
    /// subtracted tempo bonus, and maximum.
    swing_bonus_per_centipawn = 6 in 2..=18;
    /// See [`swing_bonus_per_centipawn`].
    swing_bonus_margin = 15 in 5..=45;
    /// See [`swing_bonus_per_centipawn`].
    swing_bonus_max = 900 in 300..=2_700;

    /// Late move reductions: minimum depth.
    reduction_depth = 3 in 1..=7;
    /// Hindsight: gain of the static evaluation for the side to move above which a reduced node is
    /// searched one ply shallower.
    hindsight_margin = 212 in 40..=600;
    /// Decrease of the reduction, in 1/1024 ply, if the node is or, according to the transposition
    /// table, was a PV node.
    reduction_tt_pv = 1_195 in 0..=2_048;
    /// Base reduction, in 1/1024 ply: a constant, and a factor, in hundredths, of the product of
    /// the base-2 logarithms of depth and move count.
    reduction_base = 1_201 in 100..=1_800;
    /// See [`reduction_base`].
    reduction_slope = 95 in 28..=252;
    /// Increase of the reduction, in 1/1024 ply, if the node is not improving.
    reduction_not_improving = 917 in 170..=1_536;
    /// Increase of the reduction of a quiet move, in 1/1024 ply, if the move in the transposition
    /// table is a capture or promotion.
    reduction_table_noisy = 800 in 266..=2_400;
    /// Increase of the reduction, in 1/1024 ply, in a cut node.
    reduction_cut = 1_023 in 500..=4_500;
    /// Increase of the reduction, in 1/1024 ply, after more than [`MANY_CUTOFFS`] cutoffs in child
    /// nodes.
    reduction_cutoffs = 768 in 256..=2_304;
    /// Decrease of the reduction, in 1/1024 ply, per centipawn of the absolute correction.
    reduction_doubt = 11 in 3..=30;
    /// Margin above the best score, in addition to two centipawns per ply of depth. A reduced move
    /// with a higher score is re-searched one ply deeper.
    deeper_margin = 46 in 15..=135;
    /// Margin above the best score. A reduced move with a lower score is re-searched one ply
    /// shallower.
    shallower_margin = 8 in 2..=24;
    /// History score that corresponds to one ply of reduction.
    reduction_history = 10_096 in 2_333..=21_000;

    /// Time management: soft limit after a change of the best move, in percent.
    time_changed = 173 in 75..=300;
    /// Time management: decrease of the soft limit, in percentage points, for each iteration
    /// without a change of the best move.
    time_stable = 14 in 4..=22;
    /// Time management: decrease of the factor of the soft limit, in percentage points, when the
    /// best move's share of the nodes rises from 0 % to 100 %.
    time_nodes = 98 in 20..=170;

    /// Delta pruning: margin in addition to the value of the captured piece.
    capture_margin = 198 in 56..=510;
    /// Quiescence search in check: allowed loss of a capture, by SEE, after another evasion has
    /// avoided mate.
    evasion_see_margin = 80 in 26..=240;
}

/// Returns the weights of the correction histories: pawns; White's pieces; Black's pieces; minor
/// pieces and kings.
pub(super) fn correction_weights() -> [Score; 4] {
    [correction_pawns(), correction_pieces(), correction_pieces(), correction_minors()]
}

/// Returns the futility margin of quiet moves: base, and value per ply of reduced depth.
pub(super) fn futility_margin() -> (Score, Score) {
    (futility_margin_base(), futility_margin_per_ply())
}

/// Returns the futility margin of captures: base, and value per ply of reduced depth.
pub(super) fn noisy_futility_margin() -> (Score, Score) {
    (noisy_futility_base(), noisy_futility_per_ply())
}

/// Returns the history bonus for a cutoff: value per ply of depth, subtracted offset, maximum.
pub(super) fn history_bonus() -> (i32, i32, i32) {
    (history_bonus_per_ply(), history_bonus_less(), history_bonus_max())
}

/// Returns the history bonus for the change of the static evaluation: value per centipawn,
/// subtracted tempo bonus, maximum.
pub(super) fn swing_bonus() -> (i32, Score, i32) {
    (swing_bonus_per_centipawn(), swing_bonus_margin(), swing_bonus_max())
}

/// Minimum half-move clock at which the transposition table causes no cutoffs.
pub(super) const CLOCK_NEAR_END: u16 = 90;
/// Number of cutoffs in child nodes above which later moves are reduced more.
pub(super) const MANY_CUTOFFS: u32 = 3;
/// Number of nodes between two checks of the clock and the stop signal. The interval is short,
/// because each of the first nodes may touch a new 2 MiB page of the transposition table, and the
/// kernel takes 0.1 ms to provide a page.
pub(super) const POLL_INTERVAL: u64 = 64;
