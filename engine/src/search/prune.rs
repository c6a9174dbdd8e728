//! Giving up on nodes and moves that are not worth searching.

use super::alphabeta::{Node, Null};
use super::picker::Picker;
use super::{Searcher, params, see};
use crate::chess::Move;
use crate::eval::score::{EVALUATION_MAX, is_mate};
use crate::eval::{Evaluator, Score};

impl<E: Evaluator> Searcher<'_, E> {
    /// The score of a node that can be judged without trying its moves. The side to move must not
    /// be in check and the window must be null.
    pub(super) fn prune_node(&mut self, node: &Node) -> Option<Score> {
        let Node { depth, evaluation, beta, alpha, .. } = *node;
        if is_mate(beta) {
            return None;
        }
        // Reverse futility: so far ahead that the opponent cannot make up for it in time.
        let margin = params::reverse_futility_margin() * (depth - i32::from(node.improving));
        if depth <= params::reverse_futility_depth()
            && evaluation - margin >= beta
            && !is_mate(evaluation)
        {
            return Some((evaluation + beta) / 2);
        }
        // Razoring: so far behind that only captures could help.
        if depth <= params::razor_depth() && evaluation + params::razor_margin() * depth <= alpha {
            let score = self.quiescence::<Null>(alpha, beta);
            if score <= alpha || self.brake.stopped {
                return Some(score);
            }
        }
        self.try_passing(node)
    }

    /// Null move: if even passing keeps the score over beta, some move will.
    fn try_passing(&mut self, node: &Node) -> Option<Score> {
        let Node { ply, depth, evaluation, beta, .. } = *node;
        let position = self.line.position();
        let passed_before = ply > 0 && self.before(ply)[0].is_none();
        // Without pieces passing may be better than any move.
        if depth < params::null_depth()
            || evaluation < beta
            || passed_before
            || !position.has_pieces(position.turn())
        {
            return None;
        }
        let surplus = ((evaluation - beta) / params::null_score_step()).min(3);
        let reduction = params::null_reduction() + depth / 4 + surplus;
        self.frame(ply).arrival = None;
        self.brake.nodes += 1;
        self.line.make_null();
        let score = -self.node::<Null>(-beta, -beta + 1, depth - reduction, !node.cut);
        self.line.unmake();
        // A mate found after passing is not a mate.
        (self.brake.stopped || score >= beta).then_some(score.min(EVALUATION_MAX))
    }

    /// Is a move not worth trying? Some move that avoids mate must have been found before.
    pub(super) fn prune_move(
        &self,
        node: &Node,
        mv: Move,
        count: usize,
        picker: &mut Picker,
    ) -> bool {
        let depth = node.depth;
        if depth > params::skip_depth() {
            return false;
        }
        let position = self.line.position();
        if !mv.is_quiet() {
            let margin = -params::noisy_see_margin() * depth;
            return !see::gains_at_least(position, mv, margin);
        }
        if node.in_check || position.gives_check(mv) {
            return false;
        }
        let enough = (4 + depth * depth) as usize / if node.improving { 1 } else { 2 };
        if count > enough.max(2) {
            picker.skip_quiets();
            return true;
        }
        let (base, per_ply) = (params::futility_margin_base(), params::futility_margin_per_ply());
        if node.evaluation + base + per_ply * depth <= node.alpha {
            picker.skip_quiets();
            return true;
        }
        let standing = self.histories.quiet(position, mv, self.before(node.ply));
        standing < -params::history_skip() * depth
            || !see::gains_at_least(position, mv, -params::quiet_see_margin() * depth * depth)
    }
}
