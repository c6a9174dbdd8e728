//! ProbCut (Buro, "ProbCut: an effective selective extension of the alpha-beta algorithm", 1995). A
//! capture that scores well above beta in a shallow search would probably also exceed beta in a
//! deep search.

use super::node::{Node, NonPv};
use super::picker::MovePicker;
use super::{Searcher, features, params, see};
use crate::chess::Move;
use crate::eval::score::{DRAW, is_mate};
use crate::eval::{Evaluator, Score};
use crate::tt::{Bound, Entry};

impl<E: Evaluator> Searcher<'_, E> {
    /// Returns a score if a capture exceeds beta by the ProbCut margin in a reduced search. The
    /// node must be a non-PV node.
    pub(super) fn probcut(&mut self, node: &Node) -> Option<Score> {
        let improving = params::probcut_improving() * i32::from(node.improving);
        let margin = params::probcut_margin() - improving;
        let probcut_beta = node.beta + margin;
        if !features::probcut()
            || node.depth < params::probcut_depth()
            || tt_refutes(node, probcut_beta)
        {
            return None;
        }
        // Only captures that gain, by SEE, at least the raised beta minus the evaluation are tried.
        let see_threshold = probcut_beta - node.eval;
        let position = self.line.position();
        let gains = |mv: &Move| see::gains_at_least(position, *mv, see_threshold);
        let tt_move = node.tt_move.filter(|mv| !mv.is_quiet()).filter(gains);
        let mut picker = MovePicker::good_captures(self.take_buffers(), tt_move);
        let score = self.try_captures(node, probcut_beta, see_threshold, &mut picker);
        self.buffers.push(picker.into_buffers());
        score.map(|score| if is_mate(score) { score } else { score - margin })
    }

    /// Returns the score of the first capture that gains at least `see_threshold` by SEE and scores
    /// at least `probcut_beta`; `None` if no capture does.
    fn try_captures(
        &mut self,
        node: &Node,
        probcut_beta: Score,
        see_threshold: Score,
        picker: &mut MovePicker,
    ) -> Option<Score> {
        while let Some(mv) = picker.next(self.line.position(), self.histories) {
            if !see::gains_at_least(self.line.position(), mv, see_threshold) {
                continue;
            }
            let score = self.try_capture(node, mv, probcut_beta);
            if self.limiter.stopped {
                return Some(DRAW);
            }
            if score >= probcut_beta {
                self.store_probcut(node, mv, score);
                return Some(score);
            }
        }
        None
    }

    /// Returns the score of a capture: the score of the quiescence search if this score is below
    /// `probcut_beta`, otherwise the score of a reduced search.
    fn try_capture(&mut self, node: &Node, mv: Move, probcut_beta: Score) -> Score {
        self.table.prefetch(self.line.position().key_after(mv));
        self.make(mv);
        // The quiescence search costs little and rejects most captures before the reduced search.
        let mut score = -self.quiescence::<NonPv>(-probcut_beta, -probcut_beta + 1);
        if score >= probcut_beta {
            let depth = node.depth - 1 - params::probcut_reduction();
            score = -self.node::<NonPv>(-probcut_beta, -probcut_beta + 1, depth, !node.cut_node);
        }
        self.line.unmake();
        score
    }

    fn store_probcut(&self, node: &Node, mv: Move, score: Score) {
        let entry = Entry {
            mv: Some(mv),
            score: Entry::score_from(score, node.ply),
            evaluation: node.raw_eval.filter(|_| self.line.context().is_none()),
            // The capture adds one ply to the depth of the reduced search.
            depth: node.depth - params::probcut_reduction(),
            bound: Bound::Lower,
            pv: node.tt_pv,
        };
        self.table.store(self.line.position().key(), entry);
    }
}

/// Returns whether a table entry of sufficient depth has a score below `probcut_beta`.
fn tt_refutes(node: &Node, probcut_beta: Score) -> bool {
    node.tt_entry.is_some_and(|entry| {
        entry.depth >= node.depth - params::probcut_reduction()
            && entry.score_at(node.ply) < probcut_beta
    })
}
