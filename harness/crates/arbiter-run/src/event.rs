//! Events that a run sends to observers.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use crate::{Pace, PairTally, PlayedPair, RunState};
use arbiter_game::record::GameRecord;
use arbiter_schedule::Pairing;
use arbiter_spsa::Iteration;
use arbiter_stats::SprtStatus;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Way in which a run ended. The serialized names are used in the store and in lists of runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunEnd {
    /// The SPRT accepted H1.
    #[serde(rename = "H1")]
    AcceptedH1,
    /// The SPRT accepted H0.
    #[serde(rename = "H0")]
    AcceptedH0,
    /// All pairs are complete; an SPRT with this ending is inconclusive.
    Complete,
    /// The user stopped the run. The run can be resumed.
    Interrupted,
}

arbiter_names::named!(RunEnd);

/// Event of a run. Observers (live view, PGN file) receive every event, with these guarantees: a
/// pair is on disk before its `Counted` event, and pairs are counted in schedule order, except
/// pairs that were put off to the end.
#[derive(Debug)]
pub enum RunEvent<'a> {
    /// The run starts, or is resumed after an interruption, in this state.
    Started(&'a RunState),
    /// A game has started. The games of different pairs start in any order, and a void pair has
    /// several events per game.
    GameStarted {
        /// Pair of the game.
        pairing: &'a Pairing,
        /// Index of the game in the pair, from 0.
        game_index: usize,
    },
    /// A game has ended. The game is counted later, when its pair is counted. A void pair has
    /// several events per game. The event is sent only on request, or if an engine failed.
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
        /// The pair and its games.
        played: &'a PlayedPair,
        /// Contribution of the pair to the counts.
        tally: &'a PairTally,
        /// SPRT status after the pair, if the run is an SPRT.
        sprt_status: Option<SprtStatus>,
        /// Time since the start or resumption of the run.
        elapsed: Duration,
    },
    /// The counted pairs complete an iteration of a tuning run; the iteration, its result, and the
    /// parameter values after the iteration are on disk.
    Iterated(&'a Iteration),
    /// A pair may have been decided by CPU contention.
    Disturbed {
        /// Number of the pair.
        pair: u64,
        /// Description of the disturbance.
        reason: &'a str,
        /// `true` if the pair is played again; otherwise the pair counts.
        is_void: bool,
    },
    /// The Arbiter process was suspended for this time.
    Paused(Duration),
    /// A worker caused a remark that does not change the counts.
    Noted(&'a Remark),
    /// A worker broke the rules of the run and is excluded. Observers discard all pairs after the
    /// first pairs that `state` still counts; the discarded pairs are counted again after the
    /// missing pairs have been played.
    WorkerExcluded {
        /// Worker, reason, and number of pairs that are played again.
        excluded: &'a ExcludedWorker,
        /// State after the remaining pairs, which are the first pairs in the order of the schedule.
        state: &'a RunState,
    },
    /// Some time has passed; the value is the time since the start or resumption of the run.
    /// Observers can show that the run is alive.
    Tick(Duration),
    /// The user has changed the pace or the concurrency of the run.
    Steered {
        /// New pace.
        pace: Pace,
        /// Number of concurrent games.
        slots: usize,
        /// Time since the start or resumption of the run.
        elapsed: Duration,
    },
    /// No more pairs will start; this number of pairs in flight is completed.
    Draining(usize),
    /// The run is over.
    Ended {
        /// Way in which the run ended.
        ending: RunEnd,
        /// Time since the start or resumption of the run.
        elapsed: Duration,
    },
}

/// Note about an action of a worker that does not change the counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Remark {
    /// Name of the worker.
    pub worker: String,
    /// Number of the pair, from 0, if the remark is about a pair.
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

/// Worker that is excluded from a run.
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
            0 => "none of the worker's pairs are played again".to_owned(),
            1 => "other workers play the worker's pair again".to_owned(),
            pairs => format!("other workers play the worker's {pairs} pairs again"),
        };
        write!(f, "worker {worker} excluded: {reason}; {pairs}")
    }
}

/// Observer of a run in progress. If an observer returns an error, the run ends.
pub trait Observer {
    /// Handles an event; the run calls this function for each event, in order.
    fn observe(&mut self, event: &RunEvent<'_>) -> Result<(), ObserverError>;

    /// Returns the part of the observer's file that is already written; `None` unless the observer
    /// writes all counted pairs to a file in order.
    fn written_prefix(&self) -> Option<FilePrefix> {
        None
    }
}

/// First part of a file; this part contains the first pairs of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePrefix {
    /// Path of the file.
    pub file: PathBuf,
    /// Number of pairs in the part.
    pub pairs: u64,
    /// Length of the part, in bytes.
    pub end: u64,
    /// BLAKE3 hash of the part, in hexadecimal.
    pub hash: String,
}

/// Failure of an observer; the message names the file or device.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ObserverError(pub String);
