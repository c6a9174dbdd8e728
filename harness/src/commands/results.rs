//! `arbiter results`: the stored runs.

mod keep;
mod log;

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use regex_lite::Regex;

use crate::output::{OutputFormat, Rows, print_result};
use crate::{
    failure::Failure, output::width, project::ResultsArg, run::result::print, run_args::one_line,
};
use arbiter_names::quantity;
use arbiter_plan::RunKind;
use arbiter_process::folder_of;
use arbiter_report::{
    ListedRun, RunFilter, RunPhase, Table, check_stored, gates_json, gates_table, read_one,
    run_pattern, runs_json, runs_table, shown_run, stored_summary,
};
use arbiter_run::ControlCommand;
use arbiter_runner::{CONTROL_TIMEOUT, send_command};
use arbiter_settings::{Choices, one_of};
use arbiter_store::{RunHead, Store, StoreError};

/// Terminal width, in characters, below which some columns of wide tables are omitted.
const WIDE: usize = 120;

/// Flags of `arbiter results`.
#[derive(Debug, Args)]
pub(crate) struct ResultsArgs {
    /// Folder of the results store; may be repeated for `log` [default: as set in arbiter.toml,
    /// else the nearest results/ with a store]
    #[arg(long, value_name = "DIR", global = true)]
    results: Vec<PathBuf>,
    /// Format of the output
    #[arg(long, value_enum, default_value = "text", global = true)]
    format: OutputFormat,
    #[command(subcommand)]
    command: Option<ResultsCommand>,
}

#[derive(Debug, Subcommand)]
enum ResultsCommand {
    /// List the runs, newest first (the default).
    List(ListArgs),
    /// List the results of the gates of `arbiter ci`, oldest first.
    Gates {
        /// List only the gate with this name
        #[arg(long, value_name = "NAME")]
        gate: Option<String>,
    },
    /// Show the result of a run, as printed at its end.
    Show {
        /// Name of the run, or latest
        run: String,
    },
    /// Write the log of tests: one row for each SPRT, oldest first, with purpose, commits, bounds,
    /// limits, counts, Elo, LLR and verdict. The same stores give the same log.
    Log(log::LogArgs),
    /// Remove runs with all their games from the store; runs in progress cannot be removed.
    Rm(keep::RemoveArgs),
    /// Remove old runs; without --yes, only list them.
    Prune(keep::PruneArgs),
    /// Export a run with all its games to a file, for import into another store.
    Export(keep::ExportArgs),
    /// Check an exported file, and import its run into the store.
    Import(keep::ImportArgs),
    /// Verify that the store is undamaged: check the checksums of all runs, pairs and games, and
    /// run SQLite's integrity check. The exit code is 7 if anything is damaged.
    Verify {
        /// Name of a run, or latest [default: all]
        run: Option<String>,
    },
    /// Set the purpose of a run, in one line, as --about does when a run starts.
    About {
        /// Name of the run, or latest
        run: String,
        /// Purpose of the run
        #[arg(value_parser = one_line)]
        text: String,
    },
}

/// Flags of `arbiter results list`.
#[derive(Debug, Args, Default)]
struct ListArgs {
    #[command(flatten)]
    wanted: RunFilterArgs,
    /// Sort key
    #[arg(long, value_enum, default_value = "started")]
    sort: SortKey,
}

/// Filter of runs.
#[derive(Debug, Clone, Args, Default)]
struct RunFilterArgs {
    /// List only runs whose name, engines, --about or state matches REGEX, ignoring case
    #[arg(long, value_name = "REGEX", value_parser = run_pattern)]
    filter: Option<Regex>,
    /// List only runs in this state
    #[arg(long, value_parser = one_of(PHASES))]
    state: Option<RunPhase>,
    /// List only runs of this kind: sprt, match, tournament, ablate, tune
    #[arg(long)]
    kind: Option<RunKind>,
    /// List only runs with the engine NAME
    #[arg(long, value_name = "NAME")]
    engine: Option<String>,
}

