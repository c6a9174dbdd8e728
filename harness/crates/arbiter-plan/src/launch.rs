//! Start, protocol and lifetime of an engine.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Engine;
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
    /// A complete sandbox; the engine is not started without it.
    Require,
}

arbiter_names::named!(SandboxMode);

/// Settings for the start, protocol and lifetime of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaunchSettings {
    /// Protocol of the engine.
    pub protocol: Protocol,
    /// Lines that are sent to the engine after its options, at every start.
    pub init: Vec<String>,
    /// Lifetime of the engine process.
    pub restart: Restart,
    /// `true` if the engine ponders.
    pub ponder: bool,
    /// File to which the engine's error output is appended.
    pub stderr: Option<PathBuf>,
    /// Maximum address space of each process of the engine, in MiB.
    pub memory_mib: Option<u64>,
    /// Sandbox of the engine on this machine; workers have separate settings.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sandbox: SandboxMode,
}

/// Returns whether the sandbox is off; the stored plan omits this value.
fn is_off(sandbox: &SandboxMode) -> bool {
    *sandbox == SandboxMode::Off
}

/// Sets a file in `dir`, named after the engine, for the error output of each engine without such a
/// file.
pub(super) fn spread_stderr(engines: &mut [Engine], dir: &Path) {
    for index in 0..engines.len() {
        if engines[index].launch.stderr.is_some() {
            continue;
        }
        // A name may contain characters that a file name must not, such as a slash.
        let harmless = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
        let name: String = engines[index].name.chars().map(harmless).collect();
        let mut file = dir.join(format!("{name}.log"));
        // Two names may differ only in replaced characters.
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
    fn each_engine_has_a_separate_stderr_file() {
        let specs = ["name=a/b", "name=a b", "name=c,stderr=/own"];
        let mut engines = specs.map(|spec| {
            resolve_engine(0, EngineSpec::parse(&format!("cmd=bundled,{spec}")).unwrap()).unwrap()
        });
        spread_stderr(&mut engines, Path::new("/logs"));
        let files = engines.map(|engine| engine.launch.stderr.unwrap());
        assert_eq!(files, ["/logs/a_b.log", "/logs/a_b.2.log", "/own"].map(PathBuf::from));
    }
}
