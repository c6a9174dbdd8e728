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

pub use engine::{cutechess_engines, engine_list};
pub use options::Options;
pub use printer::{Printer, option_warnings};
pub use request::{check, request};
pub use saved::SavedIdentity;
pub use table::help;

use std::path::{Path, PathBuf};

use arbiter_plan::{Plan, Prior};
use arbiter_report::Dialect;
use arbiter_run::RunCounts;

/// Output of `-version` when Arbiter imitates fastchess. Scripts expect a version of fastchess;
/// fishtest also parses the commit at the end of the line.
pub const FASTCHESS: &str = "fastchess alpha 1.8.2 20260729-74deac23";

/// Returns the number of games that another program counted before the run; 0 if no program counted
/// games.
fn games_before(prior: Option<Prior>) -> u64 {
    prior.map_or(0, |prior| prior.games())
}

/// Output style of another program. Output in this style replaces the live view and the report.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Style {
    /// Program whose output format is used.
    pub(crate) dialect: Dialect,
    /// Program whose command line was given.
    pub(crate) program: Dialect,
    /// `true` if figures are computed from pairs where possible.
    pub(crate) penta: bool,
    /// Command that started this program, for the hint that shows how to resume the run.
    pub(crate) command: String,
    /// Number of games (pairs, if figures are computed from pairs) between two reports of figures;
    /// 0 for a single report at the end.
    pub(crate) rating_interval: u64,
    /// Number of games between two lines with the score; 0 for no such lines.
    pub(crate) score_interval: u64,
    /// Number of games between two lists of outcomes (cutechess-cli only); 0 for a single list at
    /// the end.
    pub(crate) outcome_interval: u64,
    /// `true` if the run continues after the crash of an engine.
    pub(crate) recovers: bool,
    /// `true` if a warning ends the run.
    pub(crate) is_strict: bool,
    /// `true` if the checksum of the PGN file is shown at the end.
    pub(crate) shows_crc: bool,
    /// `true` if the LLR computed from pairs is shown in addition to the LLR that the imitated
    /// program shows.
    pub(crate) shows_pairs_llr: bool,
    /// File in which the settings, the counts and the identity of the run are saved, if any.
    pub(crate) saved_in: Option<PathBuf>,
    /// Number of games between two writes of `saved_in`; 0 for a single write at the end.
    pub(crate) save_interval: u64,
    /// `true` if the command line selects Chess960.
    pub(crate) is_chess960: bool,
    /// Settings of the log.
    pub(crate) log: log::LogRequest,
    /// `true` if the PVs of mate scores are checked.
    pub(crate) checks_mates: bool,
    /// Files that are emptied before the run writes to them.
    pub replaces: Vec<PathBuf>,
}

impl Style {
    /// Returns the default style of a program.
    fn new(program: Dialect) -> Style {
        let is_fastchess = program == Dialect::Fastchess;
        Style {
            dialect: program,
            program,
            penta: is_fastchess,
            rating_interval: if is_fastchess { 10 } else { 0 },
            score_interval: 1,
            save_interval: 20,
            ..Style::default()
        }
    }

    /// Returns whether the command line has the form of fastchess.
    fn is_fastchess(&self) -> bool {
        self.program == Dialect::Fastchess
    }

    /// Returns the log file, if any.
    pub fn log_file(&self) -> Option<&PathBuf> {
        self.log.file.as_ref()
    }

    /// Saves the identity and state of the run, so that this program or fastchess can resume the
    /// run.
    ///
    /// # Errors
    ///
    /// Returns a message if the file cannot be written or the path of this program is unknown.
    pub fn save(
        &self,
        run: &str,
        results: &Path,
        plan: &Plan,
        counts: &RunCounts,
    ) -> Result<(), String> {
        let Some(path) = &self.saved_in else { return Ok(()) };
        saved::write_with_identity(path, run, results, foreign::to_fastchess(plan, self, counts)?)
    }
}
