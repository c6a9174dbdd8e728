//! Perft: counts of the leaves in the tree of legal moves, to test an engine's move generator.
//!
//! [`read()`] parses suites, and [`Patterns`] match the output of engines. A [`Count`] finds the
//! first position in which an engine's moves or counts are wrong.

mod answer;
mod read;
mod task;
mod walk;

pub use answer::Patterns;
pub use read::{read, variant_of};
pub use task::{Count, CountResult, PerftQuery, Verdict};
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

/// Limits for the counts that are tested.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum depth, in plies.
    pub depth: u32,
    /// Maximum expected count, in leaves. Greater counts are not tested.
    pub nodes: u64,
}

impl Case {
    /// Returns the depth and the number of leaves of the deepest count within the limits. Testing
    /// the deepest count also tests all shallower counts. Returns `None` if no count is within the
    /// limits.
    pub fn within(&self, limits: Limits) -> Option<(u32, u64)> {
        let fits = |(depth, nodes): &&(u32, u64)| *depth <= limits.depth && *nodes <= limits.nodes;
        self.counts.iter().rev().find(fits).copied()
    }
}
