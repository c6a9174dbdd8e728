//! Description of a run: the common part of all its jobs, signed by its coordinator.

use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, serde_conv};

use super::{MAX_SIGNED, Message, Signed, WireError, invalid};
use crate::subject::RunId;
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_game::text::{MAX_TEXT, Text, printable};
use arbiter_plan::{Engine, Scale};
use arbiter_process::open_input;
use arbiter_protocol::Deadlines;
use arbiter_protocol::times::DeadlinesMs;

/// Maximum factor by which the stall timeout of a slow worker is multiplied. Without this limit, a
/// very low measured speed could make the scaled value overflow, and the worker would panic.
const MAX_STALL_FACTOR: f64 = 100.0;

/// Minimum lease. Heartbeats and lease extensions are sent several times within a lease.
const MIN_LEASE: Duration = Duration::from_secs(1);

/// Maximum of the lease, the stall timeout and the pause between games; sums and multiples of
/// longer times could overflow.
const MAX_TIME: Duration = Duration::from_secs(366 * 24 * 3600);

/// File that workers fetch: the program of an engine, or an option file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunFile {
    /// BLAKE3 hash of the file.
    #[serde(with = "As::<DisplayFromStr>")]
    pub hash: blake3::Hash,
    /// Size of the file, in bytes.
    pub bytes: u64,
    /// Name of the file, for users and for engines that examine file names.
    #[serde(with = "FileName")]
    pub name: String,
}

impl RunFile {
    /// Reads the size and hash of the file at `path`.
    pub fn read(path: &Path) -> io::Result<RunFile> {
        let file = open_input(path)?;
        let bytes = file.metadata()?.len();
        let hash = blake3::Hasher::new().update_reader(file)?.finalize();
        let name = path.file_name().unwrap_or("engine".as_ref());
        Ok(RunFile { hash, bytes, name: name.to_string_lossy().into_owned() })
    }
}

serde_conv!(
    /// File name reduced to ASCII letters, digits and `._-+`.
    FileName,
    String,
    String::as_str,
    |name: String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
        // The name becomes part of a path on the worker, so the name must not contain separators or
        // leading dots.
        let name: String = name.chars().filter(|c| plain(*c)).take(100).collect();
        let name = name.trim_start_matches('.');
        Ok::<_, Infallible>(if name.is_empty() { "engine" } else { name }.to_owned())
    }
);

/// An engine of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunEngine {
    /// Engine from the plan, without settings that concern only the coordinator's machine.
    pub engine: Engine,
    /// Program of the engine.
    pub program: RunFile,
    /// Option files of the engine, in the order of the options.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub option_files: Vec<RunFile>,
    /// `true` if workers run the engine's bench before the first game.
    pub is_benched: bool,
}

impl RunEngine {
    /// Creates an engine for workers: the program and the option files are given as names instead
    /// of local paths, and the provenance is omitted.
    pub fn new(
        engine: &Engine,
        program: RunFile,
        option_files: Vec<RunFile>,
        is_benched: bool,
    ) -> RunEngine {
        let path = engine.program.as_ref().map(|_| program.name.clone().into());
        let engine = Engine { program: path, provenance: None, ..engine.clone() };
        let names = option_files.iter().map(|file| file.name.clone().into());
        let engine = engine.with_option_files(names);
        RunEngine { engine, program, option_files, is_benched }
    }
}

/// Resources that a game needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Requirements {
    /// Number of threads that search in parallel; at least 1.
    pub threads: u32,
    /// Total size of the hash tables of both engines, in MiB.
    pub memory_mib: u64,
}

