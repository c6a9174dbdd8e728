//! Engine with all settings resolved: program, start, protocol and lifetime.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use arbiter_protocol::{Conditions, Protocol, Restart};

/// Value of `cmd=` for the bundled engine.
pub const BUNDLED: &str = "bundled";

/// Engine with all settings resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Name, unique in the run.
    pub name: String,
    /// Executable file; `None` for Palimpsest, the engine inside this binary.
    #[serde(deserialize_with = "Option::deserialize")]
    pub program: Option<PathBuf>,
    /// Command-line arguments.
    pub args: Vec<String>,
    /// Working directory; the working directory of the harness if `None`.
    pub dir: Option<PathBuf>,
    /// UCI options to set, in order.
    pub options: Vec<(String, String)>,
    /// Start, protocol and lifetime of the engine.
    #[serde(rename = "manners")]
    pub launch: LaunchSettings,
    /// Search limits, time margin, and point of view of the engine's scores.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// Provenance of the program; `None` unless the program was built from a revision.
    pub provenance: Option<Provenance>,
}

/// Sandbox of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// No sandbox: the engine has all rights of the user.
    #[default]
    Off,
    /// The most complete sandbox that the system supports.
    Auto,
    /// A complete sandbox; without a complete sandbox, the engine is not started.
    Require,
}

arbiter_names::named!(SandboxMode);

/// Settings for the start, protocol and lifetime of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaunchSettings {
    /// Protocol of the engine.
    pub protocol: Protocol,
    /// Lines that are sent to the engine after the options, at every start.
    pub init: Vec<String>,
    /// Lifetime of the engine process.
    pub restart: Restart,
    /// `true` if the engine ponders.
    pub ponder: bool,
    /// File to which the standard error of the engine is appended.
    pub stderr: Option<PathBuf>,
    /// Maximum address space of each process of the engine, in MiB.
    pub memory_mib: Option<u64>,
    /// Sandbox of the engine on this machine; workers have separate settings.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sandbox: SandboxMode,
}

/// Returns whether the sandbox is off; the stored plan then omits the sandbox.
fn is_off(sandbox: &SandboxMode) -> bool {
    *sandbox == SandboxMode::Off
}

/// Revision from which a program was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Path of the repository.
    pub repo: PathBuf,
    /// Revision as typed; `.` is the working tree.
    pub revision: String,
    /// Full hash of the commit; for a working tree, the hash of the tree's parent commit.
    pub commit: String,
    /// `true` if files have changed since this commit.
    pub is_dirty: bool,
    /// Node count of the bench; `None` if the bench was not run.
    pub bench: Option<u64>,
}

impl Provenance {
    /// Returns the identifier of the program in results: the hash of the commit, followed by
    /// `-dirty` if files have changed.
    pub fn identity(&self) -> String {
        format!("{}{}", self.commit, if self.is_dirty { "-dirty" } else { "" })
    }

    /// Returns the commit, uncommitted changes and the bench as text for a report.
    pub fn describe(&self) -> String {
        let dirty = if self.is_dirty { " with uncommitted changes" } else { "" };
        let bench = self.bench.map_or(String::new(), |bench| format!(", bench {bench}"));
        format!("commit {}{dirty}{bench}", self.commit)
    }
}
