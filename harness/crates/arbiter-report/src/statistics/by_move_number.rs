//! Search statistics of an engine by move number.

use std::time::Duration;

use arbiter_game::record::Thought;

/// Moves of a range.
pub const MOVES_PER_RANGE: u32 = 10;

/// Ranges of move numbers; the last one has no end.
const RANGES: usize = 12;

/// Sums over moves of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SearchStatistics {
    /// Moves that the engine chose.
    pub moves: u64,
    /// Time they took.
    pub time: Duration,
    /// Plies searched, over the moves that told so.
    depth: u64,
    with_depth: u64,
    /// Nodes searched and the time for them, over the moves that told so.
    nodes: u64,
    time_for_nodes: Duration,
}

impl SearchStatistics {
    /// Mean depth in plies.
    pub fn depth(&self) -> Option<f64> {
        (self.with_depth > 0).then(|| self.depth as f64 / self.with_depth as f64)
    }

    /// Nodes per second.
    pub fn speed(&self) -> Option<f64> {
        let seconds = self.time_for_nodes.as_secs_f64();
        (seconds > 0.0 && self.nodes > 0).then(|| self.nodes as f64 / seconds)
    }

    /// Mean time for a move, in milliseconds.
    pub fn time_ms(&self) -> Option<f64> {
        (self.moves > 0).then(|| 1e3 * self.time.as_secs_f64() / self.moves as f64)
    }

    pub(super) fn add(&mut self, thought: &Thought) {
        self.moves += 1;
        self.time += thought.elapsed;
        if let Some(depth) = thought.depth {
            self.depth += u64::from(depth);
            self.with_depth += 1;
        }
        if let Some(nodes) = thought.nodes {
            self.nodes += nodes;
            self.time_for_nodes += thought.elapsed;
        }
    }
}

/// Sums by range of move numbers.
#[derive(Debug, Clone, Default)]
pub struct ByMoveNumber([SearchStatistics; RANGES]);

impl ByMoveNumber {
    /// Adds a move by its number.
    pub(super) fn add(&mut self, number: u32, thought: &Thought) {
        let range = (number.saturating_sub(1) / MOVES_PER_RANGE) as usize;
        self.0[range.min(RANGES - 1)].add(thought);
    }

    /// The sums with the first move number of their range.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &SearchStatistics)> {
        (0..).map(|range| MOVES_PER_RANGE * range + 1).zip(&self.0)
    }
}
