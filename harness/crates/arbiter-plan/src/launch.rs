//! Start, protocol and lifetime of an engine, apart from the conditions of its games.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Engine;
use arbiter_protocol::{Protocol, Restart};

/// Sandbox of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// No sandbox: the engine has the rights of the user.
    #[default]
    Off,
    /// A sandbox as complete as the system permits.
    Auto,
    /// A complete sandbox, without which the engine is not started.
    Require,
}

arbiter_names::named!(SandboxMode);

/// Settings of an engine's start, protocol and lifetime.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaunchSettings {
    /// Protocol of the engine.
    pub protocol: Protocol,
    /// Lines that the engine is sent after its options, at every start.
    pub init: Vec<String>,
    /// Lifetime of the engine's process.
    pub restart: Restart,
    /// `true` if the engine ponders.
    pub ponder: bool,
    /// File to which the engine's error output is appended.
    pub stderr: Option<PathBuf>,
    /// Maximum address space of each of the engine's processes, in MiB.
    pub memory_mib: Option<u64>,
    /// Sandbox of the engine on this machine; workers decide on theirs.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sandbox: SandboxMode,
}

/// Returns whether there is no sandbox, which the stored plan leaves out.
fn is_off(sandbox: &SandboxMode) -> bool {
    *sandbox == SandboxMode::Off
}

/// Gives each engine without a file for its error output one in `dir`, named after the engine.
pub(super) fn spread_stderr(engines: &mut [Engine], dir: &Path) {
    for index in 0..engines.len() {
        if engines[index].launch.stderr.is_some() {
            continue;
        }
        // A name may contain characters that a file name must not, such as a slash.
        let harmless = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
        let name: String = engines[index].name.chars().map(harmless).collect();
        let mut file = dir.join(format!("{name}.log"));
        // Two names may differ only in characters that were replaced.
        if engines[..index].iter().any(|other| other.launch.stderr.as_ref() == Some(&file)) {
            file = dir.join(format!("{name}.{}.log", index + 1));
        }
        engines[index].launch.stderr = Some(file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EngineSpec, resolve_engine};

    #[test]
    fn each_engine_has_a_file_of_its_own() {
        let specs = ["name=a/b", "name=a b", "name=c,stderr=/own"];
        let mut engines = specs.map(|spec| {
            resolve_engine(0, EngineSpec::parse(&format!("cmd=bundled,{spec}")).unwrap()).unwrap()
        });
        spread_stderr(&mut engines, Path::new("/logs"));
        let files = engines.map(|engine| engine.launch.stderr.unwrap());
        assert_eq!(files, ["/logs/a_b.log", "/logs/a_b.2.log", "/own"].map(PathBuf::from));
    }
}
