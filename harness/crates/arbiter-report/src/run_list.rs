//! The list of runs.

use serde_json::{Value, json};

use crate::stored::{utc_time, utc_time_as};
use crate::summary::Summary;
use crate::table::Table;
use crate::to_value;
use arbiter_plan::Ending;
use arbiter_stats::elo::finite;
use arbiter_store::RunHead;

/// What stands for the state of a run that cannot be read.
const UNREADABLE: &str = "cannot be read";

/// One run of the list.
#[derive(Debug)]
pub struct ListedRun {
    /// What the store says of it.
    pub head: RunHead,
    /// What follows from its games; `None` if they cannot be read.
    pub summary: Option<Summary>,
}

impl ListedRun {
    /// How it stands or ended, in a word or two.
    pub fn state_in_words(&self) -> String {
        self.summary.as_ref().map_or(UNREADABLE.to_owned(), Summary::state_in_words)
    }
}

/// The list as a table.
pub fn runs_table(runs: &[ListedRun]) -> Table {
    let mut table = Table::with_columns(
        ["run", "started (UTC)", "kind", "engines", "limits", "games", "Elo (95 %)", "LLR [stops]"],
        ["state", "about"],
    );
    for run in runs {
        let (head, summary) = (&run.head, run.summary.as_ref());
        let said = |say: fn(&Summary) -> String| summary.map_or(String::new(), say);
        table.push([
            &head.run,
            &utc_time_as(head.created_ms, "%Y-%m-%d %H:%M"),
            &said(|summary| summary.plan.kind.to_string()),
            &said(Summary::engines_in_words),
            &said(Summary::limits_in_words),
            &said(|summary| summary.counts.games().to_string()),
            &said(Summary::elo_in_words),
            &said(Summary::llr_in_words),
            &run.state_in_words(),
            &head.about.as_deref().unwrap_or_default(),
        ]);
    }
    match runs.iter().any(|run| run.head.about.is_some()) {
        true => table,
        false => table.without("about"),
    }
}

/// The list as a JSON array.
pub fn runs_json(runs: &[ListedRun]) -> Value {
    let object = |listed: &ListedRun| {
        let ListedRun { head, summary } = listed;
        let mut object = json!({
            "run": head.run, "begun": utc_time(head.created_ms), "pairs": head.pairs,
            "ending": ending_word(head.ending), "state": listed.state_in_words(),
            "about": head.about,
        });
        if let Some(summary) = summary {
            let limits = summary.limits().map(|limits| limits.to_string());
            object["kind"] = to_value(&summary.plan.kind);
            object["engines"] = json!(summary.engines);
            object["limits"] = json!(limits.collect::<Vec<_>>());
            object["games"] = json!(summary.counts.games());
            object["verdict"] = to_value(&summary.verdict());
            object["invalid"] = json!(summary.is_invalid());
            let elo = summary.elo();
            let ends = elo.map(|elo| [elo.value, elo.low, elo.high].map(finite));
            let look = summary.test().map(|(_, look)| [look.llr, look.lower, look.upper]);
            for (place, name) in ["", "_low", "_high"].into_iter().enumerate() {
                object[format!("elo{name}")] = json!(ends.and_then(|ends| ends[place]));
            }
            for (place, name) in ["", "_stop_lower", "_stop_upper"].into_iter().enumerate() {
                object[format!("llr{name}")] = json!(look.map(|look| look[place]));
            }
        }
        object
    };
    runs.iter().map(object).collect()
}

fn ending_word(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::AcceptedH1) => "H1",
        Some(Ending::AcceptedH0) => "H0",
        Some(Ending::Complete) => "complete",
        Some(Ending::Interrupted) => "interrupted",
        None => "unfinished",
    }
}
