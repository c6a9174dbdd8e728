//! Looking deeper where it matters.

use super::alphabeta::{Node, NodeKind, Null};
use super::{Searcher, params};
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
    /// against a bar somewhat under its score.
    pub(super) fn extension<N: NodeKind>(&mut self, node: &Node, mv: Move) -> Extension {
        let Some(entry) = node.entry.filter(|entry| {
            !N::ROOT
                && node.table == Some(mv)
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
        let others = self.node::<Null>(bar - 1, bar, (node.depth - 1) / 2, node.cut);
        self.frame(node.ply).excluded = None;
        if self.brake.stopped {
            return Extension::Cut(others);
        }
        if others < bar {
            return Extension::Plies(1);
        }
        if !N::OPEN && bar >= node.beta {
            return Extension::Cut(bar);
        }
        Extension::Plies(if score >= node.beta { -1 } else { 0 })
    }
}
