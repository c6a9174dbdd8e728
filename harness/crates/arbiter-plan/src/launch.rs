//! Start, protocol and lifetime of an engine.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{EngineSpec, resolve_engine::absolute};
use arbiter_protocol::{Protocol, Restart};

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

impl LaunchSettings {
    /// Returns the settings in a specification, with defaults for unset settings.
    pub(crate) fn of(spec: &EngineSpec) -> LaunchSettings {
        LaunchSettings {
            protocol: spec.protocol.unwrap_or_default(),
            init: spec.init.clone(),
            restart: spec.restart.unwrap_or_default(),
            ponder: spec.ponder.unwrap_or(false),
            stderr: spec.stderr.clone().map(absolute),
            memory_mib: spec.memory_mib,
            sandbox: spec.sandbox.unwrap_or_default(),
        }
    }
}

/// Returns whether the sandbox is off; the stored plan then omits the sandbox.
fn is_off(sandbox: &SandboxMode) -> bool {
    *sandbox == SandboxMode::Off
}
