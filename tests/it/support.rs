//! Helpers of the end-to-end tests: a folder to run in, the programs to run, and readers for their
//! output.
//!
//! Nothing here sleeps for a guessed time: a test waits for a condition, and
//! fails with what it saw when a generous deadline has passed.

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

/// Longest time a test waits. Far more than needed, so that a slow machine does not fail a test.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Waits until `condition` returns a value.
pub fn wait_for<T>(what: &str, mut condition: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + PATIENCE;
    loop {
        if let Some(answer) = condition() {
            return answer;
        }
        assert!(Instant::now() < deadline, "waited {PATIENCE:?} in vain until {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
