//! Where the questions of a suite were put to the engines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

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

    /// Adds it to a report.
    pub(super) fn add_to(&self, report: &mut Value) {
        match self {
            Place::Here(at_once) => report["concurrency"] = json!(at_once),
            Place::Workers { positions, excluded } => {
                let excluded = excluded.iter();
                let excluded =
                    excluded.map(|(worker, why)| json!({"worker": worker, "reason": why}));
                report["workers"] = json!(positions);
                report["workers_set_aside"] = excluded.collect();
            }
        }
    }
}
