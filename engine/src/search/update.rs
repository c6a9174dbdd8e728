//! Updates of the histories and the transposition table after a node has been searched.

use super::node::Node;
use super::{Frame, Searcher, features, params};
use crate::chess::Move;
use crate::eval::score::is_mate;
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

impl<E: Evaluator> Searcher<'_, E> {
    /// Stores the result of a node and updates the histories. `best_move` is the last move that
    /// raised alpha, if any. The moves in `tried` were searched without causing a cutoff.
    pub(super) fn store_result(&mut self, node: &Node, best_move: Option<Move>, tried: &[Move]) {
        let best = node.best;
        let bound = match best_move {
            Some(_) if best >= node.beta => Bound::Lower,
            Some(_) => Bound::Exact,
            None => Bound::Upper,
        };
        if let Some(mv) = best_move.filter(|_| bound == Bound::Lower) {
            self.update_histories(node, mv, tried);
        }
        // If some legal moves were not searched, the score is not the score of the position. The
        // score is then neither stored nor used for the correction history.
        if node.excluded.is_some() || node.ply == 0 && !self.root_moves.is_complete() {
            return;
        }
        if bound == Bound::Upper {
            self.reward_previous_move(node);
        }
        if best_move.is_none_or(Move::is_quiet) {
            self.update_correction(node, best, bound);
        }
        let entry = Entry {
            mv: best_move,
            score: Entry::score_from(best, node.ply),
            evaluation: node.raw_eval.filter(|_| self.line.context().is_none()),
            depth: node.depth,
            bound,
            pv: node.tt_pv,
        };
        self.table.store(self.line.position().key(), entry);
    }

    /// Rewards the move of a transposition table entry that caused a cutoff without a search, if
    /// the move is quiet.
    pub(super) fn reward_tt_move(&mut self, entry: &Entry, depth: i32) {
        let position = self.line.position();
        if let Some(mv) = entry.mv.filter(|&mv| mv.is_quiet() && position.is_legal(mv)) {
            let context = self.new_quiet_context(self.line.ply());
            self.histories.update_quiet(position, mv, &context, bonus(depth) / 2);
        }
    }

    /// Updates the correction history with the difference between the score and the static
    /// evaluation. The history does not change if the score is a bound that is consistent with the
    /// static evaluation.
    fn update_correction(&mut self, node: &Node, best: Score, bound: Bound) {
        let Some(evaluation) = self.frame(node.ply).static_eval else {
            return;
        };
        let consistent = match bound {
            Bound::Lower => best <= evaluation,
            Bound::Upper => best >= evaluation,
            Bound::Exact | Bound::None => false,
        };
        if consistent || is_mate(best) || !self.line.context().is_none() {
            return;
        }
        let error = best - evaluation;
        let previous = self.previous_moves(node.ply);
        self.histories.correction.update(self.line.position(), previous, error, node.depth);
    }

    /// Rewards the move that caused a cutoff, and penalises the moves that were searched before
    /// this move.
    fn update_histories(&mut self, node: &Node, best: Move, tried: &[Move]) {
        let bonus = bonus(node.depth);
        let context = self.frame(node.ply).quiet_context;
        let position = self.line.position();
        if best.is_quiet() {
            self.histories.update_quiet(position, best, &context, bonus);
            for &mv in tried.iter().filter(|mv| mv.is_quiet()) {
                self.histories.update_quiet(position, mv, &context, -bonus);
            }
        } else {
            self.histories.update_capture(position, best, bonus);
        }
        for &mv in tried.iter().filter(|mv| !mv.is_quiet()) {
            self.histories.update_capture(position, mv, -bonus);
        }
        let killers = &mut self.frame(node.ply).killers;
        if best.is_quiet() && killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
    }

    /// If the previous move is quiet, updates the butterfly history for this move, according to the
    /// change of the static evaluation for the side that made the move.
    pub(super) fn reward_eval_gain(&mut self, ply: usize, evaluation: Score) {
        let Frame { excluded, is_verifying, .. } = *self.frame(ply);
        // Singular and verification searches visit the position of a node again. Without the test,
        // the previous move would be rewarded twice for the same gain.
        let is_again = excluded.is_some() || is_verifying;
        let Some(above) = ply.checked_sub(1).filter(|_| features::swing_history() && !is_again)
        else {
            return;
        };
        let Frame { current_move, static_eval: earlier, quiet_context, .. } = *self.frame(above);
        if let (Some(mv), Some(earlier)) = (current_move.filter(|mv| mv.is_quiet()), earlier) {
            let (per_centipawn, tempo, most) = params::swing_bonus();
            // Each evaluation is from the point of view of the side to move, and includes the tempo
            // bonus of that side.
            let gain = 2 * tempo - (earlier + evaluation);
            let bonus = (per_centipawn * gain).clamp(-most, most);
            let color = !self.line.position().turn();
            self.histories.update_butterfly(color, mv, &quiet_context, bonus);
        }
    }

    /// Updates the continuation history for a reduced quiet move after the re-search, if the
    /// re-search failed low or high. The move must not have been unmade yet.
    pub(super) fn learn_from_research(&mut self, node: &Node, mv: Move, score: Score) {
        let bonus = match score {
            _ if score <= node.alpha => -bonus(node.depth),
            _ if score >= node.beta => bonus(node.depth),
            _ => return,
        };
        let Frame { piece_to, quiet_context, .. } = *self.frame(node.ply);
        if let Some(now) = piece_to.filter(|_| mv.is_quiet()) {
            self.histories.update_continuation(now, quiet_context.previous, bonus);
        }
    }

    /// Rewards the previous move for the fail-low of this node, if the previous move is quiet.
    fn reward_previous_move(&mut self, node: &Node) {
        let Some(above) = node.ply.checked_sub(1) else {
            return;
        };
        let Frame { current_move, piece_to, quiet_context, .. } = *self.frame(above);
        let (Some(mv), Some(now)) = (current_move.filter(|mv| mv.is_quiet()), piece_to) else {
            return;
        };
        self.histories.update_played_quiet(mv, now, &quiet_context, bonus(node.depth) / 2);
    }
}

/// Returns the history bonus for a cutoff at `depth` plies.
fn bonus(depth: i32) -> i32 {
    let (per_ply, offset, most) = params::history_bonus();
    (per_ply * depth - offset).min(most)
}
