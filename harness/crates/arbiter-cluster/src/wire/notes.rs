//! Short messages: who is there, and what goes on.

use serde::{Deserialize, Serialize};
use serde_with::{As, Same};

use super::text::{Hash, Text, Token, checked_name};
use super::{MAX_NOTE, WireError, invalid, read, write};

/// Most engines whose benchmarks a worker names.
const MAX_BENCHES: usize = 16;

/// Most runs that a worker names in one message.
const MAX_REFUSALS: usize = 64;

/// A run that needs workers; sent every second by its coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beacon {
    /// What stands for it.
    #[serde(with = "Token")]
    pub token: String,
    /// Its name.
    #[serde(with = "Text")]
    pub run: String,
    /// How important it is; the highest number comes first.
    pub priority: u8,
    /// Pairs that nobody plays yet.
    pub queued: u64,
    /// Pairs that somebody plays.
    pub playing: u64,
}

impl Beacon {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }

    /// As it was sent.
    pub fn read(bytes: &[u8]) -> Result<Beacon, WireError> {
        read(bytes, MAX_NOTE)
    }
}

/// The status of a worker, sent every few seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Its name, unique in the cluster.
    #[serde(skip)]
    pub worker: String,
    /// Version of its arbiter.
    #[serde(with = "Text")]
    pub version: String,
    /// Games that it plays at once.
    pub slots: u32,
    /// Games that it plays now.
    pub playing: u32,
    /// Pairs that it has played since it started.
    pub pairs: u64,
    /// Pairs that it has played of late.
    pub recent_pairs: u64,
    /// In how many seconds that was; 0 if it does not say.
    pub recent_secs: u32,
    /// Cores of its machine.
    pub cores: u32,
    /// Memory of its machine, in MiB.
    pub memory_mib: u64,
    /// Operating system and architecture.
    #[serde(with = "Text")]
    pub system: String,
    /// Name of its processor.
    #[serde(with = "Text")]
    pub cpu: String,
    /// Engines whose benchmark it has run, and the nodes per second.
    #[serde(with = "As::<Vec<(Text, Same)>>")]
    pub benches: Vec<(String, f64)>,
    /// Runs, by their tokens, that it does not play, and why.
    #[serde(with = "As::<Vec<(Token, Text)>>")]
    pub refusals: Vec<(String, String)>,
    /// What went wrong last.
    #[serde(default, with = "As::<Option<Text>>")]
    pub trouble: Option<String>,
    /// Whether it leaves.
    pub is_leaving: bool,
}

/// Most games that a worker is believed to play at once.
const MAX_SLOTS: u32 = 4096;

impl WorkerStatus {
    /// Pairs a minute, of late, if it says so.
    pub fn pairs_per_minute(&self) -> Option<f64> {
        let minutes = f64::from(self.recent_secs) / 60.0;
        (self.recent_secs > 0).then(|| self.recent_pairs as f64 / minutes)
    }

    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(&self.clone().bounded())
    }

    /// As it was sent by a worker.
    pub fn read(worker: &str, bytes: &[u8]) -> Result<WorkerStatus, WireError> {
        let mut status: WorkerStatus = read(bytes, MAX_NOTE)?;
        if status.slots > MAX_SLOTS || status.playing > MAX_SLOTS {
            return Err(invalid(format!("{} games at once", status.slots)));
        }
        status.benches.retain(|(_, nps)| nps.is_finite() && *nps > 0.0);
        status.worker = checked_name(worker)?;
        Ok(status.bounded())
    }

    fn bounded(mut self) -> WorkerStatus {
        self.benches.truncate(MAX_BENCHES);
        self.refusals.truncate(MAX_REFUSALS);
        self
    }
}

/// A worker works on a pair; sent several times within a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Who plays it.
    #[serde(skip)]
    pub worker: String,
    /// Its pair.
    pub pair: u64,
    /// Which game of the pair, from 0; `None` before the first has begun.
    pub half: Option<u8>,
}

impl Heartbeat {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }

    /// As it was sent by a worker.
    pub fn read(worker: &str, bytes: &[u8]) -> Result<Heartbeat, WireError> {
        let heartbeat: Heartbeat = read(bytes, MAX_NOTE)?;
        if heartbeat.half.is_some_and(|half| half > 1) {
            return Err(invalid("a third game of a pair"));
        }
        Ok(Heartbeat { worker: checked_name(worker)?, ..heartbeat })
    }
}

/// A worker asks the coordinator to put a program on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRequest {
    /// Its blake3 hash.
    #[serde(with = "Hash")]
    pub hash: String,
}

impl ProgramRequest {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }

    /// As it was sent.
    pub fn read(bytes: &[u8]) -> Result<ProgramRequest, WireError> {
        read(bytes, MAX_NOTE)
    }
}

/// A message of a coordinator to the workers of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CoordinatorMessage {
    /// The result of a pair is on disk.
    Stored(u64),
    /// The result of a pair from a worker was refused.
    Refused {
        /// Whose.
        worker: String,
        /// The pair.
        pair: u64,
        /// Why.
        #[serde(with = "Text")]
        why: String,
    },
    /// A worker is not to play for the run any more.
    Exclude {
        /// Which.
        worker: String,
        /// Why.
        #[serde(with = "Text")]
        why: String,
    },
    /// All pairs of the run are given up.
    Cancel,
}

impl CoordinatorMessage {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(self)
    }

    /// As it was sent.
    pub fn read(bytes: &[u8]) -> Result<CoordinatorMessage, WireError> {
        let message = read(bytes, MAX_NOTE)?;
        if let CoordinatorMessage::Refused { worker, .. }
        | CoordinatorMessage::Exclude { worker, .. } = &message
        {
            checked_name(worker)?;
        }
        Ok(message)
    }
}
