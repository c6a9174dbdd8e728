//! Command lines of fastchess and cutechess-cli, and output of runs in the format of these
//! programs.

mod engine;
mod foreign;
mod log;
mod options;
mod printer;
mod request;
mod saved;
mod table;
mod words;

pub(crate) use engine::{cutechess_engines, engine_list, own_name};
pub(crate) use options::Options;
pub(crate) use printer::{Printer, option_warnings};
pub(crate) use request::{check, request};
pub(crate) use saved::{Config, SavedIdentity};
pub(crate) use table::help;
pub(crate) use words::{Word, split};

use std::path::{Path, PathBuf};

use crate::{Failure, own_binary};
use arbiter_plan::Plan;
use arbiter_report::Dialect;
use arbiter_run::RunCounts;

/// Output of `-version` in place of fastchess. Scripts expect the version of the program that they
/// know; fishtest also parses the commit at the end of the line.
pub(crate) const FASTCHESS: &str = "fastchess alpha 1.8.2 20260729-74deac23";

/// Output style of another program, in place of the live view and the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Style {
    /// Program whose output format is used.
    pub dialect: Dialect,
    /// Program of the command line.
    pub program: Dialect,
    /// `true` if figures are computed from pairs where possible.
    pub penta: bool,
    /// Command that started this program, for the help.
    pub called: String,
    /// Number of games (pairs, if figures are computed from pairs) between two reports of figures;
    /// 0 for a single report at the end.
    pub rating_interval: u64,
    /// Number of games between two lines with the score; 0 for none.
    pub score_interval: u64,
    /// Number of games between two lists of outcomes; 0 for a single list at the end (cutechess-cli
    /// only).
    pub outcome_interval: u64,
    /// `true` if the run continues after the crash of an engine.
    pub recovers: bool,
    /// `true` if a warning ends the run.
    pub is_strict: bool,
    /// `true` if the checksum of the PGN file is shown at the end.
    pub shows_crc: bool,
    /// `true` if the LLR computed from pairs is shown in addition to the LLR of the other program.
    pub shows_pairs_llr: bool,
    /// File for the identity of the run, if requested.
    pub saved_in: Option<PathBuf>,
    /// Number of games between two writes of `saved_in`; 0 for a single write at the end.
    pub save_interval: u64,
    /// `true` if the command line selects Chess960.
    pub is_chess960: bool,
    /// Log that is also written or printed.
    pub log: log::LogRequest,
    /// `true` if the PVs of mate scores are checked.
    pub checks_mates: bool,
    /// Files that are emptied before the run writes to them.
    pub replaces: Vec<PathBuf>,
}

impl Style {
    /// Returns the default style of a program.
    pub(crate) fn new(program: Dialect) -> Style {
        let is_fastchess = program == Dialect::Fastchess;
        Style {
            dialect: program,
            program,
            called: String::new(),
            penta: is_fastchess,
            rating_interval: if is_fastchess { 10 } else { 0 },
            score_interval: 1,
            outcome_interval: 0,
            recovers: false,
            is_strict: false,
            shows_crc: false,
            shows_pairs_llr: false,
            saved_in: None,
            save_interval: 20,
            is_chess960: false,
            log: log::LogRequest::default(),
            checks_mates: false,
            replaces: Vec::new(),
        }
    }

    /// Saves the settings of a run that could not be started.
    pub(crate) fn save_unplayed(&self, plan: &Plan) -> Result<(), Failure> {
        let Some(path) = &self.saved_in else { return Ok(()) };
        saved::write(
            path,
            &foreign::to_fastchess(plan, self, &own_binary()?, &RunCounts::default()),
        )
    }

    /// Saves the identity and state of the run, so that this program or fastchess can resume it.
    pub(crate) fn save(
        &self,
        run: &str,
        results: &Path,
        plan: &Plan,
        counts: &RunCounts,
    ) -> Result<(), Failure> {
        let Some(path) = &self.saved_in else { return Ok(()) };
        let results = std::path::absolute(results).unwrap_or_else(|_| results.to_owned());
        let saved = SavedIdentity { run: run.to_owned(), results, checksum: None };
        saved.write(path, foreign::to_fastchess(plan, self, &own_binary()?, counts))
    }
}
