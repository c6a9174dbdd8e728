//! States of workers, as displayed to users.

use serde::{Deserialize, Serialize};

use super::wire::{EXCLUDED, WorkerStatus};

/// Time without a message, in seconds, after which a worker counts as silent and a run is removed.
/// Workers send a status every 3 seconds and coordinators a beacon every second, so a few messages
/// may be lost.
pub(super) const TIMEOUT_S: u32 = 10;

/// State of a worker; the variants are ordered by urgency, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    /// A run has excluded the worker.
    Excluded,
    /// The worker has sent no status for at least 10 s.
    Silent,
    /// The worker plays at least one game.
    Playing,
    /// The worker has nothing to do.
    Idle,
}

arbiter_names::named!(WorkerState);

impl WorkerState {
    /// Returns the state of a worker from its last status, received `silent` seconds ago.
    pub fn of(status: &WorkerStatus, silent: u32) -> WorkerState {
        let is_excluded = status.refusals.iter().any(|(_, why)| why.starts_with(EXCLUDED));
        match status.playing {
            // This state comes first, because the other states follow from a status that may be
            // outdated.
            _ if silent >= TIMEOUT_S => WorkerState::Silent,
            _ if is_excluded => WorkerState::Excluded,
            0 => WorkerState::Idle,
            _ => WorkerState::Playing,
        }
    }
}
