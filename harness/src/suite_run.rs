//! Execution of suites of positions: flags, engines and progress; and the start of single engines.

#[cfg(feature = "cluster")]
mod remote;

#[cfg(feature = "cluster")]
pub(crate) use remote::run_on_workers;

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use indicatif::ProgressBar;
use schemars::JsonSchema;
use serde::Serialize;

use crate::build_args::BuildArgs;
use crate::engine_builds::{BuildContext, engine_spec, setup};
use crate::failure::Failure;
use crate::fleet::{ClusterArgs, Fleet};
use crate::output::{file_name, progress};
use crate::runtime::{runtime, until_signal};
use arbiter_game::engine::EngineSetup;
use arbiter_openings::read_packed;
use arbiter_plan::{Engine, EngineSpec, resolve_engine};
use arbiter_process::decoded;
use arbiter_protocol::{Deadlines, Limits, Protocol, parse_seconds};
use arbiter_report::EngineLocation;
use arbiter_runner::{ask_engine, check_suite_engines};
use arbiter_settings::at_least_one;
use arbiter_suite::{Answers, Suite, SuiteError, Task, run_suite};

/// Maximum number of unusable lines that are listed if no line is usable.
const NAMED: usize = 5;

/// Progress of a suite, for the error message after a signal.
const UNFINISHED: &str = "before the end of the suite";

/// Flags of `perft` and `epd`.
#[derive(Debug, Args)]
pub(crate) struct SuiteArgs {
    /// Engines, as described below; the first is compared with each other engine
    #[arg(value_name = "ENGINE", required_unless_present_any = ["engine", "dev", "base"], conflicts_with_all = ["dev", "base"])]
    engines: Vec<String>,
    /// Additional engine, after the engines given as arguments; may be repeated
    #[arg(help_heading = "Engines", long, value_name = "SPEC", conflicts_with_all = ["dev", "base"])]
    engine: Vec<String>,
    /// File with the suite
    #[arg(long, value_name = "FILE")]
    pub suite: PathBuf,
    /// Treat all positions as Chess960 [default: only where castling rights require Chess960]
    #[arg(long)]
    chess960: bool,
    #[command(flatten)]
    pub query: QueryArgs,
    #[command(flatten)]
    pub build: BuildArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
}

/// Concurrency and deadline of the queries to engines.
#[derive(Debug, Args)]
pub(crate) struct QueryArgs {
    /// Number of positions in parallel [default: 1]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    concurrency: Option<usize>,
    /// Timeout for replies to commands without a time limit, in seconds
    #[arg(long, value_name = "SEC", value_parser = parse_seconds, default_value = "600")]
    pub deadline: Duration,
}

impl QueryArgs {
    /// Returns the number of concurrent queries on this machine.
    pub(crate) fn concurrency(&self) -> usize {
        self.concurrency.unwrap_or(1)
    }
}

impl SuiteArgs {
    /// Returns the engines of the command line, without --dev and --base.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &String> {
        self.engines.iter().chain(&self.engine)
    }

    /// Returns all engines. Builds the engines that are revisions, and runs the bench of each built
    /// engine in as many parallel copies as there are concurrent queries. `limits` apply to engines
    /// without limits.
    pub(crate) fn engines(&self, limits: Limits) -> Result<Vec<Engine>, Failure> {
        engines(self.specs(), &self.build, self.query.concurrency(), limits)
    }

    /// Returns the workers that run the suite; `None` if the suite runs on this machine.
    pub(crate) fn fleet(&mut self) -> Result<Option<Fleet>, Failure> {
        std::mem::take(&mut self.cluster).fleet(self.query.concurrency)
    }

    /// Reads the file with `parse`. Fails if the suite has no usable position.
    pub(crate) fn read<T>(&self, parse: fn(&str, bool) -> Suite<T>) -> Result<Suite<T>, Failure> {
        let failed = |error| Failure::invalid(format!("{}: {error}", self.suite.display()));
        let text = decoded(&read_packed(&self.suite).map_err(failed)?);
        let suite = parse(&text, self.chess960);
        if !suite.cases.is_empty() {
            return Ok(suite);
        }
        let faults = suite.unusable.iter().take(NAMED);
        let reasons: String =
            faults.map(|fault| format!("\n  line {}: {}", fault.line, fault.reason)).collect();
        let message = format!("{}: no usable position{reasons}", self.suite.display());
        Err(Failure::nothing_to_run(message))
    }

    /// Returns the name of the suite in reports.
    pub(crate) fn name(&self) -> String {
        file_name(&self.suite)
    }
}

