//! The description of a run: all that its jobs have in common, signed by its coordinator.

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, serde_conv};

use super::text::{Hash, Text, Token};
use super::{WireError, invalid, read, write};
use crate::trust::{Key, PublicKey, TrustError};
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Annotation, Keeping, LinePattern};
use arbiter_game::engine::EngineSetup;
use arbiter_plan::provenance::Scale;
use arbiter_process::{Bounds, Launch};
use arbiter_protocol::{Conditions, Deadlines, Protocol, Restart, Setup};
use arbiter_schema::{AnnotationDef, ConditionsDef, DeadlinesMs, Millis, RulesDef};

/// Longest description, in bytes.
const MAX_DESCRIPTION: usize = 4 << 20;

/// How many times longer a slow worker may wait for an engine than it was told.
const MAX_PATIENCE_FACTOR: f64 = 100.0;

/// Shortest time after which a silent worker's pair is given to another.
const MIN_LEASE: Duration = Duration::from_secs(1);

/// A program, by what is in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its blake3 hash, hexadecimal.
    #[serde(with = "Hash")]
    pub hash: String,
    /// Its length, in bytes.
    pub bytes: u64,
    /// Its file name, for people and for engines that look at it.
    #[serde(with = "FileName")]
    pub name: String,
}

serde_conv!(
    /// A file name, of which only letters, digits and a few signs are kept.
    FileName,
    String,
    String::as_str,
    |name: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        let name: String = name.chars().filter(|c| plain(*c)).take(100).collect();
        let name = name.trim_start_matches('.');
        Ok::<_, Infallible>(if name.is_empty() { "engine" } else { name }.to_owned())
    }
);

/// An engine of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Contestant {
    /// How it is started and addressed; where its program is, each machine knows for itself.
    #[serde(with = "EngineSetupDef")]
    pub seat: EngineSetup,
    /// Its program.
    pub program: Program,
    /// What bounds its thinking.
    #[serde(with = "ConditionsDef")]
    pub conditions: Conditions,
    /// Whether workers run its benchmark before they play, and say what it found.
    pub is_benched: bool,
}

/// What a game needs of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// Threads that think at the same time; at least 1.
    pub threads: u32,
    /// Hash tables of both engines, in MiB.
    pub memory_mib: u64,
}

impl Requirements {
    /// How many of a worker's slots a game takes: one for each thread, and as large a part of them
    /// as of the memory. An error says why the machine is too small; 0 MiB is one that is not known.
    pub fn slots(self, slots: usize, memory_mib: u64) -> Result<u32, String> {
        let Requirements { threads, memory_mib: needed } = self;
        let all = u32::try_from(slots).unwrap_or(u32::MAX);
        if threads > all {
            return Err(format!("a game needs {threads} threads, and --slots is {slots}"));
        }
        if memory_mib == 0 {
            return Ok(threads);
        }
        if needed > memory_mib {
            return Err(format!(
                "a game needs {needed} MiB for hash tables, and the machine has {memory_mib} MiB"
            ));
        }
        let part = (u128::from(needed) * u128::from(all)).div_ceil(u128::from(memory_mib));
        Ok(threads.max(u32::try_from(part).unwrap_or(all)))
    }
}

/// What all jobs of a run have in common; a worker reads it once, signed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunDescription {
    /// What stands for the run.
    #[serde(with = "Token")]
    pub token: String,
    /// Its name.
    #[serde(with = "Text")]
    pub run: String,
    /// Its engines, by their index.
    pub contestants: Vec<Contestant>,
    /// When games end before the rules of chess say so.
    #[serde(with = "RulesDef")]
    pub rules: Rules,
    /// Of which games what was said is kept.
    pub transcripts: Keeping,
    /// What else is kept of games: what their comments have.
    #[serde(with = "AnnotationDef")]
    pub annotation: Annotation,
    /// Share of thinking time that the machine may take.
    pub noise_limit: Option<f64>,
    /// Pause between two games at one place.
    #[serde(rename = "wait_ms", with = "Millis")]
    pub wait: Duration,
    /// How long a worker may be silent before its pair is given to another.
    #[serde(rename = "lease_ms", with = "Millis")]
    pub lease: Duration,
    /// What a game needs of the machine.
    pub needs: Requirements,
    /// How long a game may go without an answer of an engine: the longest thought and all deadlines.
    #[serde(rename = "patience_ms", with = "Millis")]
    pub patience: Duration,
    /// If each worker is to scale the times by its own speed: nodes per second, by the benchmark of
    /// the last engine that has one, for which they are meant. Positive.
    pub reference_nps: Option<f64>,
}

