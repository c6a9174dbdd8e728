//! Request for a run, from flags and the settings file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::run_args::RunArgs;
use arbiter_compat::Style;
use arbiter_plan::{Affinity, Request};

/// Request for a run, from flags and the settings file.
#[derive(Debug, Default)]
pub(crate) struct RequestedRun {
    /// Settings of a new run.
    pub request: Request,
    /// Results folder.
    pub results: PathBuf,
    /// Flags that do not affect the games. If a run may be resumed, `resume` contains its name,
    /// even if the flag is `--resume-or-start`.
    pub flags: RunArgs,
    /// Names of the flags on the command line, and of the keys in the values of these flags,
    /// without dashes.
    pub given: BTreeSet<String>,
    /// Files from which settings were read.
    pub settings_files: Vec<PathBuf>,
    /// Output style of another program, which replaces the live view and the result.
    pub compat: Option<Style>,
    /// Settings file named by a flag.
    pub config: Option<PathBuf>,
    /// Reference speed in nodes per second, if times are scaled.
    pub reference_nps: Option<f64>,
    /// `true` if the run first checks whether an engine can be tuned.
    pub is_probed: bool,
    /// Concurrency from the command line, in games, or in pairs if workers play.
    pub concurrency: Option<usize>,
    /// New path of the PGN file, for a resumed run.
    pub pgn: Option<PathBuf>,
    /// New assignment of engines to processors, for a resumed run.
    pub affinity: Option<Affinity>,
}
