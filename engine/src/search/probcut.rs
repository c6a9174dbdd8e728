//! ProbCut (Buro, "ProbCut: an effective selective extension of the alpha-beta algorithm", 1995): a
//! capture that a shallow search finds well above beta would be above it in a deep search, too.

use super::alphabeta::{Node, NonPv};
use super::picker::MovePicker;
use super::{Searcher, features, params, see};
use crate::chess::Move;
use crate::eval::score::{DRAW, is_mate};
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

impl<E: Evaluator> Searcher<'_, E> {
    /// The score of a node with a null window that some capture clears by far.
    pub(super) fn probcut(&mut self, node: &Node) -> Option<Score> {
        let improving = params::probcut_improving() * i32::from(node.improving);
        let surplus = params::probcut_margin() - improving;
        let bar = node.beta + surplus;
        if !features::probcut() || node.depth < params::probcut_depth() || is_refuted(node, bar) {
            return None;
        }
        let needed = bar - node.eval;
        let position = self.line.position();
        let gains = |mv: &Move| see::gains_at_least(position, *mv, needed);
        let tt_move = node.tt_move.filter(|mv| !mv.is_quiet()).filter(gains);
        let mut picker = MovePicker::good_captures(self.take_buffers(), tt_move);
        let score = self.clear_bar(node, bar, needed, &mut picker);
        self.buffers.push(picker.into_buffers());
        score.map(|score| if is_mate(score) { score } else { score - surplus })
    }

    /// The score of the first capture that gains what is needed and clears the bar.
    fn clear_bar(
        &mut self,
        node: &Node,
        bar: Score,
        needed: Score,
        picker: &mut MovePicker,
    ) -> Option<Score> {
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if !see::gains_at_least(self.line.position(), mv, needed) {
                continue;
            }
            let score = self.try_capture(node, mv, bar);
            if self.limiter.stopped {
                return Some(DRAW);
            }
            if score >= bar {
                self.remember_capture(node, mv, score);
                return Some(score);
            }
        }
        None
    }

    /// The score behind a capture: of quiescence if that is under the bar already.
    fn try_capture(&mut self, node: &Node, mv: Move, bar: Score) -> Score {
        self.make(mv);
        let mut score = -self.quiescence::<NonPv>(-bar, -bar + 1);
        if score >= bar {
            let depth = node.depth - 1 - params::probcut_reduction();
            score = -self.node::<NonPv>(-bar, -bar + 1, depth, !node.cut_node);
        }
        self.line.unmake();
        score
    }

    fn remember_capture(&self, node: &Node, mv: Move, score: Score) {
        let entry = Entry {
            mv: Some(mv),
            score: Entry::score_from(score, node.ply),
            evaluation: node.raw_eval.filter(|_| E::CONTEXT.is_none()),
            depth: node.depth - params::probcut_reduction(),
            bound: Bound::Lower,
        };
        self.table.store(self.line.position().key(), entry);
    }
}

/// Does the table know from a search of about that depth that the bar is too high?
fn is_refuted(node: &Node, bar: Score) -> bool {
    node.tt_entry.is_some_and(|entry| {
        entry.depth >= node.depth - params::probcut_reduction() && entry.score_at(node.ply) < bar
    })
}
