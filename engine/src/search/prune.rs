//! Pruning of nodes and moves.
//!
//! The techniques are common in current engines; the comments cite their first descriptions. The
//! values in `params.rs` are specific to this engine.

use super::node::{Node, NonPv};
use super::picker::MovePicker;
use super::reduce::base_reduction;
use super::{Searcher, features, params, see};
use crate::chess::Move;
use crate::eval::score::{EVALUATION_MAX, is_mate};
use crate::eval::{Evaluator, Score};
use crate::tt::Bound;

impl<E: Evaluator> Searcher<'_, E> {
    /// Returns a score if the node can be pruned before its moves are searched. The side to move
    /// must not be in check, and the window must be a null window.
    pub(super) fn prune_node(&mut self, node: &Node) -> Option<Score> {
        if is_mate(node.beta) {
            return None;
        }
        if is_reverse_futile(node) {
            return Some((node.eval + node.beta) / 2);
        }
        if is_razorable(node) {
            let score = self.quiescence::<NonPv>(node.alpha, node.beta);
            if score <= node.alpha || self.limiter.stopped {
                return Some(score);
            }
        }
        self.null_move(node).or_else(|| self.probcut(node)).or_else(|| likely_cut(node))
    }

    /// Null move pruning (Goetsch and Campbell 1988, Donninger 1993). Returns a score if a reduced
    /// search after a null move fails high.
    fn null_move(&mut self, node: &Node) -> Option<Score> {
        if !self.can_null_move(node) {
            return None;
        }
        let Node { ply, depth, eval, beta, .. } = *node;
        let surplus = ((eval - beta) / params::null_score_step()).clamp(0, 3);
        let reduced_depth = depth - params::null_reduction() - depth / 4 - surplus;
        let frame = self.frame(ply);
        frame.current_move = None;
        frame.piece_to = None;
        self.limiter.nodes += 1;
        self.line.make_null();
        let score = -self.node::<NonPv>(-beta, -beta + 1, reduced_depth, !node.cut_node);
        self.line.unmake();
        if self.limiter.stopped {
            return Some(score);
        }
        let holds = score >= beta
            && (depth < params::null_verify_depth() || self.verify_null_move(node, reduced_depth));
        // A mate score after a null move does not prove a mate, because a null move is not legal.
        holds.then_some(score.min(EVALUATION_MAX))
    }

    /// Returns whether a null move may be tried. A null move is not tried directly after another
    /// null move. If the side to move has only pawns, a null move is not tried either, because
    /// zugzwang is then common.
    fn can_null_move(&self, node: &Node) -> bool {
        let Node { ply, depth, eval, beta, .. } = *node;
        let position = self.line.position();
        let after_null_move = ply > 0 && self.previous_moves(ply)[0].is_none();
        features::null_move()
            && depth >= params::null_depth()
            && eval >= beta + params::null_margin()
            && !after_null_move
            && ply >= self.null_move_min_ply
            && position.has_pieces(position.turn())
    }

    /// Returns whether a verification search, without null moves in its first plies, also fails
    /// high. The verification search detects zugzwang (Tabibi and Netanyahu 2002; the code follows
    /// Stockfish).
    fn verify_null_move(&mut self, node: &Node, reduced_depth: i32) -> bool {
        if self.null_move_min_ply > 0 || !features::null_verification() {
            return true;
        }
        self.null_move_min_ply = node.ply + (3 * reduced_depth / 4).max(1) as usize;
        self.frame(node.ply).is_verifying = true;
        let score = self.node::<NonPv>(node.beta - 1, node.beta, reduced_depth, false);
        self.frame(node.ply).is_verifying = false;
        self.null_move_min_ply = 0;
        score >= node.beta
    }

    /// Returns whether a move is pruned. The best score of the node so far must not be a mate score
    /// against the side to move.
    pub(super) fn prune_move(
        &self,
        node: &Node,
        mv: Move,
        count: usize,
        picker: &mut MovePicker,
    ) -> bool {
        if !mv.is_quiet() {
            return self.prune_noisy(node, mv, count);
        }
        if node.in_check || self.line.position().gives_check(mv) {
            return false;
        }
        if features::late_move_pruning() && count > late_move_limit(node) {
            picker.skip_quiets();
            return true;
        }
        self.prune_quiet(node, mv, count)
    }

    /// Returns whether futility or SEE pruning skips a capture or promotion.
    fn prune_noisy(&self, node: &Node, mv: Move, count: usize) -> bool {
        let position = self.line.position();
        let victim = position.captured(mv).map_or(0, see::piece_value);
        let calm = !node.in_check && !mv.is_promotion();
        if calm && is_futile_capture(node, count, victim) && !position.gives_check(mv) {
            return true;
        }
        let depth = node.depth;
        features::capture_see_pruning()
            && depth <= params::skip_depth()
            && !see::gains_at_least(position, mv, -params::noisy_see_margin() * depth)
    }

    /// Returns whether history, futility or SEE pruning skips a quiet move.
    fn prune_quiet(&self, node: &Node, mv: Move, count: usize) -> bool {
        let position = self.line.position();
        let history_score = self.history_score(node, mv);
        if has_low_history(node, history_score) {
            return true;
        }
        let reduced =
            (reduced_depth(node, count) + history_score / params::reduction_history()).max(0);
        let margin = -params::quiet_see_margin() * reduced * reduced;
        let loses = || features::quiet_see_pruning() && !see::gains_at_least(position, mv, margin);
        reduced <= params::skip_depth() && (is_futile(node, reduced) || loses())
    }
}

