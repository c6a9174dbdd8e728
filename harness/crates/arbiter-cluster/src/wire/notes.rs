//! Short messages: who is there, and what goes on.

use serde::{Deserialize, Serialize};

use super::{
    MAX_NOTE, VERSION, WireError, checked_name, checked_token, invalid, is_hash, printable, read,
    write,
};

/// Most engines whose benchmarks a worker names.
const MAX_BENCHES: usize = 16;

/// Most runs that a worker names in one message.
const MAX_REFUSALS: usize = 64;

/// A run that needs workers; sent every second by its coordinator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beacon {
    /// What stands for it.
    pub token: String,
    /// Its name.
    pub run: String,
    /// How important it is; the highest number comes first.
    pub priority: u8,
    /// Pairs that nobody plays yet.
    pub queued: u64,
    /// Pairs that somebody plays.
    pub playing: u64,
}

#[derive(Serialize, Deserialize)]
struct BeaconMessage {
    v: u32,
    token: String,
    run: String,
    priority: u8,
    queued: u64,
    playing: u64,
}

impl Beacon {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        let Beacon { token, run, priority, queued, playing } = self.clone();
        write(&BeaconMessage { v: VERSION, token, run, priority, queued, playing })
    }

    /// As it was sent.
    pub fn read(bytes: &[u8]) -> Result<Beacon, WireError> {
        let message: BeaconMessage = read(bytes, MAX_NOTE)?;
        let BeaconMessage { token, run, priority, queued, playing, .. } = message;
        Ok(Beacon { token: checked_token(token)?, run: printable(&run), priority, queued, playing })
    }
}

/// The status of a worker, sent every few seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkerStatus {
    /// Its name, unique in the cluster.
    pub worker: String,
    /// Version of its arbiter.
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
    pub system: String,
    /// Name of its processor.
    pub cpu: String,
    /// Engines whose benchmark it has run, and the nodes per second.
    pub benches: Vec<(String, f64)>,
    /// Runs, by their tokens, that it does not play, and why.
    pub refusals: Vec<(String, String)>,
    /// What went wrong last.
    pub trouble: Option<String>,
    /// Whether it leaves.
    pub is_leaving: bool,
}

#[derive(Serialize, Deserialize)]
struct WorkerStatusMessage {
    v: u32,
    version: String,
    slots: u32,
    playing: u32,
    pairs: u64,
    #[serde(default)]
    recent_pairs: u64,
    #[serde(default)]
    recent_secs: u32,
    cores: u32,
    memory_mib: u64,
    system: String,
    cpu: String,
    #[serde(default)]
    benches: Vec<(String, f64)>,
    refusals: Vec<(String, String)>,
    trouble: Option<String>,
    leaving: bool,
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
        let status = self.clone();
        write(&WorkerStatusMessage {
            v: VERSION,
            version: status.version,
            slots: status.slots,
            playing: status.playing,
            pairs: status.pairs,
            recent_pairs: status.recent_pairs,
            recent_secs: status.recent_secs,
            cores: status.cores,
            memory_mib: status.memory_mib,
            system: status.system,
            cpu: status.cpu,
            benches: status.benches.into_iter().take(MAX_BENCHES).collect(),
            refusals: status.refusals.into_iter().take(MAX_REFUSALS).collect(),
            trouble: status.trouble,
            leaving: status.is_leaving,
        })
    }

    /// As it was sent by a worker.
    pub fn read(worker: &str, bytes: &[u8]) -> Result<WorkerStatus, WireError> {
        let message: WorkerStatusMessage = read(bytes, MAX_NOTE)?;
        if message.slots > MAX_SLOTS || message.playing > MAX_SLOTS {
            return Err(invalid(format!("{} games at once", message.slots)));
        }
        let refusals = message.refusals.into_iter().take(MAX_REFUSALS);
        let refusals = refusals.map(|(token, why)| Ok((checked_token(token)?, printable(&why))));
        let benches = message.benches.into_iter().take(MAX_BENCHES);
        let benches = benches.filter(|(_, nps)| nps.is_finite() && *nps > 0.0);
        Ok(WorkerStatus {
            worker: checked_name(worker)?,
            version: printable(&message.version),
            slots: message.slots,
            playing: message.playing,
            pairs: message.pairs,
            recent_pairs: message.recent_pairs,
            recent_secs: message.recent_secs,
            cores: message.cores,
            memory_mib: message.memory_mib,
            system: printable(&message.system),
            cpu: printable(&message.cpu),
            benches: benches.map(|(name, nps)| (printable(&name), nps)).collect(),
            refusals: refusals.collect::<Result<_, WireError>>()?,
            trouble: message.trouble.as_deref().map(printable),
            is_leaving: message.leaving,
        })
    }
}

