//! Execution of new and resumed runs.

mod execute;
mod json_lines;
mod messages;
mod preflight;
mod resume;
mod start;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::execute::execute;
pub(crate) use self::execute::print;
#[cfg(feature = "json-schema")]
pub(crate) use self::json_lines::Line;
pub(crate) use self::preflight::engine_files;
pub(crate) use self::resume::replay_stored;
use self::resume::resume_run;
use self::start::{dry_run, load_inputs, start_new_run, store_run};
pub(crate) use self::start::{make_engines, open_tables};
use crate::games_file::GamesFile;
use crate::output::OutputFormat;
use crate::requested_run::{RequestedRun, RunArgs};
use crate::{exit_code::ExitCode, failure::Failure};
use arbiter_compat::Style;
use arbiter_game::adjudicate::Tables;
use arbiter_game::engine::EngineSetup;
use arbiter_openings::Book;
use arbiter_plan::{Plan, RunKind};
use arbiter_run::RunState;
use arbiter_runner::OptionsFound;
use arbiter_store::{Fingerprints, RunLock, Store, StoreError};

/// Run that is ready to be played.
struct ReadyRun {
    name: String,
    plan: Plan,
    /// Inputs of the games; `None` if the run has ended.
    inputs: Option<Inputs>,
    store: Store,
    files: Vec<GamesFile>,
    state: RunState,
    results: PathBuf,
    format: OutputFormat,
    /// Output style of another program, which replaces the live view and the result.
    style: Option<Style>,
    /// Lock of the run for this process.
    _lock: RunLock,
}

/// Inputs of the games of a run.
struct Inputs {
    book: Book,
    tables: Option<Arc<dyn Tables>>,
    /// Setup of each engine.
    setups: Vec<EngineSetup>,
    /// Options that the preflight found for each engine.
    options: Vec<OptionsFound>,
}

/// Plan with the contents of its files, before anything is stored.
struct LoadedPlan {
    plan: Plan,
    fingerprints: Fingerprints,
    inputs: Inputs,
}

/// Plays the requested run and prints the result, or makes a dry run.
pub(crate) fn run_command(kind: RunKind, requested: RequestedRun) -> Result<ExitCode, Failure> {
    if requested.flags.dry_run {
        dry_run(RequestedRun { kind, ..requested }).map(|()| ExitCode::Passed)
    } else {
        play_and_name(kind, requested).map(|(_, code)| code)
    }
}

/// Plays the requested run, prints the result, and returns the name of the run and the exit code.
pub(crate) fn play_and_name(
    kind: RunKind,
    mut requested: RequestedRun,
) -> Result<(String, ExitCode), Failure> {
    let retry_hint =
        requested.flags.resume_or_start.then_some("run the same command again to continue");
    let fleet = std::mem::take(&mut requested.flags.cluster).fleet(requested.concurrency)?;
    if let Some(wanted) = &requested.flags.resume
        && requested.flags.resume_or_start
        && !run_exists(&requested.results, wanted)?
    {
        requested.flags.resume = None;
    }
    let endpoint = requested.flags.metrics.open()?;
    requested.kind = kind;
    requested.has_workers = fleet.is_some();
    let ready = match requested.flags.resume.take() {
        Some(run) => resume_run(&run, requested)?,
        None => start_new_run(requested)?,
    };
    let name = ready.name.clone();
    execute(ready, fleet, endpoint, retry_hint).map(|code| (name, code))
}

/// Returns whether a run with this name exists.
pub(crate) fn run_exists(results: &Path, run: &str) -> Result<bool, Failure> {
    match Store::open(results).and_then(|store| store.run(run)) {
        Ok(_) => Ok(true),
        Err(StoreError::NoRun { .. } | StoreError::Missing(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Plays a plan as a new run with this name.
pub(crate) fn play_plan(
    plan: Plan,
    results: &Path,
    name: String,
    about: &str,
    format: OutputFormat,
) -> Result<ExitCode, Failure> {
    let about = Some(about.to_owned());
    let new = RequestedRun {
        results: results.to_owned(),
        flags: RunArgs { name: Some(name), about, format, ..RunArgs::default() },
        ..RequestedRun::default()
    };
    execute(store_run(load_inputs(plan, false, None)?, new)?, None, None, None)
}
