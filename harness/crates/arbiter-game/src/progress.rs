//! Progress of a game.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counter of the answers of engines; clones share the count. A timer would not show that a game
/// hangs: it would run on beside the game.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// Counts an answer of an engine.
    pub fn advance(&self) {
        // A watcher only compares two counts, so that no other memory has to be ordered.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns the number of answers so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