const PHASES: &Choices<RunPhase> = &[
    (RunPhase::Running, "Being played"),
    (RunPhase::Ended, "Complete, or decided"),
    (RunPhase::Unfinished, "Interrupted or killed; can be resumed with --resume RUN"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum SortKey {
    /// Newest first
    #[default]
    Started,
    /// Alphabetically by name
    Name,
    /// Most games first
    Games,
    /// Highest Elo first
    Elo,
    /// Highest LLR first
    Llr,
    /// By state
    State,
}

/// Runs the command.
pub(crate) fn run(args: &ResultsArgs) -> Result<(), Failure> {
    let folders = match &args.results[..] {
        [] => vec![ResultsArg::default().folder()?],
        given => given.to_vec(),
    };
    let folder = || match &folders[..] {
        [folder] => Ok(folder),
        _ => Err(Failure::usage("only `arbiter results log` takes several --results")),
    };
    let store = || -> Result<Store, Failure> { Ok(Store::open(folder()?)?) };
    match &args.command {
        None => list(&store()?, &ListArgs::default(), args.format),
        Some(ResultsCommand::List(wanted)) => list(&store()?, wanted, args.format),
        Some(ResultsCommand::Gates { gate }) => {
            let gates = store()?.gates(gate.as_deref())?;
            let first = &["started", "gate", "verdict", "dev", "base", "kind", "seconds"];
            let rows = Rows { list: Some("gates"), first };
            print_result(&args.format.of_table(gates_table(&gates), || gates_json(&gates), rows))
        }
        Some(ResultsCommand::Show { run }) => {
            let store = store()?;
            let stored = shown_run(&store, &store.named(run)?)?;
            print(&store, &stored_summary(&store, &stored)?, args.format)
        }
        Some(ResultsCommand::Log(wanted)) => log::log(&folders, wanted, args.format),
        Some(ResultsCommand::Rm(wanted)) => keep::remove(&store()?, wanted),
        Some(ResultsCommand::Prune(wanted)) => keep::prune(&store()?, wanted),
        Some(ResultsCommand::Export(wanted)) => keep::export(&store()?, wanted),
        Some(ResultsCommand::Import(wanted)) => keep::import(folder()?, wanted),
        Some(ResultsCommand::Verify { run }) => verify(&store()?, run.as_deref()),
        Some(ResultsCommand::About { run, text }) => {
            let store = store()?;
            Ok(store.set_about(&store.named(run)?, Some(text))?)
        }
    }
}

/// Returns the table, without the columns `omitted` if the terminal is narrow.
fn narrowed(table: Table, omitted: &[&str]) -> Table {
    if width().is_some_and(|width| width < WIDE) {
        omitted.iter().fold(table, |table, column| table.without(column))
    } else {
        table
    }
}

/// Prints the list.
fn list(store: &Store, args: &ListArgs, format: OutputFormat) -> Result<(), Failure> {
    // The runs are listed newest first; the stable sort keeps this order for equal keys.
    let heads = store.runs()?;
    if heads.is_empty() && format == OutputFormat::Text {
        return print_result(&format!("{}\n", store.empty()));
    }
    let runs = heads.into_iter().rev().map(|head| listed(store, head));
    let filter = args.wanted.filter();
    let mut runs: Vec<ListedRun> = runs.filter(|run| filter.holds(run)).collect();
    runs.sort_by(|one, other| args.sort.compare(one, other));
    let rows = Rows { list: None, first: &ListedRun::FIRST };
    let mut table = runs_table(&runs);
    if format == OutputFormat::Text {
        table = narrowed(table, &["kind", "limits"]);
    }
    print_result(&format.of_table(table, || runs_json(&runs), rows))
}

/// Returns a run for the list: its summary, or the reason why the run cannot be read.
fn listed(store: &Store, head: RunHead) -> ListedRun {
    let mut summary = read_one(|| stored_summary(store, &shown_run(store, &head.run)?));
    if let Some(summary) = summary.as_mut().ok().filter(|summary| summary.ending.is_none()) {
        let status = ControlCommand::Status;
        summary.is_played =
            send_command(folder(store), &head.run, status, false, CONTROL_TIMEOUT).is_ok();
    }
    ListedRun { head, summary }
}

impl RunFilterArgs {
    /// Returns the filter that the flags describe.
    fn filter(&self) -> RunFilter {
        let RunFilterArgs { filter, state, kind, engine } = self.clone();
        RunFilter { pattern: filter, phase: state, kind, engine }
    }
}

impl SortKey {
    fn compare(self, one: &ListedRun, other: &ListedRun) -> Ordering {
        let [a, b] = [one, other].map(|run| run.summary.as_ref().ok());
        let most = |figure: [Option<f64>; 2]| {
            let [a, b] = figure.map(|figure| figure.unwrap_or(f64::NEG_INFINITY));
            b.total_cmp(&a)
        };
        match self {
            SortKey::Started => Ordering::Equal,
            SortKey::Name => one.head.run.cmp(&other.head.run),
            SortKey::Games => most([a, b].map(|run| Some(run?.counts.games() as f64))),
            SortKey::Elo => most([a, b].map(|run| Some(run?.duel()?.elo?.value))),
            SortKey::Llr => most([a, b].map(|run| Some(run?.test()?.1.llr))),
            SortKey::State => one.state_text().cmp(&other.state_text()),
        }
    }
}

/// Returns the folder that contains the store.
fn folder(store: &Store) -> &Path {
    folder_of(store.file())
}

/// Verifies one run or all runs, and the file of the store. Prints the result for each run, and all
/// damage.
fn verify(store: &Store, run: Option<&str>) -> Result<(), Failure> {
    let runs = match run {
        Some(word) => vec![store.named(word)?],
        None => store.runs()?.into_iter().map(|head| head.run).collect(),
    };
    let mut text = String::new();
    let mut damaged = 0;
    let mut add = |label: String, found: Vec<String>| {
        let verdict = if found.is_empty() { "sound" } else { "damaged" };
        text += &format!("{label}: {verdict}\n");
        found.iter().for_each(|found| text += &format!("  {found}\n"));
        damaged += found.len();
    };
    for run in &runs {
        let mut checked = store.check_run(run)?;
        if checked.damaged.is_empty() {
            match check_stored(store, run) {
                Err(StoreError::Corrupt { what, .. }) => {
                    checked.damaged.push(format!("run '{run}': {what}"));
                }
                read => read?,
            }
        }
        let (pairs, games) = (quantity(checked.pairs, "pair"), quantity(checked.games, "game"));
        add(format!("run '{run}', {pairs}, {games}"), checked.damaged);
    }
    add(format!("{}, SQLite check", store.file().display()), store.check_file()?);
    print_result(&text)?;
    if damaged == 0 {
        return Ok(());
    }
    Err(Failure::environment(
        "the store is damaged\nhint: restore a copy, or remove damaged runs with `arbiter results \
         rm`; other runs can be exported",
    ))
}
