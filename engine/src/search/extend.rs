//! Looking deeper where it matters.

use super::alphabeta::{Node, NodeType, NonPv};
use super::{Searcher, features, params, see};
use crate::chess::Move;
use crate::eval::score::is_mate;
use crate::eval::{Evaluator, Score};
use crate::tt::Bound;

/// What was found about the depth a move deserves.
pub(super) enum Extension {
    /// This many plies more; negative for fewer.
    Plies(i32),
    /// Several moves are good enough for a cut-off: the node is done, with this score.
    Cut(Score),
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Tests whether the table's move is the only good one, by searching the others less deep
    /// against a bar somewhat under its score: singular extensions (Anantharaman, Campbell and Hsu
    /// 1990) in the form of Stockfish. If others reach beta, too, the node is cut (Björnsson and
    /// Marsland 1999, "multi-cut").
    pub(super) fn extension<N: NodeType>(&mut self, node: &Node, mv: Move) -> Extension {
        let Some(entry) = node.tt_entry.filter(|entry| {
            features::singular_extensions()
                && !N::ROOT
                && node.tt_move == Some(mv)
                && node.excluded.is_none()
                && node.depth >= params::singular_depth()
                && node.ply < 2 * self.root_depth as usize
                && entry.depth >= node.depth - 3
                && matches!(entry.bound, Bound::Lower | Bound::Exact)
        }) else {
            return Extension::Plies(0);
        };
        let score = entry.score_at(node.ply);
        if is_mate(score) {
            return Extension::Plies(0);
        }
        let bar = score - params::singular_margin() * node.depth;
        self.frame(node.ply).excluded = Some(mv);
        let others = self.node::<NonPv>(bar - 1, bar, (node.depth - 1) / 2, node.cut_node);
        self.frame(node.ply).excluded = None;
        if self.limiter.stopped {
            return Extension::Cut(others);
        }
        if others < bar {
            let double =
                features::double_extensions() && !N::PV && others < bar - params::double_margin();
            return Extension::Plies(1 + i32::from(double));
        }
        if features::multi_cut() && !N::PV && others >= node.beta && !is_mate(others) {
            return Extension::Cut(others);
        }
        if !features::negative_extensions() {
            return Extension::Plies(0);
        }
        // Not the only good move. One that is expected to cut off anyway needs less of a search.
        Extension::Plies(match (score >= node.beta, node.cut_node) {
            (true, _) => -2,
            (false, true) => -1,
            (false, false) => 0,
        })
    }

    /// Does the move give a check that costs no material? The answer is mostly forced and should
    /// not use up a ply.
    pub(super) fn is_safe_check(&self, node: &Node, mv: Move) -> bool {
        let position = self.line.position();
        features::check_extensions()
            && node.ply < 2 * self.root_depth as usize
            && position.gives_check(mv)
            && see::gains_at_least(position, mv, 0)
    }
}
