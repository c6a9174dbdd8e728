//! Short messages: announcements, heartbeats, requests and notices.

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, Same};

use super::signed::{Signed, verified};
use super::text::WorkerName;
use super::{Message, WireError, invalid};
use crate::proof::Token;
use crate::run_id::RunId;
use crate::trust::{PublicKey, Purpose};
use arbiter_game::text::Text;

/// Number of engines whose benchmarks a worker names in its status. A longer status would exceed
/// the length that is read.
const MAX_BENCHES: usize = 16;

/// Number of runs that a worker names in its status. A longer status would exceed the length that
/// is read.
const MAX_REFUSALS: usize = 64;

/// Number of games that a worker can play in parallel.
const MAX_SLOTS: u32 = 4096;

/// Number of engines of a run.
const MAX_ENGINES: usize = 1_000;

/// Prefix of a worker's reason for not playing if it was excluded.
pub(crate) const EXCLUDED: &str = "excluded: ";

/// Announcement of a run that needs workers; sent every second by its coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beacon {
    /// ID of the run.
    pub run_id: RunId,
    /// Time of the message, in microseconds of Unix time by the coordinator's clock; each is later
    /// than the last, so that a recorded one is recognized.
    pub at: u64,
    /// Name of the run.
    #[serde(with = "Text")]
    pub run: String,
    /// Priority of the run; the highest number comes first.
    pub priority: u8,
    /// Pairs in flight that no worker plays yet.
    pub queued: u64,
    /// Pairs that workers play.
    pub playing: u64,
}

impl Message for Beacon {}

impl Signed for Beacon {
    const PURPOSE: Purpose = Purpose::Beacon;
}

/// Status of a worker, sent every few seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Version of the worker's arbiter.
    #[serde(with = "Text")]
    pub version: String,
    /// Number of games that the worker can play in parallel.
    pub slots: u32,
    /// Number of games that the worker plays now.
    pub playing: u32,
    /// Number of pairs played since the worker started.
    pub pairs: u64,
    /// Number of pairs played in the last `recent_secs`.
    pub recent_pairs: u64,
    /// Length of that time, in seconds; 0 before the first sample.
    pub recent_secs: u32,
    /// Number of cores of the machine.
    pub cores: u32,
    /// Memory of the machine, in MiB; 0 if it is not known.
    pub memory_mib: u64,
    /// Operating system and architecture.
    #[serde(with = "Text")]
    pub system: String,
    /// Name of the processor.
    #[serde(with = "Text")]
    pub cpu: String,
    /// Restrictions of engines there, as text such as "landlock 7, seccomp" or "off"; empty if not
    /// reported.
    #[serde(default, with = "Text")]
    pub sandbox: String,
    /// Engines whose benchmark was run, and their nodes per second.
    #[serde(with = "As::<Vec<(Text, Same)>>")]
    pub benches: Vec<(String, f64)>,
    /// Runs that the worker does not play for, with the reasons.
    #[serde(with = "As::<Vec<(Same, Text)>>")]
    pub refusals: Vec<(RunId, String)>,
    /// Last problem of the worker.
    #[serde(default, with = "As::<Option<Text>>")]
    pub trouble: Option<String>,
    /// `true` if this is the last status of the worker.
    pub is_leaving: bool,
}

impl WorkerStatus {
    /// Returns the pairs per minute over the last minutes; `None` before the first sample.
    pub fn pairs_per_minute(&self) -> Option<f64> {
        let minutes = f64::from(self.recent_secs) / 60.0;
        (self.recent_secs > 0).then(|| self.recent_pairs as f64 / minutes)
    }

    /// Limits benchmarks and refusals to the numbers that are read, so that the status is not too
    /// long to be read.
    pub(crate) fn bounded(mut self) -> WorkerStatus {
        self.benches.truncate(MAX_BENCHES);
        self.refusals.truncate(MAX_REFUSALS);
        self
    }
}

impl Message for WorkerStatus {
    fn validated(mut self) -> Result<WorkerStatus, WireError> {
        if self.slots.max(self.playing) > MAX_SLOTS {
            return Err(invalid(format!("{} games in parallel", self.slots)));
        }
        self.benches.retain(|(_, nps)| nps.is_finite() && *nps > 0.0);
        Ok(self.bounded())
    }
}

