//! What happens in a run, in the words of its observers.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Pace, PairTally, PlayedPair, RunCounts};
use arbiter_game::record::GameRecord;
use arbiter_schedule::{Pairing, Schedule};
use arbiter_spsa::Iteration;
use arbiter_stats::SprtStatus;
use schemars::JsonSchema;
use serde::Serialize;

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// The SPRT accepted H1.
    AcceptedH1,
    /// The SPRT accepted H0.
    AcceptedH0,
    /// All pairs were played. For an SPRT this means that it stayed undecided.
    Complete,
    /// The user stopped it; it can be resumed.
    Interrupted,
}

/// One thing that happened. Observers (live view, PGN file) see every event, in this order of
/// guarantees: a pair is on disk before it is `Counted`, and pairs are counted in schedule order.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// The run begins, or goes on after an interruption.
    Started {
        /// Counts of what was played before.
        counts: &'a RunCounts,
        /// Pairs counted before.
        counted: u64,
        /// What the test says of those of each two engines, if the run is an SPRT.
        sprt_statuses: &'a BTreeMap<[usize; 2], SprtStatus>,
    },
    /// A game has begun. Those of different pairs come in any order, and a void pair's twice.
    GameStarted {
        /// Its pair.
        pairing: &'a Pairing,
        /// Which game of the pair, from 0.
        half: usize,
    },
    /// A game is over, and counts with its pair. A void pair's games come twice. Told only where it
    /// was asked for, or an engine failed.
    GameEnded {
        /// Its pair.
        pairing: &'a Pairing,
        /// Which game of the pair, from 0.
        half: usize,
        /// The game.
        game: &'a GameRecord,
    },
    /// A pair was counted.
    Counted {
        /// The pair with its games.
        played: &'a PlayedPair,
        /// What it adds.
        tally: &'a PairTally,
        /// What the test says after it, if the run is an SPRT.
        sprt_status: Option<SprtStatus>,
        /// Since the start or resumption.
        elapsed: Duration,
    },
    /// The pairs counted so far complete an iteration of a tuning, which is on disk.
    Iterated {
        /// Its result, and the values after it.
        iteration: &'a Iteration,
    },
    /// The machine disturbed a pair.
    Disturbed {
        /// The pair.
        pair: u64,
        /// How it was disturbed, in words.
        reason: &'a str,
        /// Whether it is played again; if not, it counts as it is.
        is_void: bool,
    },
    /// Arbiter itself did not run for a while.
    Paused {
        /// For how long.
        length: Duration,
    },
    /// A worker did something that changes no count.
    Noted {
        /// The worker, and what it did.
        remark: &'a Remark,
    },
    /// A worker broke the rules of the run and is excluded. Observers forget all that was
    /// counted after the counts given here; the pairs in question are counted again when others have
    /// played them.
    WorkerExcluded {
        /// The worker, the reason, and how many pairs are played again.
        excluded: &'a ExcludedWorker,
        /// Counts of what still counts.
        counts: &'a RunCounts,
        /// Pairs that still count, the first ones in the order of the schedule.
        counted: u64,
        /// What the test says of those of each two engines, if the run is an SPRT.
        sprt_statuses: &'a BTreeMap<[usize; 2], SprtStatus>,
        /// The schedule after those.
        schedule: &'a Schedule,
    },
    /// Time passed; a chance to show that the run is alive.
    Tick {
        /// Since the start or resumption.
        elapsed: Duration,
    },
    /// The user has changed how fast the run goes on.
    Steered {
        /// Whether pairs are started.
        pace: Pace,
        /// Games at once.
        slots: usize,
        /// Since the start or resumption.
        elapsed: Duration,
    },
    /// No more pairs will start; those in flight are played to their end.
    Draining {
        /// Number of pairs in flight.
        in_flight: usize,
    },
    /// The run is over.
    Ended {
        /// How it ended.
        ending: Ending,
        /// Since the start or resumption.
        elapsed: Duration,
    },
}

/// What a worker did that did not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remark {
    /// Name of the worker.
    pub worker: String,
    /// Number of the pair, from 0, if it was about one.
    pub pair: Option<u64>,
    /// What it did, in words.
    pub what: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pair {
            Some(pair) => write!(f, "worker {}, pair {}: {}", self.worker, pair + 1, self.what),
            None => write!(f, "worker {}: {}", self.worker, self.what),
        }
    }
}

/// A worker that is excluded from a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcludedWorker {
    /// Name of the worker.
    pub worker: String,
    /// Reason for the exclusion, in words.
    pub reason: String,
    /// Number of its pairs that do not count and are played again.
    #[serde(rename = "pairs_discarded")]
    pub pairs: u64,
}

impl fmt::Display for ExcludedWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExcludedWorker { worker, reason, pairs } = self;
        let pairs = match pairs {
            0 => "no pair of it is played again".to_owned(),
            1 => "its pair is played again by others".to_owned(),
            pairs => format!("its {pairs} pairs are played again by others"),
        };
        write!(f, "worker {worker} is excluded: {reason}; {pairs}")
    }
}

/// Sees a run as it happens. An observer that cannot do its work says so; the run then ends.
pub trait Observer {
    /// Called for each event, in order.
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError>;

    /// Returns what it has written so far to a file that has all counted pairs in order, if it has one.
    fn written(&self) -> Option<Written> {
        None
    }
}

/// The part of a file that has the first pairs of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The file.
    pub file: PathBuf,
    /// Number of pairs.
    pub pairs: u64,
    /// The place of their end in the file, in bytes.
    pub end: u64,
    /// BLAKE3 hash of the part, in hexadecimal.
    pub hash: String,
}

/// An observer failed; the text names the file or device.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ObserverError(pub String);
