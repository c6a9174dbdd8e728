//! The list of runs.

use serde_json::{Value, json};

use crate::stored::utc_time;
use crate::table::Table;
use arbiter_plan::Ending;
use arbiter_store::RunHead;

/// The list as a table.
pub fn runs_table(runs: &[RunHead]) -> Table {
    let mut table = Table::new(["run", "started", "pairs", "ending", "about"]);
    for RunHead { run, created_ms, ending, pairs, about } in runs {
        let about = about.as_deref().unwrap_or_default();
        table.push([run, &utc_time(*created_ms), pairs, &ending_word(*ending), &about]);
    }
    table
}

/// The list as a JSON array.
pub fn runs_json(runs: &[RunHead]) -> Value {
    let object = |head: &RunHead| {
        json!({
            "run": head.run, "begun": utc_time(head.created_ms), "pairs": head.pairs,
            "ending": ending_word(head.ending), "about": head.about,
        })
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
