//! Where the questions of a suite were put to the engines.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::document::Document;

/// Where engines were asked.
#[derive(Debug)]
pub enum Place {
    /// On this machine, so many at once.
    Here(usize),
    /// At workers.
    Workers {
        /// Positions of each.
        positions: BTreeMap<String, u64>,
        /// Workers whose answers do not count, and why.
        excluded: Vec<(String, String)>,
    },
}

/// Where engines were asked, in a report.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct PlaceFigures<'a> {
    /// Positions at once; absent if workers were asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    concurrency: Option<usize>,
    /// Positions of each worker; absent without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    workers: Option<&'a BTreeMap<String, u64>>,
    /// Workers whose answers do not count; absent without workers.
    #[serde(skip_serializing_if = "Option::is_none")]
    workers_set_aside: Option<Vec<SetAside<'a>>>,
}

/// A worker whose answers do not count.
#[derive(Debug, Serialize, JsonSchema)]
struct SetAside<'a> {
    /// Its name.
    worker: &'a str,
    /// Why.
    reason: &'a str,
}

impl Place {
    /// How many at once, or which workers how many positions.
    pub(super) fn in_words(&self) -> String {
        let positions = match self {
            Place::Here(at_once) => return format!("{at_once} at once"),
            Place::Workers { positions, .. } => positions,
        };
        let each = positions.iter().map(|(worker, count)| format!("{worker} {count}"));
        format!("by workers: {}", each.collect::<Vec<_>>().join(", "))
    }

    /// Which workers were excluded, and why; nothing if none was.
    pub(super) fn excluded(&self, document: &mut Document) {
        if let Place::Workers { excluded, .. } = self {
            let lines = excluded.iter().map(|(worker, why)| format!("{worker}: {why}"));
            document.list("Workers that were excluded", lines.collect());
        }
    }

    /// As a part of a report.
    pub(super) fn figures(&self) -> PlaceFigures<'_> {
        match self {
            Place::Here(at_once) => {
                PlaceFigures { concurrency: Some(*at_once), ..PlaceFigures::default() }
            }
            Place::Workers { positions, excluded } => {
                let excluded = excluded.iter();
                let excluded = excluded.map(|(worker, reason)| SetAside { worker, reason });
                PlaceFigures {
                    concurrency: None,
                    workers: Some(positions),
                    workers_set_aside: Some(excluded.collect()),
                }
            }
        }
    }
}