impl Requirements {
    /// Returns the number of slots that a game takes on a worker with `all` slots and `memory_mib`
    /// MiB of memory (0 if unknown): one per thread, or more if the game needs a larger share of
    /// the memory. Returns a reason as the error if the machine is too small.
    pub fn slots(self, all: u32, memory_mib: u64) -> Result<u32, String> {
        let Requirements { threads, memory_mib: needed } = self;
        if threads > all {
            return Err(format!("a game needs {threads} threads, but --slots is {all}"));
        }
        if memory_mib == 0 {
            return Ok(threads);
        }
        if needed > memory_mib {
            return Err(format!(
                "a game needs {needed} MiB for hash tables, but the machine has {memory_mib} MiB"
            ));
        }
        // The number is rounded up, so that games that fit into the slots also fit into the memory.
        // The product has 128 bits, because the product of untrusted numbers may overflow 64 bits.
        let part = (u128::from(needed) * u128::from(all)).div_ceil(u128::from(memory_mib));
        Ok(threads.max(u32::try_from(part).unwrap_or(all)))
    }
}

/// Common part of all jobs of a run. A worker fetches the signed description once.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunDescription {
    /// ID of the run.
    pub run_id: RunId,
    /// Name of the run.
    #[serde(with = "Text")]
    pub run: String,
    /// Engines of the run, by their index.
    pub engines: Vec<RunEngine>,
    /// Names of the tuned options, the only options that jobs may set.
    pub tuned: Vec<String>,
    /// Time limits for replies of engines.
    #[serde(with = "DeadlinesMs")]
    pub deadlines: Deadlines,
    /// Adjudication rules, which may end a game earlier than the rules of chess.
    pub rules: Rules,
    /// Selection of the games with transcripts.
    pub transcripts: Keeping,
    /// Contents of the comments in games.
    pub annotation: Annotation,
    /// Maximum difference (0 to 1) between the shares of thinking time that the two engines spend
    /// waiting for a processor; if `None`, waiting is not measured.
    pub noise_limit: Option<f64>,
    /// Pause between two games in one slot.
    pub wait: Duration,
    /// Time without a heartbeat after which another worker gets the pair.
    pub lease: Duration,
    /// Resources that a game needs on its machine.
    pub requirements: Requirements,
    /// Time without an engine reply after which a game counts as stalled. The timeout is longer
    /// than any expected time between replies.
    pub stall_timeout: Duration,
    /// Reference speed in nodes per second, for the last engine with a bench; positive. `None` if
    /// workers do not scale times by their own speed.
    pub reference_nps: Option<f64>,
}

impl RunDescription {
    /// Scales the time limits to a machine with `measured_nps` nodes per second. Returns the
    /// factor, if the run has a reference speed.
    pub fn scale_to(&mut self, measured_nps: f64) -> Option<f64> {
        let scale = Scale { reference_nps: self.reference_nps?, measured_nps };
        for RunEngine { engine, .. } in &mut self.engines {
            engine.conditions.limits = scale.applied(engine.conditions.limits);
        }
        self.stall_timeout =
            self.stall_timeout.mul_f64(scale.factor().clamp(1.0, MAX_STALL_FACTOR));
        Some(scale.factor())
    }
}

impl Message for RunDescription {
    const MAX_BYTES: usize = MAX_SIGNED;

    fn validated(mut self) -> Result<RunDescription, WireError> {
        if self.engines.is_empty() {
            return Err(invalid("a run without engines"));
        }
        if self.reference_nps.is_some_and(|nps| !nps.is_finite() || nps <= 0.0) {
            return Err(invalid("an invalid speed"));
        }
        for RunEngine { engine, option_files, .. } in &mut self.engines {
            if engine.option_files().count() != option_files.len() {
                return Err(invalid("an engine with files that differ from its options"));
            }
            engine.name = printable(&engine.name, MAX_TEXT);
            // Folders of the coordinator do not exist on this machine, and a run must not choose
            // the files that a worker writes.
            (engine.dir, engine.launch.stderr) = (None, None);
        }
        // Even a signed description may contain absurdly long times, whose sums and products could
        // overflow and end the worker.
        self.lease = self.lease.clamp(MIN_LEASE, MAX_TIME);
        self.stall_timeout = self.stall_timeout.min(MAX_TIME);
        self.wait = self.wait.min(MAX_TIME);
        self.requirements.threads = self.requirements.threads.max(1);
        Ok(self)
    }
}

impl Signed for RunDescription {
    const PURPOSE: &'static str = "run description";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_of_a_game_follow_its_threads_and_memory() {
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
