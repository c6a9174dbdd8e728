//! Node of the main search.

use crate::chess::Move;
use crate::eval::Score;
use crate::tt::Entry;

/// Type of a node, as a compile-time parameter.
pub(super) trait NodeType {
    /// `true` for the root.
    const ROOT: bool;
    /// `true` for a PV node, whose window may be wider than a null window.
    const PV: bool;
}

/// The root node, which is a PV node.
pub(super) struct Root;
/// A PV node other than the root.
pub(super) struct Pv;
/// A non-PV node, searched with a null window.
pub(super) struct NonPv;

impl NodeType for Root {
    const ROOT: bool = true;
    const PV: bool = true;
}

impl NodeType for Pv {
    const ROOT: bool = false;
    const PV: bool = true;
}

impl NodeType for NonPv {
    const ROOT: bool = false;
    const PV: bool = false;
}

/// Node, as the input of pruning, extensions and reductions. Scores are in centipawns, depths in
/// plies.
pub(super) struct Node {
    pub(super) ply: usize,
    pub(super) alpha: Score,
    pub(super) beta: Score,
    pub(super) depth: i32,
    pub(super) in_check: bool,
    /// `true` if a cutoff is expected (cut node).
    pub(super) cut_node: bool,
    /// Static evaluation without correction, in centipawns; `None` in check.
    pub(super) raw_eval: Option<Score>,
    /// Corrected static evaluation in centipawns, or the score in the transposition table if that
    /// score is a better estimate. Meaningless in check.
    pub(super) eval: Score,
    /// Absolute value of the correction in `eval`, in centipawns.
    pub(super) correction: Score,
    /// `true` if the static evaluation is better than two plies ago (four plies ago if the side to
    /// move was in check two plies ago), or if there is no earlier evaluation.
    pub(super) improving: bool,
    /// Best score found so far.
    pub(super) best: Score,
    pub(super) tt_entry: Option<Entry>,
    /// `true` if this node is a PV node or, according to the transposition table, was a PV node
    /// before.
    pub(super) tt_pv: bool,
    /// Move from the transposition table, if this move is legal. At the root, the best move of the
    /// current MultiPV line replaces the move from the table, if that best move is known.
    pub(super) tt_move: Option<Move>,
    pub(super) excluded: Option<Move>,
}
