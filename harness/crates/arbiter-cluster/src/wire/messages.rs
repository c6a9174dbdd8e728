//! Short messages: announcements, heartbeats, requests and notices; and the names of workers.

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, Same, serde_conv};

use super::{BenchResult, Message, Signed, WireError, invalid, verified};
use crate::subject::RunId;
use crate::trust::{PublicKey, Token};
use arbiter_game::text::Text;
use arbiter_run::MAX_SLOTS;

/// Maximum number of benches in a status. More benches could exceed the maximum length of a
/// message.
const MAX_BENCHES: usize = 16;

/// Maximum number of refused runs in a status. More refusals could exceed the maximum length of a
/// message.
const MAX_REFUSALS: usize = 64;

/// Maximum number of engines of a run.
const MAX_ENGINES: usize = 1_000;

/// Maximum length of the name of a worker, in bytes.
const MAX_NAME: usize = 64;

/// Prefix of the reason for a refusal if the run has excluded the worker.
pub(crate) const EXCLUDED: &str = "excluded: ";

/// Announcement of a run that needs workers; sent every second by its coordinator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beacon {
    /// ID of the run.
    pub run_id: RunId,
    /// Time stamp of the message by the coordinator's clock, as Unix time in microseconds. Time
    /// stamps increase strictly, so that replayed messages are recognized.
    pub at: u64,
    /// Name of the run.
    #[serde(with = "Text")]
    pub run: String,
    /// Priority of the run; workers prefer the run with the highest number.
    pub priority: u8,
    /// Number of pairs in flight that no worker plays yet.
    pub queued: u64,
    /// Number of pairs that workers are playing.
    pub playing: u64,
}

impl Message for Beacon {}

impl Signed for Beacon {
    const PURPOSE: &'static str = "beacon";
}

/// Status of a worker, sent every few seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerStatus {
    /// Version of Arbiter on the worker.
    #[serde(with = "Text")]
    pub version: String,
    /// Number of games that the worker can play in parallel.
    pub slots: u32,
    /// Number of games that the worker is playing.
    pub playing: u32,
    /// Number of pairs played, and of suite tasks completed, since the worker started.
    pub pairs: u64,
    /// Increase of `pairs` in the last `recent_secs` seconds.
    pub recent_pairs: u64,
    /// Length of the period of `recent_pairs`, in seconds; 0 before the first sample.
    pub recent_secs: u32,
    /// Number of cores of the worker's machine.
    pub cores: u32,
    /// Memory of the worker's machine, in MiB; 0 if unknown.
    pub memory_mib: u64,
    /// Operating system and architecture.
    #[serde(with = "Text")]
    pub system: String,
    /// Name of the processor.
    #[serde(with = "Text")]
    pub cpu: String,
    /// Sandbox of the worker's engines, as text such as "landlock 7, seccomp" or "off"; empty if
    /// not reported.
    #[serde(default, with = "Text")]
    pub sandbox: String,
    /// Names and bench speeds, in nodes per second, of the engines whose bench was run.
    #[serde(with = "As::<Vec<(Text, Same)>>")]
    pub benches: Vec<(String, f64)>,
    /// Runs that the worker does not play, each with the reason.
    #[serde(with = "As::<Vec<(Same, Text)>>")]
    pub refusals: Vec<(RunId, String)>,
    /// Last problem of the worker.
    #[serde(default, with = "As::<Option<Text>>")]
    pub trouble: Option<String>,
    /// `true` if this is the last status of the worker.
    pub is_leaving: bool,
}

impl WorkerStatus {
    /// Returns the recent throughput in pairs per minute; `None` before the first sample.
    pub fn pairs_per_minute(&self) -> Option<f64> {
        let minutes = f64::from(self.recent_secs) / 60.0;
        (self.recent_secs > 0).then(|| self.recent_pairs as f64 / minutes)
    }

    /// Truncates the lists of benches and refusals, so that the status does not exceed the maximum
    /// length of a message.
    pub(crate) fn bounded(mut self) -> WorkerStatus {
        self.benches.truncate(MAX_BENCHES);
        self.refusals.truncate(MAX_REFUSALS);
        self
    }
}

