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
        aside: Vec<(String, String)>,
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

    /// Which workers were set aside, and why; empty if none was.
    pub(super) fn aside_text(&self, style: Style) -> String {
        match self {
            By::Workers { aside, .. } if !aside.is_empty() => {
                let lines = aside.iter().map(|(worker, why)| format!("{worker}: {why}"));
                style.heading("Workers that were set aside")
                    + &style.list(&lines.collect::<Vec<_>>())
            }
            By::Here(_) | By::Workers { .. } => String::new(),
        }
    }

    /// Adds it to a report.
    pub(super) fn add_to(&self, report: &mut Value) {
        match self {
            By::Here(at_once) => report["concurrency"] = json!(at_once),
            By::Workers { positions, aside } => {
                let aside = aside.iter();
                let aside = aside.map(|(worker, why)| json!({"worker": worker, "reason": why}));
                report["workers"] = json!(positions);
                report["workers_set_aside"] = aside.collect();
            }
        }
    }
}
