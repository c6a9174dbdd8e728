//! Whether a game makes progress.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts the answers of engines; clones share the count. A timer would not show that a game hangs:
/// it runs on beside it.
#[derive(Debug, Clone, Default)]
pub struct Progress(Arc<AtomicU64>);

impl Progress {
    /// An engine has answered.
    pub fn advance(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Answers so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
