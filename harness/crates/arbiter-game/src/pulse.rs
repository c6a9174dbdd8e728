//! Signs of life of a game, for those outside of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts what engines have answered. Who watches it sees whether a game goes on, which a timer
/// would not tell: it runs on beside a game that hangs.
#[derive(Debug, Clone, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    /// An engine has answered.
    pub fn beat(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Answers so far.
    pub fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}
