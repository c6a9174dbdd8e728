//! Time management: scaling of the soft time limit, based on the results of the iterations.

use super::{SearchResult, params};
use crate::chess::Move;
use crate::eval::Score;

/// Minimum depth, in plies, at which the node percentage of the best move is used.
const NODE_PERCENT_DEPTH: u32 = 8;

/// Statistics of one iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IterationStats {
    /// Percentage of all nodes that were searched below the best move; `None` if nodes are not
    /// counted by move.
    pub(super) best_node_percent: Option<u32>,
    /// Number of fail-lows in the aspiration windows.
    pub(super) fail_lows: u32,
}

/// State of the scaling of the soft time limit during the search of one move.
#[derive(Default)]
pub(super) struct TimeManager {
    best: Option<Move>,
    /// Number of iterations since the best move changed, at most 6.
    stable: i32,
    score: Score,
}

impl TimeManager {
    /// Returns the percentage of the soft limit to use after another iteration. The percentage is
    /// higher if the best move changed recently, if the score dropped or failed low, or if moves
    /// other than the best move took many nodes.
    pub(super) fn soft_limit_percent(
        &mut self,
        result: &SearchResult,
        stats: IterationStats,
    ) -> u32 {
        let best = result.line.first().copied();
        self.stable = if best == self.best { (self.stable + 1).min(6) } else { 0 };
        let drop = if self.best.is_some() { (self.score - result.score).clamp(0, 60) } else { 0 };
        self.best = best;
        self.score = result.score;
        let fail_lows = stats.fail_lows.min(3) as i32;
        let percent =
            params::time_changed() - params::time_stable() * self.stable + drop + 8 * fail_lows;
        let share = stats.best_node_percent.filter(|_| result.depth >= NODE_PERCENT_DEPTH);
        // If 70 % of the nodes were searched below the best move, the percentage does not change.
        let nodes = share.map_or(0, |share| params::time_nodes() * (70 - share.min(100) as i32));
        (percent * (100 + nodes / 100) / 100).max(1) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chess::Position;

    /// Returns the percentage after iterations with these results, given as (index of the best
    /// move, score).
    fn after(iterations: &[(usize, Score)], stats: IterationStats) -> u32 {
        let moves = Position::startpos().legal_moves();
        let mut time_manager = TimeManager::default();
        let percents =
            iterations.iter().zip(NODE_PERCENT_DEPTH..).map(|(&(best, score), depth)| {
                let result = SearchResult {
                    line: vec![moves[best]],
                    score,
                    depth,
                    nodes: 0,
                    threads: 1,
                    pawn_table: None,
                };
                time_manager.soft_limit_percent(&result, stats)
            });
        percents.last().expect("there is an iteration")
    }

    #[test]
    fn a_stable_move_takes_less_time() {
        let stats = IterationStats::default();
        let stable = after(&[(0, 30), (0, 30), (0, 30), (0, 30)], stats);
        assert!(stable < after(&[(0, 30), (0, 30), (1, 30)], stats));
        assert!(stable < after(&[(0, 30), (0, 30), (0, 30), (0, -20)], stats));
        assert_eq!(stable, after(&[(0, 30), (0, 30), (0, 30), (0, 60)], stats));
        let failing = IterationStats { fail_lows: 2, ..stats };
        assert!(stable < after(&[(0, 30), (0, 30), (0, 30), (0, 30)], failing));
    }

    #[test]
    fn a_move_that_took_most_nodes_is_played_sooner() {
        let with = |share| {
            after(
                &[(0, 30), (0, 30)],
                IterationStats { best_node_percent: Some(share), fail_lows: 0 },
            )
        };
        assert!(with(99) < with(70) && with(70) < with(30));
        assert_eq!(with(70), after(&[(0, 30), (0, 30)], IterationStats::default()));
        // The percentage stays within reasonable bounds for any node percentage.
        assert!((30..=400).contains(&with(0)) && (30..=400).contains(&with(u32::MAX)));
    }
}
