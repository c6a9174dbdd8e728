//! Short messages: who is there, and what goes on.

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, Same};

use super::signed::{Signed, verified};
use super::text::WorkerName;
use super::{Message, WireError, invalid};
use crate::proof::Token;
use crate::run_id::RunId;
use crate::trust::{PublicKey, Purpose};
use arbiter_game::text::Text;

/// Most engines whose benchmarks a worker names in its status.
const MAX_BENCHES: usize = 16;

/// Most runs that a worker names in its status.
const MAX_REFUSALS: usize = 64;

/// Most games that a worker can play at once.
const MAX_SLOTS: u32 = 4096;

/// Most engines of a run.
const MAX_ENGINES: usize = 1_000;

/// What the reason of a worker that is excluded begins with.
pub(crate) const EXCLUDED: &str = "excluded: ";

/// A run that needs workers; sent every second by its coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beacon {
    /// The run.
    pub run_id: RunId,
    /// When it was sent, in microseconds of Unix time by the coordinator's clock; each is later than the
    /// last, so that a recorded one is known.
    pub at: u64,
    /// Its name.
    #[serde(with = "Text")]
    pub run: String,
    /// Its priority; the highest number comes first.
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

/// The status of a worker, sent every few seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Version of its arbiter.
    #[serde(with = "Text")]
    pub version: String,
    /// Games that it can play at once.
    pub slots: u32,
    /// Games that it plays now.
    pub playing: u32,
    /// Pairs that it has played since it started.
    pub pairs: u64,
    /// Pairs that it has played in the last `recent_secs`.
    pub recent_pairs: u64,
    /// Length of that time, in seconds; 0 before the first.
    pub recent_secs: u32,
    /// Cores of its machine.
    pub cores: u32,
    /// Memory of its machine, in MiB; 0 if it is not known.
    pub memory_mib: u64,
    /// Operating system and architecture.
    #[serde(with = "Text")]
    pub system: String,
    /// Name of its processor.
    #[serde(with = "Text")]
    pub cpu: String,
    /// What holds engines there, in words such as "landlock 7, seccomp" or "off"; empty if it does
    /// not say.
    #[serde(default, with = "Text")]
    pub sandbox: String,
    /// Engines whose benchmark it has run, and their nodes per second.
    #[serde(with = "As::<Vec<(Text, Same)>>")]
    pub benches: Vec<(String, f64)>,
    /// Runs that it does not play for, and why.
    #[serde(with = "As::<Vec<(Same, Text)>>")]
    pub refusals: Vec<(RunId, String)>,
    /// Its last problem.
    #[serde(default, with = "As::<Option<Text>>")]
    pub trouble: Option<String>,
    /// Whether this is its last status.
    pub is_leaving: bool,
}

impl WorkerStatus {
    /// Pairs a minute over the last minutes, if there were any.
    pub fn pairs_per_minute(&self) -> Option<f64> {
        let minutes = f64::from(self.recent_secs) / 60.0;
        (self.recent_secs > 0).then(|| self.recent_pairs as f64 / minutes)
    }

    /// The same with no more benchmarks and refusals than are read, so that it is not too long to be.
    pub(crate) fn bounded(mut self) -> WorkerStatus {
        self.benches.truncate(MAX_BENCHES);
        self.refusals.truncate(MAX_REFUSALS);
        self
    }
}

impl Message for WorkerStatus {
    fn checked(mut self) -> Result<WorkerStatus, WireError> {
        if self.slots.max(self.playing) > MAX_SLOTS {
            return Err(invalid(format!("{} games at once", self.slots)));
        }
        self.benches.retain(|(_, nps)| nps.is_finite() && *nps > 0.0);
        Ok(self.bounded())
    }
}

/// A worker is at work on a pair; sent several times within a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The pair.
    pub pair: u64,
    /// The attempt at it.
    pub attempt: u32,
    /// That the worker was given it.
    #[serde(with = "As::<DisplayFromStr>")]
    pub proof: Token,
    /// Which game of the pair, from 0; `None` before the first has begun.
    pub half: Option<u8>,
    /// Whether it gives the pair back instead, for others to play.
    #[serde(default)]
    pub is_given_back: bool,
}

impl Message for Heartbeat {
    fn checked(self) -> Result<Heartbeat, WireError> {
        match self.half {
            Some(2..) => Err(invalid("a third game of a pair")),
            _ => Ok(self),
        }
    }
}

/// A worker asks the coordinator to put a program on the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRequest {
    /// BLAKE3 hash of the program.
    #[serde(with = "As::<DisplayFromStr>")]
    pub hash: blake3::Hash,
}

impl Message for ProgramRequest {}

/// The result of an engine's benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct BenchResult {
    /// Nodes: the same wherever the program behaves the same.
    pub nodes: u64,
    /// Nodes per second; positive.
    pub nps: f64,
}

/// A worker asks whether it may play for a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Any bytes that were never sent before, so that no recorded answer fits.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// The benchmark of each engine for which the run needs one, by its index; an error says why
    /// it failed.
    #[serde(with = "As::<Vec<Option<Result<Same, Text>>>>")]
    pub benches: Vec<Option<Result<BenchResult, String>>>,
}

impl Message for JoinRequest {
    fn checked(self) -> Result<JoinRequest, WireError> {
        let is_speed = |bench: &BenchResult| bench.nps.is_finite() && bench.nps > 0.0;
        if self.benches.len() > MAX_ENGINES {
            return Err(invalid("benchmarks of more than a thousand engines"));
        }
        match self.benches.iter().flatten().flatten().all(is_speed) {
            true => Ok(self),
            false => Err(invalid("a benchmark without a speed")),
        }
    }
}

/// The signed answer to a join request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinAnswer {
    /// That of the request.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// When it was sent, like that of a [`Beacon`].
    pub at: u64,
    /// What the worker is given that has joined; an error says why it may not play.
    #[serde(with = "As::<Result<DisplayFromStr, Text>>")]
    pub token: Result<Token, String>,
}

impl Message for JoinAnswer {}

impl Signed for JoinAnswer {
    const PURPOSE: Purpose = Purpose::JoinAnswer;
}

/// What the coordinator with this key has given to the worker that sent `nonce`, and when; an error says
/// why it may not play.
pub fn read_join_answer(
    bytes: &[u8],
    nonce: Token,
    key: PublicKey,
) -> Result<(Token, u64), String> {
    let (answer, _) = verified::<JoinAnswer>(bytes, &[key])?;
    if answer.nonce != nonce {
        return Err("the answer is to another request".to_owned());
    }
    Ok((answer.token?, answer.at))
}

/// A message of a coordinator to the workers of its run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoordinatorMessage {
    /// The run.
    pub run_id: RunId,
    /// When it was sent, like that of a [`Beacon`].
    pub at: u64,
    /// What they are told.
    pub notice: Notice,
}

/// What workers are told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The result of a pair was refused.
    Refused {
        /// The worker that sent it.
        #[serde(with = "WorkerName")]
        worker: String,
        /// The pair.
        pair: u64,
        /// Why.
        #[serde(with = "Text")]
        why: String,
    },
    /// A worker may not play for the run any more.
    Exclude {
        /// The worker.
        #[serde(with = "WorkerName")]
        worker: String,
        /// Why.
        #[serde(with = "Text")]
        why: String,
    },
    /// The pairs in flight are given up.
    Cancel,
}

impl Message for CoordinatorMessage {}

impl Signed for CoordinatorMessage {
    const PURPOSE: Purpose = Purpose::Message;
}