impl Message for WorkerStatus {
    fn validated(mut self) -> Result<WorkerStatus, WireError> {
        if self.slots.max(self.playing) as usize > MAX_SLOTS {
            return Err(invalid(format!("{} games in parallel", self.slots)));
        }
        self.benches.retain(|(_, nps)| nps.is_finite() && *nps > 0.0);
        Ok(self.bounded())
    }
}

/// Message of a worker that is playing a pair, sent several times within a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Number of the pair.
    pub pair: u64,
    /// Number of the attempt at the pair.
    pub attempt: u32,
    /// Proof that the worker was given the attempt.
    #[serde(with = "As::<DisplayFromStr>")]
    pub proof: Token,
    /// Index of the current game of the pair (0 or 1); `None` before the first game has started.
    pub half: Option<u8>,
    /// `true` if the worker gives the pair back, so that another worker plays the pair.
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

/// Request of a worker that the coordinator upload a program to the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProgramRequest {
    /// BLAKE3 hash of the program.
    #[serde(with = "As::<DisplayFromStr>")]
    pub hash: blake3::Hash,
}

impl Message for ProgramRequest {}

/// Request of a worker to join a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JoinRequest {
    /// Random bytes, different in each request, so that no recorded answer is valid.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// Bench results of the engines.
    #[serde(with = "As::<Vec<Option<Result<Same, Text>>>>")]
    pub benches: Benches,
}

/// Bench result of each engine, or the reason why the bench failed; `None` if the run does not
/// require the bench of the engine.
pub type Benches = Vec<Option<Result<BenchResult, String>>>;

impl Message for JoinRequest {
    fn validated(self) -> Result<JoinRequest, WireError> {
        let is_speed = |bench: &BenchResult| bench.nps.is_finite() && bench.nps > 0.0;
        if self.benches.len() > MAX_ENGINES {
            return Err(invalid("benches of more than a thousand engines"));
        }
        if self.benches.iter().flatten().flatten().all(is_speed) {
            Ok(self)
        } else {
            Err(invalid("a bench without a speed"))
        }
    }
}

/// Signed answer to a join request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinAnswer {
    /// Nonce of the request.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// Time stamp of the message, as in a [`Beacon`].
    pub at: u64,
    /// Token of the worker; the error is the reason why the worker may not play.
    #[serde(with = "As::<Result<DisplayFromStr, Text>>")]
    pub token: Result<Token, String>,
}

impl Message for JoinAnswer {}

impl Signed for JoinAnswer {
    const PURPOSE: &'static str = "join answer";
}

/// Reads the coordinator's answer to the join request with this nonce; `key` is the key of the
/// coordinator. Returns the token and the time stamp of the answer; the error is the reason why the
/// worker may not play.
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
    /// Time stamp of the message, as in a [`Beacon`].
    pub at: u64,
    /// Content of the message.
    pub notice: Notice,
}

/// Notice to workers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// The result of a pair was rejected.
    Refused {
        /// Worker that sent the result.
        #[serde(with = "WorkerName")]
        worker: String,
        /// Number of the pair.
        pair: u64,
        /// Reason for the rejection.
        #[serde(with = "Text")]
        why: String,
    },
    /// A worker may no longer play the run.
    Exclude {
        /// The worker.
        #[serde(with = "WorkerName")]
        worker: String,
        /// Reason for the exclusion.
        #[serde(with = "Text")]
        why: String,
    },
    /// The run was cancelled or has ended; all pairs in flight are cancelled.
    Cancel,
}

impl Message for CoordinatorMessage {}

impl Signed for CoordinatorMessage {
    const PURPOSE: &'static str = "message";
}

serde_conv!(
    /// The name of a worker.
    WorkerName,
    String,
    String::as_str,
    |name: String| checked_name(&name)
);

/// Returns whether a string is a valid name of a worker. A name consists of words of ASCII letters,
/// digits, `_` and `-`, separated by dots, so that the name can be part of a subject.
pub fn is_worker_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    let is_word = |word: &str| !word.is_empty() && word.chars().all(plain);
    name.len() <= MAX_NAME && name.split('.').all(is_word)
}

pub(super) fn checked_name(name: &str) -> Result<String, WireError> {
    let invalid = || invalid("an invalid worker name");
    is_worker_name(name).then(|| name.to_owned()).ok_or_else(invalid)
}
