//! A pair in flight, and the last attempt at the pair.

use std::collections::BTreeSet;
use std::time::Duration;

use super::Receipt;

/// A pair in flight.
#[derive(Debug)]
pub(super) struct Pending<A> {
    pub(super) job: A,
    pub(super) last: Attempt,
    /// First attempt whose result counts; the results of earlier attempts were voided.
    pub(super) first_attempt: u32,
    /// Time from the start of the coordinator to the request for the pair.
    pub(super) requested: Duration,
    /// Time from the start of the coordinator to the last heartbeat or to the last transmission of
    /// the job, whichever is later.
    pub(super) heard: Duration,
    /// Time of the last extension of the lease.
    pub(super) extended: Duration,
    /// Time at which the job is sent again if no worker has started the job.
    pub(super) renewal: Duration,
    /// Receipt of the accepted result.
    pub(super) accepted: Option<Receipt>,
    /// Workers that could not play the pair.
    pub(super) failed_at: BTreeSet<String>,
}

/// Attempt at a pair.
#[derive(Debug, Default)]
pub(super) struct Attempt {
    pub(super) number: u32,
    /// Sequence number in the stream of jobs, if known.
    pub(super) sequence: Option<u64>,
    /// The worker that plays the pair.
    pub(super) player: Option<String>,
    /// Time of the player's first heartbeat.
    pub(super) started: Option<Duration>,
    /// Time at which a later job in the stream was first found to be started, if any.
    pub(super) passed: Option<Duration>,
    /// Index (0 or 1) of the game that was announced last.
    pub(super) announced: Option<u8>,
}

impl Attempt {
    /// Returns the next attempt; `first` is the first attempt since the start of the coordinator.
    pub(super) fn next(&self, first: u32) -> Attempt {
        // The next attempt is never the first attempt, which is not sent while the server has an
        // earlier job of the pair.
        Attempt { number: self.number.max(first) + 1, ..Attempt::default() }
    }
}

impl<A> Pending<A> {
    /// Returns whether a worker has been playing the pair for longer than `limit`.
    pub(super) fn is_too_long(&self, limit: Duration, now: Duration) -> bool {
        self.last.started.is_some_and(|started| now > started + limit)
    }
}
