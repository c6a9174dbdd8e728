//! Singular extensions, multi-cut and negative extensions.

use super::node::{Node, NodeType, NonPv};
use super::{Searcher, features, params};
use crate::chess::Move;
use crate::eval::score::is_mate;
use crate::eval::{Evaluator, Score};
use crate::tt::Bound;

/// Result of the singular search of a move.
pub(super) enum Extension {
    /// Extend the move by this many plies; a negative number is a reduction.
    Plies(i32),
    /// Return this score from the node, because of a multi-cut or a stop.
    Cut(Score),
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Returns the extension of a move. Only the move from the transposition table can have an
    /// extension. As in Stockfish, a singular search (Anantharaman, Campbell and Hsu 1990) searches
    /// all other moves at reduced depth, with a null window below the score in the table. If the
    /// singular search fails low, the move is extended. If the score of the singular search reaches
    /// the node's beta, the node is cut off (multi-cut, Björnsson and Marsland 1999).
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
        let singular_beta = score - params::singular_margin() * node.depth;
        self.frame(node.ply).excluded = Some(mv);
        let singular_score = self.node::<NonPv>(
            singular_beta - 1,
            singular_beta,
            (node.depth - 1) / 2,
            node.cut_node,
        );
        self.frame(node.ply).excluded = None;
        if self.limiter.stopped {
            return Extension::Cut(singular_score);
        }
        if singular_score < singular_beta {
            let double = features::double_extensions()
                && !N::PV
                && singular_score < singular_beta - params::double_margin();
            return Extension::Plies(1 + i32::from(double));
        }
        if features::multi_cut()
            && !N::PV
            && singular_score >= node.beta
            && !is_mate(singular_score)
        {
            return Extension::Cut(singular_score);
        }
        if !features::negative_extensions() {
            return Extension::Plies(0);
        }
        // The move is not singular. The move is reduced if the table score or the type of the node
        // makes a cutoff likely anyway.
        Extension::Plies(match (score >= node.beta, node.cut_node) {
            (true, _) => -2,
            (false, true) => -1,
            (false, false) => 0,
        })
    }
}
