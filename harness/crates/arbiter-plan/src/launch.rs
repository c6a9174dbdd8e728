//! How an engine is started, addressed and kept, apart from what it plays.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::Engine;
use arbiter_protocol::{Protocol, Restart};

/// Whether an engine is held to a sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// It may do what we may.
    #[default]
    Off,
    /// As far as the system can.
    Auto,
    /// Wholly, or it is not started.
    Require,
}

arbiter_names::named!(SandboxMode);

/// How to start, address and keep an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct LaunchSettings {
    /// What language it speaks.
    pub protocol: Protocol,
    /// Lines that it is sent after its options, at every start.
    pub init: Vec<String>,
    /// Whether it stays for the next game.
    pub restart: Restart,
    /// Whether it thinks on its opponent's time.
    pub ponder: bool,
    /// File to which its error output is appended.
    pub stderr: Option<PathBuf>,
    /// Address space that each of its processes may have, in MiB.
    pub memory_mib: Option<u64>,
    /// What holds it on this machine; on others, their workers say.
    #[serde(default, skip_serializing_if = "is_off")]
    pub sandbox: SandboxMode,
}

/// True where nothing holds the engine: the stored plan is silent about that.
fn is_off(sandbox: &SandboxMode) -> bool {
    *sandbox == SandboxMode::Off
}

/// Gives each engine without a file for its error output one in `dir`, called after it.
pub(super) fn spread_stderr(engines: &mut [Engine], dir: &Path) {
    for index in 0..engines.len() {
        if engines[index].launch.stderr.is_some() {
            continue;
        }
        let harmless = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
        let name: String = engines[index].name.chars().map(harmless).collect();
        let mut file = dir.join(format!("{name}.log"));
        // Names that differ may look the same now.
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
