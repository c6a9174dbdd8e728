//! Giving up on nodes and moves that are not worth searching.
//!
//! The techniques are common to today's engines and cited where first described; the parameters, in
//! `params.rs`, are our own.

use super::alphabeta::{Node, NonPv};
use super::picker::MovePicker;
use super::reduce::usual_reduction;
use super::{Searcher, features, params, see};
use crate::chess::Move;
use crate::eval::score::{EVALUATION_MAX, is_mate};
use crate::eval::{Evaluator, Score};

impl<E: Evaluator> Searcher<'_, E> {
    /// The score of a node that can be judged without trying its moves. The side to move must not
    /// be in check and the window must be null.
    pub(super) fn prune_node(&mut self, node: &Node) -> Option<Score> {
        if is_mate(node.beta) {
            return None;
        }
        if is_far_ahead(node) {
            return Some((node.eval + node.beta) / 2);
        }
        if is_far_behind(node) {
            let score = self.quiescence::<NonPv>(node.alpha, node.beta);
            if score <= node.alpha || self.limiter.stopped {
                return Some(score);
            }
        }
        self.try_passing(node).or_else(|| self.probcut(node))
    }

    /// Null move (Goetsch and Campbell 1988, Donninger 1993): if even passing keeps the score over
    /// beta, some move will.
    fn try_passing(&mut self, node: &Node) -> Option<Score> {
        if !self.may_pass(node) {
            return None;
        }
        let Node { ply, depth, eval, beta, .. } = *node;
        let surplus = ((eval - beta) / params::null_score_step()).min(3);
        let left = depth - params::null_reduction() - depth / 4 - surplus;
        let frame = self.frame(ply);
        (frame.current_move, frame.piece_to) = (None, None);
        self.limiter.nodes += 1;
        self.line.make_null();
        let score = -self.node::<NonPv>(-beta, -beta + 1, left, !node.cut_node);
        self.line.unmake();
        if self.limiter.stopped {
            return Some(score);
        }
        let holds =
            score >= beta && (depth < params::null_verify_depth() || self.verify(node, left));
        // A mate found after passing is not a mate.
        holds.then_some(score.min(EVALUATION_MAX))
    }

    /// Without pieces, passing may be better than any move; twice in a row it proves nothing.
    fn may_pass(&self, node: &Node) -> bool {
        let Node { ply, depth, eval, beta, .. } = *node;
        let position = self.line.position();
        let passed_before = ply > 0 && self.previous_moves(ply)[0].is_none();
        features::null_move()
            && depth >= params::null_depth()
            && eval >= beta
            && !passed_before
            && ply >= self.passing_from
            && position.has_pieces(position.turn())
    }

    /// Does a search in which nobody passes early on agree? Passing overlooks zugzwang (verified
    /// null move, Tabibi and Netanyahu 2002; in this form Stockfish).
    fn verify(&mut self, node: &Node, left: i32) -> bool {
        if self.passing_from > 0 || !features::null_verification() {
            return true;
        }
        self.passing_from = node.ply + (3 * left / 4).max(1) as usize;
        let score = self.node::<NonPv>(node.beta - 1, node.beta, left, false);
        self.passing_from = 0;
        score >= node.beta
    }

    /// Is a move not worth trying? Some move that avoids mate must have been found before.
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
        if features::late_move_pruning() && count > enough(node) {
            picker.skip_quiets();
            return true;
        }
        self.prune_quiet(node, mv, count)
    }

    /// Captures and promotions that lose too much, or bring too little.
    fn prune_noisy(&self, node: &Node, mv: Move, count: usize) -> bool {
        let position = self.line.position();
        let victim = position.captured(mv).map_or(0, see::piece_value);
        let calm = !node.in_check && !mv.is_promotion();
        if calm && is_hopeless_capture(node, count, victim) && !position.gives_check(mv) {
            return true;
        }
        let depth = node.depth;
        features::capture_see_pruning()
            && depth <= params::skip_depth()
            && !see::gains_at_least(position, mv, -params::noisy_see_margin() * depth)
    }

    /// Quiet moves that come late, in a bad position, with a bad record, or lose material.
    fn prune_quiet(&self, node: &Node, mv: Move, count: usize) -> bool {
        let position = self.line.position();
        let history_score = self.histories.quiet_score(position, mv, &node.continuation);
        if has_bad_record(node, history_score) {
            return true;
        }
        let left = (remaining(node, count) + history_score / params::reduction_history()).max(0);
        let margin = -params::quiet_see_margin() * left * left;
        let loses = || features::quiet_see_pruning() && !see::gains_at_least(position, mv, margin);
        left <= params::skip_depth() && (is_futile(node, left) || loses())
    }
}

/// Reverse futility, or static null move: so far ahead that the opponent cannot make up for it in
/// the plies left.
fn is_far_ahead(node: &Node) -> bool {
    let margin = params::reverse_futility_margin() * (node.depth - i32::from(node.improving));
    features::reverse_futility()
        && node.depth <= params::reverse_futility_depth()
        && node.eval - margin >= node.beta
        && !is_mate(node.eval)
}

/// Razoring (Birmingham and Kent 1977): so far behind that only captures could help.
fn is_far_behind(node: &Node) -> bool {
    features::razoring()
        && node.depth <= params::razor_depth()
        && node.eval + params::razor_margin() * node.depth <= node.alpha
}

/// Futility (Heinz 1998): no quiet move makes up for so much in the plies left.
fn is_futile(node: &Node, left: i32) -> bool {
    let (base, per_ply) = params::futility_margin();
    features::futility() && node.eval + base + per_ply * left <= node.alpha
}

/// The same for a capture, with what it takes.
fn is_hopeless_capture(node: &Node, count: usize, victim: Score) -> bool {
    let (base, per_ply) = params::noisy_futility_margin();
    let left = remaining(node, count);
    features::capture_futility()
        && left <= params::noisy_futility_depth()
        && node.eval + base + per_ply * left + victim <= node.alpha
}

/// History pruning: where it was tried before, the move failed.
fn has_bad_record(node: &Node, history_score: i32) -> bool {
    features::history_pruning()
        && node.depth <= params::skip_depth()
        && history_score < -params::history_skip() * node.depth
}

/// Late move pruning: how many moves give quiet ones chance enough.
fn enough(node: &Node) -> usize {
    let moves = (4 + node.depth * node.depth) as usize / if node.improving { 1 } else { 2 };
    moves.max(2)
}

/// The plies that late move reductions usually leave behind a move.
fn remaining(node: &Node, count: usize) -> i32 {
    (node.depth - 1 - usual_reduction(node, count) / 1024).max(0)
}
