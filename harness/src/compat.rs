//! Command lines of fastchess and cutechess-cli, and runs shown in their form.

mod engine;
pub(crate) mod options;
mod printer;
pub(crate) mod request;
pub(crate) mod saved;
pub(crate) mod words;

pub(crate) use printer::Printer;

use std::path::{Path, PathBuf};

use self::saved::Saved;
use crate::Failure;
use arbiter_report::Dialect;

/// How a run is shown in place of the live view and the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// In whose form.
    pub dialect: Dialect,
    /// Whether figures are by pairs, where there is a choice.
    pub penta: bool,
    /// Games (pairs, if figures are by pairs) between two reports of figures; 0 for only one at
    /// the end.
    pub rating_interval: u64,
    /// Games between two lines of the score; 0 for none.
    pub score_interval: u64,
    /// The file that says which run it is, if one is wanted.
    pub saved_in: Option<PathBuf>,
}

impl Style {
    /// Writes down which run this is, for whoever wants to go on with it.
    pub(crate) fn save(&self, run: &str, results: &Path) -> Result<(), Failure> {
        let Some(path) = &self.saved_in else { return Ok(()) };
        let results = std::path::absolute(results).unwrap_or_else(|_| results.to_owned());
        let saved = Saved { run: run.to_owned(), results };
        saved.write(path)
    }
}
