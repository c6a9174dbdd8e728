//! Perft: counts of the leaves of the tree of legal moves, which test an engine's move generator.
//!
//! [`read()`] parses the files, [`Patterns`] match the output of engines, and a [`Count`] finds the
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

/// Position with the expected numbers of leaves of its game tree.
#[derive(Debug, Clone)]
pub struct Case {
    /// Number of the line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// Name in the suite.
    pub name: Option<String>,
    /// The position.
    pub start: Start,
    /// Pairs of depth in plies and number of leaves, by ascending depth; never empty.
    pub counts: Vec<(u32, u64)>,
}

/// Limits for the counts that are tested.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum depth, in plies.
    pub depth: u32,
    /// Maximum number of leaves, according to the suite.
    pub nodes: u64,
}

impl Case {
    /// Returns depth and leaves of the deepest count within the limits, which includes all
    /// shallower counts.
    pub fn within(&self, limits: Limits) -> Option<(u32, u64)> {
        let fits = |(depth, nodes): &&(u32, u64)| *depth <= limits.depth && *nodes <= limits.nodes;
        self.counts.iter().rev().find(fits).copied()
    }
}