/// A worker works on a pair; sent several times within a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heartbeat {
    /// Who plays it.
    pub worker: String,
    /// Its pair.
    pub pair: u64,
    /// Which game of the pair, from 0; `None` before the first has begun.
    pub half: Option<u8>,
}

#[derive(Serialize, Deserialize)]
struct HeartbeatMessage {
    v: u32,
    pair: u64,
    half: Option<u8>,
}

impl Heartbeat {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        let Heartbeat { pair, half, .. } = *self;
        write(&HeartbeatMessage { v: VERSION, pair, half })
    }

    /// As it was sent by a worker.
    pub fn read(worker: &str, bytes: &[u8]) -> Result<Heartbeat, WireError> {
        let HeartbeatMessage { pair, half, .. } = read(bytes, MAX_NOTE)?;
        if half.is_some_and(|half| half > 1) {
            return Err(invalid("a third game of a pair"));
        }
        Ok(Heartbeat { worker: checked_name(worker)?, pair, half })
    }
}

/// A worker asks the coordinator to put a program on the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramRequest {
    /// Its blake3 hash.
    pub hash: String,
}

#[derive(Serialize, Deserialize)]
struct ProgramRequestMessage {
    v: u32,
    hash: String,
}

impl ProgramRequest {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        write(&ProgramRequestMessage { v: VERSION, hash: self.hash.clone() })
    }

    /// As it was sent.
    pub fn read(bytes: &[u8]) -> Result<ProgramRequest, WireError> {
        let ProgramRequestMessage { hash, .. } = read(bytes, MAX_NOTE)?;
        if is_hash(&hash) {
            Ok(ProgramRequest { hash })
        } else {
            Err(invalid("no hash of a program"))
        }
    }
}

/// A message of a coordinator to the workers of its run.
#[derive(Debug, Clone, PartialEq, Eq)]
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
        why: String,
    },
    /// A worker is not to play for the run any more.
    Exclude {
        /// Which.
        worker: String,
        /// Why.
        why: String,
    },
    /// All pairs of the run are given up.
    Cancel,
}

#[derive(Serialize, Deserialize)]
struct RawCoordinatorMessage {
    v: u32,
    kind: String,
    #[serde(default)]
    pair: u64,
    #[serde(default)]
    worker: String,
    #[serde(default)]
    why: String,
}

impl CoordinatorMessage {
    /// As it is sent.
    pub fn write(&self) -> Vec<u8> {
        let (kind, pair, worker, why) = match self.clone() {
            CoordinatorMessage::Stored(pair) => ("stored", pair, String::new(), String::new()),
            CoordinatorMessage::Refused { worker, pair, why } => ("refused", pair, worker, why),
            CoordinatorMessage::Exclude { worker, why } => ("exclude", 0, worker, why),
            CoordinatorMessage::Cancel => ("cancel", 0, String::new(), String::new()),
        };
        write(&RawCoordinatorMessage { v: VERSION, kind: kind.to_owned(), pair, worker, why })
    }

    /// As it was sent.
    pub fn read(bytes: &[u8]) -> Result<CoordinatorMessage, WireError> {
        let RawCoordinatorMessage { kind, pair, worker, why, .. } = read(bytes, MAX_NOTE)?;
        match kind.as_str() {
            "stored" => Ok(CoordinatorMessage::Stored(pair)),
            "refused" => Ok(CoordinatorMessage::Refused {
                worker: checked_name(&worker)?,
                pair,
                why: printable(&why),
            }),
            "exclude" => Ok(CoordinatorMessage::Exclude {
                worker: checked_name(&worker)?,
                why: printable(&why),
            }),
            "cancel" => Ok(CoordinatorMessage::Cancel),
            _ => Err(invalid("a message of an unknown kind")),
        }
    }
}
