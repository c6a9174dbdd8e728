//! Parts that the reports on suites share.

mod epd;
pub(crate) mod epd_figures;
pub(crate) mod perft;

pub use epd::{EpdEngine, EpdReport};
pub use perft::{PerftReport, PerftTotals};

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::parts::Document;
use arbiter_suite::LineFault;

/// Circumstances of the queries of a suite.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SuiteConditions<'a> {
    /// Unusable lines, with reasons.
    pub unusable: &'a [LineFault],
    /// Corrected lines, with the impossible parts that were removed.
    pub corrected: &'a [LineFault],
    /// Machines on which the engines ran.
    #[serde(flatten)]
    pub place: EngineLocation,
}

impl SuiteConditions<'_> {
    /// Adds lists of the corrected and of the unusable lines, each with its reason.
    fn add_line_faults(&self, document: &mut Document) {
        let mut list = |title: &str, faults: &[LineFault]| {
            let lines = faults.iter().map(|fault| format!("line {}: {}", fault.line, fault.reason));
            document.list(format!("{title}: {}", faults.len()), lines.collect());
        };
        list("Corrected positions", self.corrected);
        list("Unusable lines (not counted)", self.unusable);
    }
}

/// Machines on which the engines of a suite ran: this machine, or workers of a cluster.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct EngineLocation {
    /// Number of positions in parallel; absent if workers were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<usize>,
    /// Number of positions searched by each worker; absent if no workers were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<BTreeMap<String, u64>>,
    /// Excluded workers, whose answers do not count; absent if no workers were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    workers_excluded: Option<Vec<ExcludedFigures>>,
}

/// Excluded worker.
#[derive(Debug, Serialize, JsonSchema)]
struct ExcludedFigures {
    /// Name of the worker.
    worker: String,
    /// Reason for the exclusion.
    reason: String,
}

impl EngineLocation {
    /// Returns the [`EngineLocation`] for engines that ran on this machine; `concurrency` is the
    /// number of positions searched in parallel.
    pub fn here(concurrency: usize) -> EngineLocation {
        EngineLocation { concurrency: Some(concurrency), ..EngineLocation::default() }
    }

    /// Returns the [`EngineLocation`] for engines that ran on workers. `positions` contains the
    /// number of positions searched by each worker; `excluded` contains each excluded worker with
    /// the reason for its exclusion.
    pub fn workers(
        positions: BTreeMap<String, u64>,
        excluded: impl Iterator<Item = (String, String)>,
    ) -> EngineLocation {
        let excluded = excluded.map(|(worker, reason)| ExcludedFigures { worker, reason });
        let workers_excluded = Some(excluded.collect());
        EngineLocation { concurrency: None, workers: Some(positions), workers_excluded }
    }

    /// Formats the number of positions searched in parallel or, if workers were used, the number of
    /// positions by worker.
    fn describe(&self) -> String {
        if let Some(concurrency) = self.concurrency {
            return format!("{concurrency} in parallel");
        }
        let each = self.workers.iter().flatten().map(|(worker, count)| format!("{worker} {count}"));
        format!("by workers: {}", each.collect::<Vec<_>>().join(", "))
    }

    /// Adds a list of the excluded workers, each with the reason for its exclusion, if any worker
    /// was excluded.
    fn add_excluded_workers(&self, document: &mut Document) {
        let excluded = self.workers_excluded.iter().flatten();
        let lines = excluded.map(|worker| format!("{}: {}", worker.worker, worker.reason));
        document.list("Excluded workers", lines.collect());
    }
}
