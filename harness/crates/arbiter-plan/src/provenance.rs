//! Where the program of an engine is from, and how its time was measured out.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use arbiter_protocol::Limits;

/// A program that was built from a revision.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The repository.
    pub repo: PathBuf,
    /// The revision as typed; `.` is the working tree.
    pub revision: String,
    /// The commit, in full; of a working tree the one below it.
    pub commit: String,
    /// Whether files were changed since that commit.
    pub is_dirty: bool,
    /// Nodes of its benchmark, if that was run.
    pub bench: Option<u64>,
}

impl Provenance {
    /// What it is called where results of commits are kept.
    pub fn identity(&self) -> String {
        format!("{}{}", self.commit, if self.is_dirty { "-dirty" } else { "" })
    }

    /// In words for a report.
    pub fn words(&self) -> String {
        let dirty = if self.is_dirty { " with changes that are in no commit" } else { "" };
        let bench = self.bench.map_or(String::new(), |bench| format!(", bench {bench}"));
        format!("commit {}{dirty}{bench}", self.commit)
    }
}

/// How the times of a run follow from those that were asked for: a slower machine gives more, so
/// that engines search as much as on the machine of reference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scale {
    /// Nodes per second for which times are meant; positive.
    pub reference_nps: f64,
    /// Nodes per second that the benchmark measured here, with as many copies at once as games;
    /// positive.
    pub measured_nps: f64,
}

impl Scale {
    /// What times are multiplied by.
    pub fn factor(self) -> f64 {
        self.reference_nps / self.measured_nps
    }

    /// Limits with all their times scaled. Time that nodes stand for is the same everywhere.
    pub fn applied(self, limits: Limits) -> Limits {
        if limits.nodestime.is_some() { limits } else { limits.scaled(self.factor()) }
    }

    /// In words for a report.
    pub fn words(self) -> String {
        format!(
            "times scaled by {:.3}: {:.0} nodes per second measured, {:.0} are the reference",
            self.factor(),
            self.measured_nps,
            self.reference_nps
        )
    }
}