/// Sign of a worker's work on a pair; sent several times within a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The pair.
    pub pair: u64,
    /// Attempt at the pair.
    pub attempt: u32,
    /// Proof that the worker was given the attempt.
    #[serde(with = "As::<DisplayFromStr>")]
    pub proof: Token,
    /// Index of the game of the pair, from 0; `None` before the first has started.
    pub half: Option<u8>,
    /// `true` if the worker gives the pair back instead, for others to play.
    #[serde(default)]
    pub is_given_back: bool,
}

impl Message for Heartbeat {
    fn validated(self) -> Result<Heartbeat, WireError> {
        match self.half {
            Some(2..) => Err(invalid("a third game of a pair")),
            _ => Ok(self),
        }
    }
}

/// Request that the coordinator put a program on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRequest {
    /// BLAKE3 hash of the program.
    #[serde(with = "As::<DisplayFromStr>")]
    pub hash: blake3::Hash,
}

impl Message for ProgramRequest {}

/// Result of an engine's benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// Number of nodes: the same wherever the program behaves the same.
    pub nodes: u64,
    /// Nodes per second; positive.
    pub nps: f64,
}

/// Request of a worker to play for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Random bytes that were never sent before, so that no recorded answer fits.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// Benchmark result of each engine for which the run needs one, by its index; an error says why
    /// it failed.
    #[serde(with = "As::<Vec<Option<Result<Same, Text>>>>")]
    pub benches: Vec<Option<Result<BenchResult, String>>>,
}

impl Message for JoinRequest {
    fn validated(self) -> Result<JoinRequest, WireError> {
        let is_speed = |bench: &BenchResult| bench.nps.is_finite() && bench.nps > 0.0;
        if self.benches.len() > MAX_ENGINES {
            return Err(invalid("benchmarks of more than a thousand engines"));
        }
        if self.benches.iter().flatten().flatten().all(is_speed) {
            Ok(self)
        } else {
            Err(invalid("a benchmark without a speed"))
        }
    }
}

/// Signed answer to a join request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinAnswer {
    /// Nonce of the request.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// Time of the message, like that of a [`Beacon`].
    pub at: u64,
    /// Token of the worker that has joined; an error says why it may not play.
    #[serde(with = "As::<Result<DisplayFromStr, Text>>")]
    pub token: Result<Token, String>,
}

impl Message for JoinAnswer {}

impl Signed for JoinAnswer {
    const PURPOSE: Purpose = Purpose::JoinAnswer;
}

/// Reads an answer of the coordinator with this key to the worker that sent `nonce`. Returns the
/// token and the time of the answer; an error says why the worker may not play.
pub fn read_join_answer(
    bytes: &[u8],
    nonce: Token,
    key: PublicKey,
) -> Result<(Token, u64), String> {
    let (answer, _) = verified::<JoinAnswer>(bytes, &[key])?;
    // A recorded answer to an earlier request is rejected.
    if answer.nonce != nonce {
        return Err("a reply to another request".to_owned());
    }
    Ok((answer.token?, answer.at))
}

/// Message of a coordinator to the workers of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinatorMessage {
    /// ID of the run.
    pub run_id: RunId,
    /// Time of the message, like that of a [`Beacon`].
    pub at: u64,
    /// Content of the message.
    pub notice: Notice,
}

/// Notice to workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The result of a pair was refused.
    Refused {
        /// Worker that sent the result.
        #[serde(with = "WorkerName")]
        worker: String,
        /// The pair.
        pair: u64,
        /// Reason for the refusal.
        #[serde(with = "Text")]
        why: String,
    },
    /// A worker may not play for the run any more.
    Exclude {
        /// The worker.
        #[serde(with = "WorkerName")]
        worker: String,
        /// Reason for the exclusion.
        #[serde(with = "Text")]
        why: String,
    },
    /// The pairs in flight are cancelled.
    Cancel,
}

impl Message for CoordinatorMessage {}

impl Signed for CoordinatorMessage {
    const PURPOSE: Purpose = Purpose::Message;
}
