//! Perft: the leaves of the tree of legal moves, counted to prove an engine's move generator.
//!
//! [`read()`] understands the files, [`Patterns`] what engines print, and a [`Count`] finds the first
//! wrong position below one whose count is wrong.

mod answer;
mod read;
mod task;
mod walk;

pub use answer::Patterns;
pub use read::{Suite, read, variant_of};
pub use task::{Count, Counted, PerftQuery, Verdict};
pub use walk::{Finding, Wrong, leaves};

use arbiter_position::Start;

/// A position and how many leaves its tree has.
#[derive(Debug, Clone)]
pub struct Case {
    /// Number of its line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// Its name in the suite.
    pub name: Option<String>,
    /// The position.
    pub start: Start,
    /// Depth in plies and leaves, by rising depth; never empty.
    pub counts: Vec<(u32, u64)>,
}

/// How far to count.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Plies at most.
    pub depth: u32,
    /// Leaves at most, by the suite's figures.
    pub nodes: u64,
}

impl Case {
    /// The deepest count within the limits: it holds the shallower ones as well.
    pub fn within(&self, limits: Limits) -> Option<(u32, u64)> {
        let fits = |(depth, nodes): &&(u32, u64)| *depth <= limits.depth && *nodes <= limits.nodes;
        self.counts.iter().rev().find(fits).copied()
    }
}
