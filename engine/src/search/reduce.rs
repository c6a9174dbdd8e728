//! Late move reductions.

use super::node::{Node, NodeType};
use super::{Searcher, features, params};
use crate::chess::Move;
use crate::eval::Evaluator;

/// Products, in 1/256, of the base-2 logarithms of depth and move count. Depth and move count are
/// at most 63. The products are computed with integers, so that every machine has the same values.
static LOGARITHMS: [[i32; 64]; 64] = logarithms();

const fn logarithms() -> [[i32; 64]; 64] {
    let mut table = [[0; 64]; 64];
    let mut depth = 1;
    while depth < 64 {
        let mut count = 1;
        while count < 64 {
            let product = log2_256ths(depth as u32) * log2_256ths(count as u32) / 256;
            table[depth][count] = product as i32;
            count += 1;
        }
        depth += 1;
    }
    table
}

/// Returns the base-2 logarithm in 1/256, interpolated linearly between powers of two.
const fn log2_256ths(x: u32) -> u32 {
    let floor = x.ilog2();
    (floor << 8) + ((x << 8) >> floor) - 256
}

/// Returns the base reduction, in 1/1024 ply, for a depth, a move count and `node.improving`.
pub(super) fn base_reduction(node: &Node, count: usize) -> i32 {
    let product = LOGARITHMS[node.depth.min(63) as usize][count.min(63)];
    params::reduction_base()
        + product * params::reduction_slope() / 100
        + params::reduction_not_improving() * i32::from(!node.improving)
}

impl<E: Evaluator> Searcher<'_, E> {
    /// Hindsight: returns the change of depth (1, 0 or −1 ply) of a reduced node. The result
    /// depends on how the previous move changed the static evaluation.
    pub(super) fn hindsight(&mut self, node: &Node) -> i32 {
        let Some(above) = node.ply.checked_sub(1).filter(|_| node.excluded.is_none()) else {
            return 0;
        };
        // The reduction is reset, so that the verification search of this node does not change the
        // depth again.
        let reduction = std::mem::take(&mut self.frame(above).reduction);
        let before = self.frame(above).static_eval;
        let now = self.frame(node.ply).static_eval;
        let (Some(before), Some(now)) = (before, now) else { return 0 };
        // The two evaluations are from opposite points of view, so their sum is the gain for the
        // side that is now to move.
        let gain = before + now;
        if reduction >= 3 && gain <= 0 {
            1
        } else if reduction >= 1 && node.depth >= 2 && gain > params::hindsight_margin() {
            -1
        } else {
            0
        }
    }

    /// Returns the late move reduction, in plies, of a move that has just been made.
    ///
    /// The terms are from Stockfish 16 (`search.cpp`, step 17). The parameter values are specific
    /// to this engine.
    pub(super) fn reduction<N: NodeType>(
        &self,
        node: &Node,
        mv: Move,
        count: usize,
        history_score: i32,
    ) -> i32 {
        let first = if N::PV { 3 } else { 2 };
        if !features::late_move_reductions()
            || node.depth < params::reduction_depth()
            || count < first
        {
            return 0;
        }
        let mut plies = base_reduction(node, count);
        if !mv.is_quiet() {
            plies = plies / 2 - 256;
        } else if node.tt_move.is_some_and(|tt_move| !tt_move.is_quiet()) {
            plies += params::reduction_table_noisy();
        }
        if node.cut_node {
            plies += params::reduction_cut();
        }
        if self.cutoffs(node.ply + 1) > params::MANY_CUTOFFS {
            plies += params::reduction_cutoffs();
        }
        plies -= 1024 * i32::from(N::PV);
        plies -= params::reduction_tt_pv() * i32::from(node.tt_pv);
        plies -= 1024 * i32::from(self.line.position().in_check() || node.in_check);
        plies -= params::reduction_doubt() * node.correction;
        plies -= history_score * 1024 / params::reduction_history();
        (plies / 1024).max(0)
    }
}
