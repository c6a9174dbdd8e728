//! Engine with all settings resolved.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{LaunchSettings, Provenance};
use arbiter_protocol::Conditions;

/// Value of `cmd=` for the bundled engine.
pub const BUNDLED: &str = "bundled";

/// Program of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Program {
    /// Palimpsest, the engine inside this binary.
    Bundled,
    /// Executable file.
    Path(PathBuf),
}

/// Engine with all settings resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Name, unique in the run.
    pub name: String,
    /// Program to start.
    pub program: Program,
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

impl Engine {
    /// Returns the path of the program; `None` for the bundled engine.
    pub fn path(&self) -> Option<&Path> {
        match &self.program {
            Program::Bundled => None,
            Program::Path(path) => Some(path),
        }
    }
}