impl RunDescription {
    /// Makes the times those of a machine of so many nodes per second; what they are multiplied by.
    pub fn scale_to(&mut self, measured_nps: f64) -> Option<f64> {
        let scale = Scale { reference_nps: self.reference_nps?, measured_nps };
        for contestant in &mut self.contestants {
            contestant.conditions.limits = scale.applied(contestant.conditions.limits);
        }
        self.patience = self.patience.mul_f64(scale.factor().clamp(1.0, MAX_PATIENCE_FACTOR));
        Some(scale.factor())
    }
}

#[derive(Serialize, Deserialize)]
struct Signed {
    body: String,
    key: String,
    signature: String,
}

/// A description as it is sent.
pub fn sign(head: &RunDescription, key: &Key) -> Vec<u8> {
    let body = String::from_utf8(write(head)).expect("JSON is UTF-8");
    let signature = key.sign(&body);
    write(&Signed { key: key.public().to_string(), body, signature })
}

/// A description that one of the trusted keys has signed.
pub fn verified(bytes: &[u8], trusted: &[PublicKey]) -> Result<RunDescription, String> {
    let signed: Signed = read(bytes, MAX_DESCRIPTION).map_err(|error| error.to_string())?;
    let key: PublicKey = signed.key.parse().map_err(|error: TrustError| error.to_string())?;
    if !trusted.contains(&key) {
        return Err(TrustError::Stranger(key.to_string()).to_string());
    }
    key.check(&signed.body, &signed.signature).map_err(|error| error.to_string())?;
    let head = read(signed.body.as_bytes(), MAX_DESCRIPTION).and_then(checked);
    head.map_err(|error| error.to_string())
}

fn checked(mut head: RunDescription) -> Result<RunDescription, WireError> {
    if head.contestants.is_empty() {
        return Err(invalid("a run without engines"));
    }
    if head.reference_nps.is_some_and(|nps| !nps.is_finite() || nps <= 0.0) {
        return Err(invalid("a speed that is none"));
    }
    head.lease = head.lease.max(MIN_LEASE);
    head.needs.threads = head.needs.threads.max(1);
    Ok(head)
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "EngineSetup")]
struct EngineSetupDef {
    #[serde(with = "Text")]
    name: String,
    #[serde(with = "LaunchDef")]
    launch: Launch,
    #[serde(with = "As::<DisplayFromStr>")]
    protocol: Protocol,
    #[serde(with = "SetupDef")]
    setup: Setup,
    #[serde(with = "As::<DisplayFromStr>")]
    restart: Restart,
    #[serde(rename = "deadlines_ms", with = "DeadlinesMs")]
    deadlines: Deadlines,
    #[serde(with = "As::<Option<DisplayFromStr>>")]
    pattern: Option<LinePattern>,
    is_recorded: bool,
}

/// Where the program and its files are, each machine knows for itself.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Launch")]
struct LaunchDef {
    #[serde(skip)]
    program: PathBuf,
    args: Vec<String>,
    #[serde(skip)]
    dir: Option<PathBuf>,
    #[serde(skip)]
    stderr: Option<PathBuf>,
    #[serde(flatten, with = "BoundsDef")]
    bounds: Bounds,
    #[serde(skip)]
    cpus: Vec<usize>,
}

/// What else a program may take is the worker's to say.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Bounds")]
struct BoundsDef {
    memory_bytes: Option<u64>,
    #[serde(skip)]
    file_bytes: Option<u64>,
    #[serde(skip)]
    cpu_seconds: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Setup")]
struct SetupDef {
    options: Vec<(String, String)>,
    init: Vec<String>,
    ponder: bool,
    nodestime: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_takes_as_many_slots_as_it_needs_of_the_machine() {
        let slots = |threads, needed, slots, memory| {
            Requirements { threads, memory_mib: needed }.slots(slots, memory)
        };
        assert_eq!(slots(1, 32, 8, 16_000), Ok(1));
        assert_eq!(slots(4, 32, 8, 16_000), Ok(4));
        assert_eq!(slots(1, 4_001, 8, 16_000), Ok(3), "two such games fit, not three");
        assert_eq!(slots(2, 16_000, 8, 16_000), Ok(8));
        assert_eq!(slots(1, 16_000, 8, 0), Ok(1), "nobody knows");
        assert!(slots(9, 32, 8, 16_000).unwrap_err().contains("9 threads"));
        assert!(slots(1, 16_001, 8, 16_000).unwrap_err().contains("16001 MiB"));
    }
}
