//! Provenance of an engine's program, and scale of the times of a run.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use arbiter_protocol::Limits;

/// Revision from which a program was built.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// Path of the repository.
    pub repo: PathBuf,
    /// Revision as typed; `.` is the working tree.
    pub revision: String,
    /// Full hash of the commit; for a working tree, of its parent commit.
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

/// Scale of the times of a run: a slower machine gives more time, so that engines search as many
/// nodes as on the reference machine.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// Nodes per second for which the times were chosen; positive.
    pub reference_nps: f64,
    /// Nodes per second measured by the bench on this machine, with as many parallel copies as
    /// concurrent games; positive.
    pub measured_nps: f64,
}

impl Scale {
    /// Returns the factor by which all times are multiplied.
    pub fn factor(self) -> f64 {
        self.reference_nps / self.measured_nps
    }

    /// Returns limits with all times scaled. Time that is counted in nodes is not scaled.
    pub fn applied(self, limits: Limits) -> Limits {
        if limits.nodestime.is_some() { limits } else { limits.scaled(self.factor()) }
    }

    /// Returns the scale factor and both speeds as text for a report.
    pub fn describe(self) -> String {
        format!(
            "times scaled by {:.3}: {:.0} nodes per second measured, reference {:.0}",
            self.factor(),
            self.measured_nps,
            self.reference_nps
        )
    }
}
