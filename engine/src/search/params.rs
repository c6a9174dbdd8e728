//! The figures of the search. Depths in plies, margins in centipawns.

use super::tunable::figures;

figures! {
    /// Half-width of the first aspiration window.
    aspiration_start = 18 in 6..=54;
    /// Depth from which windows are used.
    aspiration_depth = 4 in 1..=8;

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
    null_reduction = 3 in 1..=7;
    /// One more ply off per this much over beta, up to three.
    null_score_step = 200 in 66..=600;

    /// Shallowest node without a table move that is searched one ply less.
    no_move_reduction_depth = 4 in 1..=8;

    /// Deepest node at which single moves are skipped unseen.
    skip_depth = 8 in 5..=12;
    /// Margin under alpha at which quiet moves are hopeless: base and per ply.
    futility_margin_base = 110 in 36..=330;
    /// See [`futility_margin_base`].
    futility_margin_per_ply = 92 in 30..=276;
    /// Loss of material that rules out a quiet move, per ply squared.
    quiet_see_margin = 22 in 7..=66;
    /// Loss of material that rules out a capture, per ply.
    noisy_see_margin = 95 in 31..=285;
    /// History under which a quiet move is skipped, per ply.
    history_skip = 3_200 in 1_066..=9_600;

    /// Shallowest node at which the table move is tested for being the only good one.
    singular_depth = 7 in 4..=11;
    /// How much the others must fall short, in centipawns per ply.
    singular_margin = 2 in 1..=6;

    /// Shallowest node at which late moves are reduced.
    reduction_depth = 3 in 1..=7;
    /// History worth one ply of reduction.
    reduction_history = 7_000 in 2_333..=21_000;
}

/// Nodes between two looks at the clock and the stop signal.
pub(super) const POLL_INTERVAL: u64 = 512;
