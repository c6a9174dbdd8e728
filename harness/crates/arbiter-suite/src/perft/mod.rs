//! Perft: counts of the leaves in the tree of legal moves, to test an engine's move generator.
//!
//! [`read()`] parses suites, and [`Patterns`] match the output of engines. A [`Count`] finds the
//! first position in which an engine's moves or counts are wrong.

mod read;
mod task;
mod walk;

pub use read::{read, variant_of};
pub use task::{Count, CountResult, Patterns, PerftQuery, Verdict};
pub use walk::{Finding, PositionFault, leaves};

use arbiter_position::Start;

/// Position with the expected numbers of leaves in the tree of legal moves.
#[derive(Debug, Clone)]
pub struct Case {
    /// Number of the line, counted from 1; in a JSON file, number of the case.
    pub line: usize,
    /// Name of the position in the suite.
    pub name: Option<String>,
    /// Position whose leaves are counted.
    pub start: Start,
    /// Depths in plies, each with the number of leaves, in ascending order of depth; never empty.
    pub counts: Vec<(u32, u64)>,
}

impl Case {
    /// Returns the depth and the number of leaves of the deepest count within the limits: a maximum
    /// depth, in plies, and a maximum number of leaves. Testing the deepest count also tests all
    /// shallower counts. Returns `None` if no count is within the limits.
    pub fn within(&self, max_depth: u32, max_leaves: u64) -> Option<(u32, u64)> {
        let fits = |(depth, leaves): &&(u32, u64)| *depth <= max_depth && *leaves <= max_leaves;
        self.counts.iter().rev().find(fits).copied()
    }
}
