//! The list of runs.

use serde::{Serialize, Serializer};

use crate::table::Table;
use arbiter_plan::run::event::Ending;

/// One run in the list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ListedRun {
    /// Its name.
    pub run: String,
    /// When it began, in UTC.
    pub begun: String,
    /// Pairs on disk.
    pub pairs: u64,
    /// How it ended; `None` while it runs, or if it was killed.
    #[serde(serialize_with = "serialize_ending")]
    pub ending: Option<Ending>,
    /// What it tries, if its user said so.
    pub about: Option<String>,
}

/// The list as a table.
pub fn table(runs: &[ListedRun]) -> Table {
    let mut table = Table::new(["run", "begun", "pairs", "ending", "about"]);
    for run in runs {
        let about = run.about.as_deref().unwrap_or_default();
        table.push([&run.run, &run.begun, &run.pairs, &ending_word(run.ending), &about]);
    }
    table
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

fn serialize_ending<S: Serializer>(ending: &Option<Ending>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(ending_word(*ending))
}
