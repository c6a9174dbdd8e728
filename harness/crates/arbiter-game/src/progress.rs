//! Progress of a game.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counter of engine answers; clones share the count. If the count no longer changes, a watcher can
/// conclude that the game hangs.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Counts an answer of an engine.
    pub fn advance(&self) {
        // Relaxed ordering suffices, because a watcher only compares two counts.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of answers so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
