//! Engine with all settings resolved.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{LaunchSettings, Provenance};
use arbiter_protocol::Conditions;

/// Value of `cmd=` for the bundled engine.
pub const BUNDLED: &str = "bundled";

/// Engine with all settings resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Name, unique in the run.
    pub name: String,
    /// Executable file; `None` for Palimpsest, the engine inside this binary.
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
