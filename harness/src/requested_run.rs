//! A run as flags and the settings file request it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::{
    build_args::BuildArgs, fleet::ClusterArgs, metrics::MetricsArgs, output::OutputFormat,
};
use arbiter_compat::Style;
use arbiter_plan::{Affinity, Request};

/// Files that a run uses in addition to those of its plan.
#[derive(Debug, Clone, Default)]
pub(crate) struct OtherFiles {
    /// Settings files.
    pub read: Vec<PathBuf>,
    /// Log files.
    pub written: Vec<PathBuf>,
}

/// A run to resume, with the settings that may change; `None` keeps the stored value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resume {
    /// Name of the run.
    pub run: String,
    /// New path of the PGN file.
    pub pgn: Option<PathBuf>,
    /// New concurrency.
    pub concurrency: Option<usize>,
    /// New assignment of engines to processors.
    pub affinity: Option<Affinity>,
}

/// A run as requested by flags and the settings file.
#[derive(Debug, Default)]
pub(crate) struct RequestedRun {
    /// Settings of a new run.
    pub request: Request,
    /// Results folder.
    pub results: PathBuf,
    /// Name of the new run.
    pub name: Option<String>,
    /// Purpose of the run, in one line.
    pub about: Option<String>,
    /// The run to resume, instead of a new one.
    pub resume: Option<Resume>,
    /// `true` if a new run is started when there is no run to resume.
    pub may_start: bool,
    /// Names of the flags on the command line, without dashes.
    pub given: BTreeSet<String>,
    /// `true` to play nothing.
    pub is_dry_run: bool,
    /// Format of the result.
    pub format: OutputFormat,
    /// Files that the run uses in addition to those of its plan.
    pub files: OtherFiles,
    /// Output style of another program, in place of the live view and the result.
    pub compat: Option<Style>,
    /// Flags of builds.
    pub build: BuildArgs,
    /// Settings file named by a flag.
    pub config: Option<PathBuf>,
    /// Reference speed in nodes per second, if times are scaled.
    pub reference_nps: Option<f64>,
    /// `true` if the run first checks whether an engine can be tuned.
    pub is_probed: bool,
    /// Workers that play, if any.
    pub cluster: ClusterArgs,
    /// Address for serving metrics, if any.
    pub metrics: MetricsArgs,
    /// Concurrency from the command line, in games, or in pairs if workers play.
    pub concurrency: Option<usize>,
}
