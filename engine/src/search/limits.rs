//! Limits of a search, and signals to a running search.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::chess::Move;
use crate::eval::score::MAX_PLY;

/// Limits of `go` other than time. By default, the search has no limits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Depth of the last iteration, in plies.
    pub depth: Option<u32>,
    /// Number of nodes to visit; the search stops at exactly this number.
    pub nodes: Option<u64>,
    /// Number of nodes after which no new iteration begins.
    pub soft_nodes: Option<u64>,
    /// Maximum number of moves to a mate that ends the search (`go mate`).
    pub mate: Option<u32>,
    /// Moves to search at the root; empty for all moves.
    pub search_moves: Vec<Move>,
    /// Number of principal variations to find (MultiPV); `None` for 1. Only the default personality
    /// finds more than one variation.
    pub lines: Option<usize>,
}

impl Limits {
    /// Returns the number of principal variations to find, at least one.
    pub(super) fn lines(&self) -> usize {
        self.lines.unwrap_or(1).max(1)
    }

    /// Returns the depth of the last iteration, in plies.
    pub(super) fn max_depth(&self) -> i32 {
        // The search stack has only `MAX_PLY + 1` frames.
        self.depth.map_or(MAX_PLY as i32 - 1, |depth| depth.clamp(1, MAX_PLY as u32 - 1) as i32)
    }
}

/// Signals to a running search from another thread.
#[derive(Debug, Default)]
pub struct Signals {
    stop: AtomicBool,
    pondering: AtomicBool,
}

impl Signals {
    /// Returns the signals for a search. If `pondering` is `true`, the search starts on the
    /// opponent's time.
    pub fn new(pondering: bool) -> Signals {
        Signals { stop: AtomicBool::new(false), pondering: AtomicBool::new(pondering) }
    }

    /// Stops the search as soon as possible.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Release);
    }

    /// Signals that the opponent played the expected move, so that time limits now apply.
    pub fn ponder_hit(&self) {
        self.pondering.store(false, Ordering::Release);
    }

    /// Returns whether the search must stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Acquire)
    }

    /// Returns whether the search is pondering (searching on the opponent's time).
    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Ordering::Acquire)
    }
}