/// Reverse futility pruning (static null move pruning). Returns whether the evaluation is so far
/// above beta that the search will probably fail high.
fn is_reverse_futile(node: &Node) -> bool {
    let margin = params::reverse_futility_margin() * (node.depth - i32::from(node.improving));
    features::reverse_futility()
        && node.depth <= params::reverse_futility_depth()
        && node.eval - margin >= node.beta
        && !is_mate(node.eval)
}

/// Returns a score for a cutoff if the entry in the transposition table has nearly sufficient depth
/// and a score far above beta.
fn likely_cut(node: &Node) -> Option<Score> {
    let beta = node.beta + params::likely_cut_margin();
    let entry = node.tt_entry?;
    let score = entry.score_at(node.ply);
    let cuts = entry.bound == Bound::Lower && entry.depth >= node.depth - 4 && score >= beta;
    (cuts && !is_mate(score)).then_some(beta)
}

/// Razoring (Birmingham and Kent 1977). Returns whether the evaluation is so far below alpha that
/// only captures could raise alpha.
fn is_razorable(node: &Node) -> bool {
    features::razoring()
        && node.depth <= params::razor_depth()
        && node.eval + params::razor_margin() * node.depth <= node.alpha
}

/// Futility pruning (Heinz 1998). Returns whether the evaluation is so far below alpha that quiet
/// moves will probably not raise alpha.
fn is_futile(node: &Node, reduced: i32) -> bool {
    let (base, per_ply) = params::futility_margin();
    features::futility() && node.eval + base + per_ply * reduced <= node.alpha
}

/// Returns whether futility pruning skips a capture of a piece with the value `victim` (in
/// centipawns).
fn is_futile_capture(node: &Node, count: usize, victim: Score) -> bool {
    let (base, per_ply) = params::noisy_futility_margin();
    let reduced = reduced_depth(node, count);
    features::capture_futility()
        && reduced <= params::noisy_futility_depth()
        && node.eval + base + per_ply * reduced + victim <= node.alpha
}

/// History pruning. Returns whether the history score of a move is so low that the move is skipped.
fn has_low_history(node: &Node, history_score: i32) -> bool {
    features::history_pruning()
        && node.depth <= params::skip_depth()
        && history_score < -params::history_skip() * node.depth
}

/// Late move pruning. Returns the number of moves after which quiet moves are skipped.
fn late_move_limit(node: &Node) -> usize {
    let moves =
        params::late_move_base() + params::late_move_slope() * node.depth * node.depth / 100;
    let moves = moves as usize / if node.improving { 1 } else { 2 };
    moves.max(2)
}

/// Returns the depth, in plies, to which a move is searched with the base late move reduction.
fn reduced_depth(node: &Node, count: usize) -> i32 {
    (node.depth - 1 - base_reduction(node, count) / 1024).max(0)
}
