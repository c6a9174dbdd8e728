//! Who put the questions of a suite to the engines.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Style;

/// Where engines were asked.
#[derive(Debug)]
pub enum By {
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

impl By {
    /// How many at once, or which workers how many positions.
    pub(super) fn in_words(&self) -> String {
        let positions = match self {
            By::Here(at_once) => return format!("{at_once} at once"),
            By::Workers { positions, .. } => positions,
        };
        let each = positions.iter().map(|(worker, count)| format!("{worker} {count}"));
        format!("by workers: {}", each.collect::<Vec<_>>().join(", "))
    }

    /// Which workers were excluded, and why; empty if none was.
    pub(super) fn aside_text(&self, style: Style) -> String {
        match self {
            By::Workers { excluded, .. } if !excluded.is_empty() => {
                let lines = excluded.iter().map(|(worker, why)| format!("{worker}: {why}"));
                style.heading("Workers that were excluded")
                    + &style.list(&lines.collect::<Vec<_>>())
            }
            By::Here(_) | By::Workers { .. } => String::new(),
        }
    }

    /// Adds it to a report.
    pub(super) fn add_to(&self, report: &mut Value) {
        match self {
            By::Here(at_once) => report["concurrency"] = json!(at_once),
            By::Workers { positions, excluded } => {
                let excluded = excluded.iter();
                let excluded =
                    excluded.map(|(worker, why)| json!({"worker": worker, "reason": why}));
                report["workers"] = json!(positions);
                report["workers_set_aside"] = excluded.collect();
            }
        }
    }
}
