//! Helpers of the end-to-end tests: a working folder, the programs to run, and parsers for their
//! output.
//!
//! No helper sleeps for a guessed time: a test waits for a condition, and fails with the observed
//! state after a generous timeout.

pub mod bench;
pub mod chromium;
pub mod disk;
pub mod nats;
pub mod pgn;
pub mod phrases;
pub mod plan;
pub mod process;
pub mod programs;
pub mod project;
pub mod report;
pub mod schema;
pub mod site;
pub mod snapshot;
pub mod store;
pub mod talk;

use std::time::{Duration, Instant};

/// Maximum time that a test waits, which is far more than needed even on a slow machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `condition` returns a value.
pub fn wait_for<T>(event: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = condition() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain until {event}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
