//! Request for a run, from flags and the settings file.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;

use crate::{
    build_args::BuildArgs, fleet::ClusterArgs, metrics::MetricsArgs, output::OutputFormat,
};
use arbiter_compat::Style;
use arbiter_names::is_hidden;
use arbiter_plan::{Affinity, Request, RunKind};

/// Request for a run, from flags and the settings file.
#[derive(Debug, Default)]
pub(crate) struct RequestedRun {
    /// Kind of the run, determined by the subcommand.
    pub kind: RunKind,
    /// `true` if workers play.
    pub has_workers: bool,
    /// Settings of a new run.
    pub request: Request,
    /// Results folder.
    pub results: PathBuf,
    /// Flags that do not affect the games. If a run may be resumed, `resume` contains the name of
    /// this run, even if the flag is `--resume-or-start`.
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

/// Flags of a run that do not affect its games.
#[derive(Debug, Default, Args)]
pub(crate) struct RunArgs {
    /// Name of the run [default: kind and start time]
    #[arg(help_heading = "Run", long, value_name = "RUN")]
    pub name: Option<String>,
    /// Purpose of the run, in one line, for reports and `arbiter results log`
    #[arg(help_heading = "Run", long, value_name = "TEXT", value_parser = one_line)]
    pub about: Option<String>,
    /// Resume the interrupted run RUN (or latest) with its stored settings. Other flags must match
    /// these settings
    #[arg(help_heading = "Run", long, value_name = "RUN", conflicts_with = "name")]
    pub resume: Option<String>,
    /// Resume the run named by --name, or start it if it does not exist
    #[arg(help_heading = "Run", id = "or_start", long = "resume-or-start", requires = "name")]
    pub resume_or_start: bool,
    /// Start the engines, read the book, print the resolved plan and exit, without building
    /// revisions, playing games or writing files
    #[arg(help_heading = "Run", long, conflicts_with_all = ["resume", "or_start"])]
    pub dry_run: bool,
    /// Format of the result
    #[arg(help_heading = "Output", long, value_enum, default_value = "text")]
    pub format: OutputFormat,
    /// Also report each finished game
    #[arg(help_heading = "Output", short, long, conflicts_with = "quiet")]
    pub verbose: bool,
    #[command(flatten)]
    pub metrics: MetricsArgs,
    #[command(flatten)]
    pub build: BuildArgs,
    #[command(flatten)]
    pub cluster: ClusterArgs,
}

/// Maximum length of the purpose of a run, in characters.
const MAX_ABOUT: usize = 300;

/// Parses the purpose of a run, which must be one short line.
pub(crate) fn one_line(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err("expected a text".to_owned()),
        1..=MAX_ABOUT if text.chars().any(is_hidden) => {
            Err("expected one line, without control characters".to_owned())
        }
        1..=MAX_ABOUT => Ok(text.to_owned()),
        length => Err(format!("expected at most {MAX_ABOUT} characters, got {length}")),
    }
}
