//! The figures of the search. Depths in plies, margins in centipawns.

use super::tunable::figures;
use crate::eval::Score;

figures! {
    /// Half-width of the first aspiration window.
    aspiration_start = 18 in 6..=54;
    /// Depth from which windows are used.
    aspiration_depth = 4 in 1..=8;

    /// Weights of the correction histories by pawns, by the pieces of a side, and by minor pieces with
    /// the kings: the most that each changes the static evaluation.
    correction_pawns = 40 in 13..=120;
    /// See [`correction_pawns`].
    correction_pieces = 32 in 10..=96;
    /// See [`correction_pawns`].
    correction_minors = 24 in 8..=72;
    /// Weight of the correction history by the last two moves.
    correction_moves = 32 in 10..=96;
    /// Update of the correction history per centipawn and ply, in eighths.
    correction_rate = 2 in 1..=6;

    /// Plies without capture or pawn move that would let nothing remain of a static evaluation.
    clock_scale = 200 in 66..=600;

    /// Deepest node at which the static score alone may cause a cut-off.
    reverse_futility_depth = 8 in 5..=12;
    /// Margin per ply over beta; one ply less if the side is improving.
    reverse_futility_margin = 76 in 25..=228;

    /// Deepest node dropped into quiescence when hopeless.
    razor_depth = 3 in 1..=7;
    /// Margin per ply under alpha.
    razor_margin = 240 in 80..=720;

    /// Shallowest node at which passing is tried.
    null_depth = 3 in 1..=7;
    /// Plies taken off for passing, before depth and score add to it.
    null_reduction = 4 in 1..=7;
    /// One more ply off per this much over beta, up to three.
    null_score_step = 200 in 66..=600;

    /// Shallowest node at which a search without passing must agree.
    null_verify_depth = 14 in 10..=18;

    /// Shallowest node at which captures are tried against a bar well over beta.
    probcut_depth = 5 in 1..=9;
    /// The height of that bar over beta.
    probcut_margin = 180 in 60..=540;
    /// How much lower it is for a side that is improving.
    probcut_improving = 50 in 16..=150;
    /// Plies by which the captures are searched less deep.
    probcut_reduction = 3 in 1..=7;

    /// Shallowest node without a table move that is searched one ply less.
    no_move_reduction_depth = 4 in 1..=8;

    /// Deepest node at which single moves are skipped unseen; for futility and lost material of quiet
    /// moves, the plies that reductions leave.
    skip_depth = 8 in 5..=12;
    /// Margin under alpha at which quiet moves are hopeless: base and per ply that reductions leave.
    futility_margin_base = 150 in 36..=330;
    /// See [`futility_margin_base`].
    futility_margin_per_ply = 105 in 30..=276;
    /// The same for captures, besides what they take.
    noisy_futility_base = 230 in 76..=690;
    /// See [`noisy_futility_base`].
    noisy_futility_per_ply = 190 in 63..=570;
    /// Most plies that reductions may leave for captures to be hopeless.
    noisy_futility_depth = 6 in 2..=10;
    /// Loss of material that rules out a quiet move, per ply squared that reductions leave.
    quiet_see_margin = 26 in 7..=66;
    /// Loss of material that rules out a capture, per ply.
    noisy_see_margin = 95 in 31..=285;
    /// History under which a quiet move is skipped, per ply.
    history_skip = 3_200 in 1_066..=9_600;

    /// Shallowest node at which the table move is tested for being the only good one.
    singular_depth = 6 in 4..=11;
    /// How much the others must fall short, in centipawns per ply.
    singular_margin = 2 in 1..=6;

    /// What a cut-off adds to the history of its move: per ply, less this, at most.
    history_bonus_per_ply = 170 in 56..=510;
    /// See [`history_bonus_per_ply`].
    history_bonus_less = 110 in 36..=330;
    /// See [`history_bonus_per_ply`].
    history_bonus_max = 1_800 in 600..=5_400;

    /// By how much more they must fall short for a second ply.
    double_margin = 18 in 6..=54;

    /// What the static evaluation adds to the history of a quiet move that led to it: per centipawn
    /// won, having taken the worth of the move off either side, at most.
    swing_bonus_per_centipawn = 6 in 2..=18;
    /// See [`swing_bonus_per_centipawn`].
    swing_bonus_margin = 15 in 5..=45;
    /// See [`swing_bonus_per_centipawn`].
    swing_bonus_max = 900 in 300..=2_700;

    /// Shallowest node at which late moves are reduced.
    reduction_depth = 3 in 1..=7;
    /// 1024ths of a ply more where things do not get better.
    reduction_not_improving = 512 in 170..=1_536;
    /// 1024ths of a ply more for a quiet move where the table's is none.
    reduction_table_noisy = 800 in 266..=2_400;
    /// 1024ths of a ply more where a cut-off is expected.
    reduction_cut = 1_500 in 500..=4_500;
    /// 1024ths of a ply more where nodes beside the next have cut off more often than [`MANY_CUTOFFS`].
    reduction_cutoffs = 768 in 256..=2_304;
    /// 1024ths of a ply less per centipawn of correction.
    reduction_doubt = 10 in 3..=30;
    /// By this much better than the best so far, a reduced move is looked at again one ply deeper...
    deeper_margin = 45 in 15..=135;
    /// ...and by less than this, one ply less deep.
    shallower_margin = 8 in 2..=24;
    /// History worth one ply of reduction.
    reduction_history = 7_000 in 2_333..=21_000;

    /// What a capture in quiescence may bring beyond the piece taken.
    capture_margin = 170 in 56..=510;
    /// What a way out of check may lose, once another is known.
    evasion_see_margin = 80 in 26..=240;
}

/// Weights of the correction histories: pawns, White's pieces, Black's pieces, minor pieces with the
/// kings.
pub(super) fn correction_weights() -> [Score; 4] {
    [correction_pawns(), correction_pieces(), correction_pieces(), correction_minors()]
}

/// Margin under alpha at which quiet moves are hopeless: base and per ply that reductions leave.
pub(super) fn futility_margin() -> (Score, Score) {
    (futility_margin_base(), futility_margin_per_ply())
}

/// The same for captures, besides what they take.
pub(super) fn noisy_futility_margin() -> (Score, Score) {
    (noisy_futility_base(), noisy_futility_per_ply())
}

/// What a cut-off adds to the history of its move: per ply, less the second, at most the third.
pub(super) fn history_bonus() -> (i32, i32, i32) {
    (history_bonus_per_ply(), history_bonus_less(), history_bonus_max())
}

/// What a swing of the static evaluation adds to the history of the move: per centipawn, having
/// taken the second off either side, at most the third.
pub(super) fn swing_bonus() -> (i32, Score, i32) {
    (swing_bonus_per_centipawn(), swing_bonus_margin(), swing_bonus_max())
}

/// Plies without capture or pawn move from which the table's scores are not trusted.
pub(super) const CLOCK_NEAR_END: u16 = 90;
/// Cut-offs that make more of them likely.
pub(super) const MANY_CUTOFFS: u32 = 3;
/// Nodes between two looks at the clock and the stop signal.
pub(super) const POLL_INTERVAL: u64 = 512;
