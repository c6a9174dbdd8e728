//! What is kept of a node once it has been searched.

use super::alphabeta::Node;
use super::{Frame, Searcher, params, parts};
use crate::chess::Move;
use crate::eval::score::is_mate;
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

impl<E: Evaluator> Searcher<'_, E> {
    /// Remembers the result of a node; `best_move` raised alpha, the moves in `tried` did less.
    pub(super) fn conclude(&mut self, node: &Node, best_move: Option<Move>, tried: &[Move]) {
        let best = node.best;
        let bound = match best_move {
            Some(_) if best >= node.beta => Bound::Lower,
            Some(_) => Bound::Exact,
            None => Bound::Upper,
        };
        if let Some(mv) = best_move.filter(|_| bound == Bound::Lower) {
            self.learn_moves(node, mv, tried);
        }
        // The result of a choice among fewer moves is not the position's.
        if node.excluded.is_some() || node.ply == 0 && !self.root_moves.is_complete() {
            return;
        }
        if bound == Bound::Upper {
            self.credit_refutation(node);
        }
        if best_move.is_none_or(Move::is_quiet) {
            self.learn_error(node, best, bound);
        }
        let entry = Entry {
            mv: best_move,
            score: Entry::score_from(best, node.ply),
            evaluation: node.raw.filter(|_| E::CONTEXT.is_none()),
            depth: node.depth,
            bound,
        };
        self.table.store(self.line.position().key(), entry);
    }

    /// The table's move cut off without a search: it is still good.
    pub(super) fn confirm(&mut self, entry: &Entry, depth: i32) {
        let position = self.line.position();
        if let Some(mv) = entry.mv.filter(|&mv| mv.is_quiet() && position.is_legal(mv)) {
            let trail = self.trail(self.line.ply());
            self.histories.learn_quiet(self.line.position(), mv, &trail, bonus(depth) / 2);
        }
    }

    /// Compares the static evaluation with the result, unless the result is a bound that the
    /// evaluation keeps anyway.
    fn learn_error(&mut self, node: &Node, best: Score, bound: Bound) {
        let Some(evaluation) = self.frame(node.ply).evaluation else {
            return;
        };
        let kept = match bound {
            Bound::Lower => best <= evaluation,
            Bound::Upper => best >= evaluation,
            Bound::Exact | Bound::None => false,
        };
        if kept || is_mate(best) || !E::CONTEXT.is_none() {
            return;
        }
        let error = best - evaluation;
        let before = node.trail.before;
        self.histories.corrections.learn(self.line.position(), before, error, node.depth);
    }

    /// A cut-off: the move was good, those tried before it were not.
    fn learn_moves(&mut self, node: &Node, best: Move, tried: &[Move]) {
        let bonus = bonus(node.depth);
        let position = self.line.position();
        if best.is_quiet() {
            self.histories.learn_quiet(position, best, &node.trail, bonus);
            for &mv in tried.iter().filter(|mv| mv.is_quiet()) {
                self.histories.learn_quiet(position, mv, &node.trail, -bonus);
            }
        } else {
            self.histories.learn_capture(position, best, bonus);
        }
        for &mv in tried.iter().filter(|mv| !mv.is_quiet()) {
            self.histories.learn_capture(position, mv, -bonus);
        }
        let killers = &mut self.frame(node.ply).killers;
        if best.is_quiet() && killers[0] != Some(best) {
            *killers = [Some(best), killers[0]];
        }
    }

    /// The static evaluations before and after a quiet move say at once whether it was good.
    pub(super) fn learn_swing(&mut self, ply: usize, evaluation: Score) {
        let Some(above) = ply.checked_sub(1).filter(|_| parts::swing_history()) else {
            return;
        };
        let Frame { made, evaluation: earlier, excluded, .. } = *self.frame(above);
        let quiet = made.filter(|mv| mv.is_quiet() && excluded.is_none());
        if let (Some(mv), Some(earlier)) = (quiet, earlier) {
            let (per_centipawn, tempo, most) = params::swing_bonus();
            // Both evaluations favour the side to move, so that an idle move raises their sum.
            let gain = 2 * tempo - (earlier + evaluation);
            let bonus = (per_centipawn * gain).clamp(-most, most);
            let color = !self.line.position().turn();
            self.histories.learn_move(color, mv, bonus);
        }
    }

    /// No move was good enough: the one that led here, if it was quiet, refuted the line.
    fn credit_refutation(&mut self, node: &Node) {
        let Some(above) = node.ply.checked_sub(1) else {
            return;
        };
        let Frame { made, arrival, .. } = *self.frame(above);
        let (Some(mv), Some(now)) = (made.filter(|mv| mv.is_quiet()), arrival) else {
            return;
        };
        let before = self.before(above);
        self.histories.learn_arrival(mv, now, before, bonus(node.depth) / 2);
    }
}

/// What a result of that depth adds to the history of a good move.
fn bonus(depth: i32) -> i32 {
    let (per_ply, offset, most) = params::history_bonus();
    (per_ply * depth - offset).min(most)
}
