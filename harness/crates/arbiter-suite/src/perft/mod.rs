//! Perft: the leaves of the tree of legal moves, counted to prove an engine's move generator.
//!
//! [`read()`] parses the files, [`Patterns`] match the output of engines, and a [`Count`] finds the
//! first wrong position below one whose count is wrong.

mod answer;
mod read;
mod task;
mod walk;

pub use answer::Patterns;
pub use read::{Suite, read, variant_of};
pub use task::{Count, CountResult, PerftQuery, Verdict};
pub use walk::{Finding, PositionFault, leaves};

use arbiter_position::Start;

/// Position with the numbers of leaves of its tree.
#[derive(Debug, Clone)]
pub struct Case {
    /// Number of the line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// Name in the suite.
    pub name: Option<String>,
    /// The position.
    pub start: Start,
    /// Depth in plies and leaves, by rising depth; never empty.
    pub counts: Vec<(u32, u64)>,
}

/// Limits of the counts.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Greatest depth, in plies.
    pub depth: u32,
    /// Greatest number of leaves, according to the suite.
    pub nodes: u64,
}

impl Case {
    /// Returns depth and leaves of the deepest count within the limits: it includes the shallower
    /// ones.
    pub fn within(&self, limits: Limits) -> Option<(u32, u64)> {
        let fits = |(depth, nodes): &&(u32, u64)| *depth <= limits.depth && *nodes <= limits.nodes;
        self.counts.iter().rev().find(fits).copied()
    }
}