fn engines<'a>(
    specs: impl Iterator<Item = &'a String>,
    build: &BuildArgs,
    copies: usize,
    limits: Limits,
) -> Result<Vec<Engine>, Failure> {
    let each = EngineSpec { limits, ..EngineSpec::default() };
    let typed = specs.map(|text| engine_spec("engine", text));
    let typed = typed.collect::<Result<_, Failure>>()?;
    let context = BuildContext { each: each.clone(), copies, ..BuildContext::default() };
    let common = each.clone();
    let check = Box::new(move |engines| resolved(engines, &common).map(drop));
    resolved(build.prepare(typed, context, Some(check))?.engines, &each)
}

/// Resolves specifications to engines; fails if two engines have the same name.
fn resolved(specs: Vec<EngineSpec>, each: &EngineSpec) -> Result<Vec<Engine>, Failure> {
    let mut engines: Vec<Engine> = Vec::new();
    for (index, spec) in specs.into_iter().enumerate() {
        let engine = resolve_engine(index, spec.or(each)).map_err(Failure::invalid)?;
        if engines.iter().any(|other| other.name == engine.name) {
            let message = format!("two engines are named '{}'; give one a name=", engine.name);
            return Err(Failure::invalid(message));
        }
        engines.push(engine);
    }
    Ok(engines)
}

/// Returns the engine of a command with a single engine, without running the bench of the engine.
pub(crate) fn engine(spec: &str) -> Result<Engine, Failure> {
    let build = BuildArgs { no_bench: true, ..BuildArgs::default() };
    Ok(engines([&spec.to_owned()].into_iter(), &build, 1, Limits::default())?.remove(0))
}

/// Properties that an engine reports; absent if it does not reply.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Answer {
    /// Protocol of the engine.
    pub(crate) protocol: Protocol,
    /// Name that the engine reports for itself.
    pub(crate) declared_name: String,
    /// Number of the engine's options.
    pub(crate) options: usize,
}

/// Starts an engine, and returns the properties that the engine reports.
pub(crate) fn answer(engine: &Engine) -> Result<Answer, Failure> {
    let setup = setup(engine)?;
    let properties = ask_engine(&setup, |session| Answer {
        protocol: if session.is_uci() { Protocol::Uci } else { Protocol::Xboard },
        declared_name: session.engine_name().unwrap_or(&engine.name).to_owned(),
        options: session.options().len(),
    });
    Ok(runtime()?.block_on(properties)?)
}

/// Starts each engine once as a check, and then runs all tasks, with a progress bar on standard
/// error. `on_answer` receives each answer when it arrives; an error of `on_answer` ends the suite.
pub(crate) fn run_tasks<T: Task>(
    args: &QueryArgs,
    engines: &[Engine],
    needs_chess960: bool,
    tasks: Vec<T>,
    mut on_answer: impl FnMut(usize, &Result<T::Output, String>) -> Result<(), String>,
) -> Result<Answers<T::Output>, Failure> {
    let setups = setups(engines, args.deadline)?;
    let bar = bar(tasks.len() as u64);
    let mut faults = 0;
    let work = async {
        check_suite_engines(&setups, needs_chess960).await?;
        let observe = |index, answer: &Result<T::Output, String>| {
            bar.inc(1);
            if answer.is_err() {
                faults += 1;
                bar.set_message(format!("{faults} faults"));
            }
            on_answer(index, answer).map_err(SuiteError::Environment)
        };
        let answers = run_suite(setups.clone(), tasks, args.concurrency(), observe).await;
        answers
            .map_err(|error| Failure::classify(matches!(error, SuiteError::Environment(_)), error))
    };
    let answers = runtime()?.block_on(until_signal(work, UNFINISHED));
    bar.finish_and_clear();
    answers
}

/// Results of tasks, each with a suffix that names the worker in messages about faults.
pub(crate) type NamedResults<T> = Vec<(Result<T, String>, String)>;

/// Runs the tasks of a suite on this machine.
pub(crate) fn run_here<T: Task>(
    args: &QueryArgs,
    engines: &[Engine],
    needs_chess960: bool,
    tasks: Vec<T>,
) -> Result<(NamedResults<T::Output>, EngineLocation), Failure> {
    let answers = run_tasks(args, engines, needs_chess960, tasks, |_, _| Ok(()))?;
    let named = answers.into_iter().map(|answer| (answer, String::new()));
    Ok((named.collect(), EngineLocation::here(args.concurrency())))
}

/// Returns a progress bar for `positions` queries.
fn bar(positions: u64) -> ProgressBar {
    progress(positions, "{bar:40} {pos}/{len} {msg} {eta}")
}

/// Returns the setups of the engines, with `deadline` as the timeout of answers.
fn setups(engines: &[Engine], deadline: Duration) -> Result<Vec<EngineSetup>, Failure> {
    let deadlines = Deadlines { bestmove: deadline, ..Deadlines::default() };
    engines.iter().map(|engine| Ok(EngineSetup { deadlines, ..setup(engine)? })).collect()
}
