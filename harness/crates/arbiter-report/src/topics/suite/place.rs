//! Machines on which the engines of a suite ran.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::parts::Document;

/// Machines on which engines ran.
#[derive(Debug)]
pub enum EngineLocation {
    /// This machine, with the number of positions in parallel.
    Here(usize),
    /// Workers of a cluster.
    Workers {
        /// Number of positions searched by each worker.
        positions: BTreeMap<String, u64>,
        /// Excluded workers, whose answers do not count, with reasons.
        excluded: Vec<(String, String)>,
    },
}

/// Machines on which engines ran, in JSON.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct PlaceFigures<'a> {
    /// Number of positions in parallel; absent if workers were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<usize>,
    /// Number of positions searched by each worker; absent if no workers were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<&'a BTreeMap<String, u64>>,
    /// Excluded workers, whose answers do not count; absent if no workers were used.
    #[serde(skip_serializing_if = "Option::is_none")]
    workers_excluded: Option<Vec<ExcludedFigures<'a>>>,
}

/// Excluded worker.
#[derive(Debug, Serialize, JsonSchema)]
struct ExcludedFigures<'a> {
    /// Name of the worker.
    worker: &'a str,
    /// Reason for the exclusion.
    reason: &'a str,
}

impl EngineLocation {
    /// Formats the number of positions in parallel, or the workers, each with its number of
    /// positions.
    pub(super) fn describe(&self) -> String {
        let positions = match self {
            EngineLocation::Here(at_once) => return format!("{at_once} in parallel"),
            EngineLocation::Workers { positions, .. } => positions,
        };
        let each = positions.iter().map(|(worker, count)| format!("{worker} {count}"));
        format!("by workers: {}", each.collect::<Vec<_>>().join(", "))
    }

    /// Adds a list of the excluded workers with reasons, if there are any.
    pub(super) fn add_excluded_workers(&self, document: &mut Document) {
        if let EngineLocation::Workers { excluded, .. } = self {
            let lines = excluded.iter().map(|(worker, why)| format!("{worker}: {why}"));
            document.list("Excluded workers", lines.collect());
        }
    }

    /// Returns the machines for JSON.
    pub(super) fn figures(&self) -> PlaceFigures<'_> {
        match self {
            EngineLocation::Here(at_once) => {
                PlaceFigures { concurrency: Some(*at_once), ..PlaceFigures::default() }
            }
            EngineLocation::Workers { positions, excluded } => {
                let excluded = excluded.iter();
                let excluded = excluded.map(|(worker, reason)| ExcludedFigures { worker, reason });
                let workers_excluded = Some(excluded.collect());
                PlaceFigures { concurrency: None, workers: Some(positions), workers_excluded }
            }
        }
    }
}
