//! Engines.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DefaultOnNull, DisplayFromStr};

use crate::convert::Nanos;
use arbiter_plan::launch::LaunchSettings;
use arbiter_plan::plan::{Engine, Program};
use arbiter_plan::provenance::Provenance;
use arbiter_protocol::{Conditions, Limits, Protocol, Restart, TimeControl};

/// An engine with the hash of its program.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EngineRow {
    #[serde(flatten, with = "EngineDef")]
    pub(crate) engine: Engine,
    pub(crate) program_hash: String,
}

/// An engine of a plan.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Engine")]
pub struct EngineDef {
    name: String,
    #[serde(with = "ProgramDef")]
    program: Program,
    args: Vec<String>,
    dir: Option<PathBuf>,
    options: Vec<(String, String)>,
    #[serde(rename = "manners", default, with = "LaunchSettingsDef")]
    launch: LaunchSettings,
    #[serde(flatten, with = "ConditionsDef")]
    conditions: Conditions,
    provenance: Option<Provenance>,
}

/// A path; `null` is the bundled engine.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Program", untagged)]
enum ProgramDef {
    Bundled,
    Path(PathBuf),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "LaunchSettings")]
struct LaunchSettingsDef {
    #[serde(default, with = "As::<DefaultOnNull<DisplayFromStr>>")]
    protocol: Protocol,
    #[serde(default)]
    init: Vec<String>,
    #[serde(default, with = "As::<DefaultOnNull<DisplayFromStr>>")]
    restart: Restart,
    #[serde(default)]
    ponder: bool,
    stderr: Option<PathBuf>,
    memory_mib: Option<u64>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Conditions")]
struct ConditionsDef {
    #[serde(flatten, with = "LimitsDef")]
    limits: Limits,
    #[serde(rename = "margin_ns", with = "Nanos")]
    margin: Duration,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Limits")]
struct LimitsDef {
    /// As typed, such as `8+0.08`.
    #[serde(rename = "tc", default, with = "As::<Option<DisplayFromStr>>")]
    clock: Option<TimeControl>,
    #[serde(rename = "movetime_ns", default, with = "As::<Option<Nanos>>")]
    movetime: Option<Duration>,
    nodes: Option<u64>,
    depth: Option<u32>,
    nodestime: Option<u64>,
}
