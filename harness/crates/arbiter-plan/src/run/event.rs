//! Events of a run, for its observers.

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

/// Way in which a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Acceptance of H1 by the SPRT.
    AcceptedH1,
    /// Acceptance of H0 by the SPRT.
    AcceptedH0,
    /// Completion of all pairs. An SPRT then stayed undecided.
    Complete,
    /// A stop by the user; the run can be resumed.
    Interrupted,
}

/// An event of a run. Observers (live view, PGN file) see every event, with these guarantees: a
/// pair is on disk before it is `Counted`, and pairs are counted in schedule order.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// The run starts, or is resumed after an interruption.
    Started {
        /// Counts of the pairs played before.
        counts: &'a RunCounts,
        /// Number of pairs counted before.
        counted: u64,
        /// SPRT status of each two engines, if the run is an SPRT.
        sprt_statuses: &'a BTreeMap<[usize; 2], SprtStatus>,
    },
    /// A game has started. Those of different pairs come in any order, and a void pair's twice.
    GameStarted {
        /// Pair of the game.
        pairing: &'a Pairing,
        /// Index of the game in the pair, from 0.
        game_index: usize,
    },
    /// A game is over, and counts with its pair. A void pair's games come twice. Sent only on
    /// request, or if an engine failed.
    GameEnded {
        /// Pair of the game.
        pairing: &'a Pairing,
        /// Index of the game in the pair, from 0.
        game_index: usize,
        /// Record of the game.
        game: &'a GameRecord,
    },
    /// A pair was counted.
    Counted {
        /// Pair with its games.
        played: &'a PlayedPair,
        /// Contribution of the pair to the counts.
        tally: &'a PairTally,
        /// SPRT status after the pair, if the run is an SPRT.
        sprt_status: Option<SprtStatus>,
        /// Time since the start or resumption.
        elapsed: Duration,
    },
    /// The pairs counted so far complete an iteration of a tuning, which is on disk.
    Iterated {
        /// Result of the iteration, and the values after it.
        iteration: &'a Iteration,
    },
    /// The machine disturbed a pair.
    Disturbed {
        /// Number of the pair.
        pair: u64,
        /// Reason, as text.
        reason: &'a str,
        /// `true` if the pair is played again; if not, it counts.
        is_void: bool,
    },
    /// Arbiter itself did not run for a while.
    Paused {
        /// Length of the pause.
        length: Duration,
    },
    /// A worker did something that changes no count.
    Noted {
        /// Remark on the worker.
        remark: &'a Remark,
    },
    /// A worker broke the rules of the run and is excluded. Observers forget everything counted
    /// beyond the counts given here; the pairs in question are counted again when other workers
    /// have played them.
    WorkerExcluded {
        /// The worker, the reason, and the number of pairs that are played again.
        excluded: &'a ExcludedWorker,
        /// Counts that remain.
        counts: &'a RunCounts,
        /// Number of pairs that still count, the first ones in the order of the schedule.
        counted: u64,
        /// SPRT status of each two engines, if the run is an SPRT.
        sprt_statuses: &'a BTreeMap<[usize; 2], SprtStatus>,
        /// Schedule after the pairs that still count.
        schedule: &'a Schedule,
    },
    /// Time has passed; an occasion to show that the run is alive.
    Tick {
        /// Time since the start or resumption.
        elapsed: Duration,
    },
    /// The user has changed the pace of the run.
    Steered {
        /// New pace.
        pace: Pace,
        /// Number of concurrent games.
        slots: usize,
        /// Time since the start or resumption.
        elapsed: Duration,
    },
    /// No more pairs will start; those in flight are played to their end.
    Draining {
        /// Number of pairs in flight.
        in_flight: usize,
    },
    /// The run is over.
    Ended {
        /// Way in which the run ended.
        ending: RunEnd,
        /// Time since the start or resumption.
        elapsed: Duration,
    },
}

/// Action of a worker that did not count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remark {
    /// Name of the worker.
    pub worker: String,
    /// Number of the pair, from 0, if it was about one.
    pub pair: Option<u64>,
    /// Description of the action.
    pub text: String,
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pair {
            Some(pair) => write!(f, "worker {}, pair {}: {}", self.worker, pair + 1, self.text),
            None => write!(f, "worker {}: {}", self.worker, self.text),
        }
    }
}

/// A worker that is excluded from a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ExcludedWorker {
    /// Name of the worker.
    pub worker: String,
    /// Reason for the exclusion, as text.
    pub reason: String,
    /// Number of the worker's pairs that do not count and are played again.
    #[serde(rename = "pairs_discarded")]
    pub pairs: u64,
}

impl fmt::Display for ExcludedWorker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExcludedWorker { worker, reason, pairs } = self;
        let pairs = match pairs {
            0 => "none of its pairs are played again".to_owned(),
            1 => "its pair is played again by other workers".to_owned(),
            pairs => format!("its {pairs} pairs are played again by other workers"),
        };
        write!(f, "worker {worker} excluded: {reason}; {pairs}")
    }
}

/// Observer of a run in progress. If one fails, it returns an error, and the run ends.
pub trait Observer {
    /// Handles an event; called for each event, in order.
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError>;

    /// Returns the written part of a file that has all counted pairs in order, if the observer has
    /// one.
    fn written_prefix(&self) -> Option<FilePrefix> {
        None
    }
}

/// Part of a file that has the first pairs of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePrefix {
    /// Path of the file.
    pub file: PathBuf,
    /// Number of pairs.
    pub pairs: u64,
    /// End of these pairs in the file, in bytes.
    pub end: u64,
    /// BLAKE3 hash of the part, in hexadecimal.
    pub hash: String,
}

/// Failure of an observer; the text names the file or device.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ObserverError(pub String);
