//! `arbiter results list`: the runs of a store.

use std::cmp::Ordering;
use std::path::Path;

use clap::{Args, ValueEnum};
use regex_lite::Regex;

use super::narrowed;
use crate::failure::Failure;
use crate::output::{OutputFormat, Rows, print_result};
use arbiter_plan::RunKind;
use arbiter_process::folder_of;
use arbiter_report::{ListedRun, RunFilter, RunPhase, read_one, shown_run};
use arbiter_report::{run_pattern, runs_json, runs_table, stored_summary};
use arbiter_run::ControlCommand;
use arbiter_runner::{CONTROL_TIMEOUT, send_command};
use arbiter_settings::{Choices, one_of};
use arbiter_store::{RunHead, Store};

/// Flags of `arbiter results list`.
#[derive(Debug, Args, Default)]
pub(super) struct ListArgs {
    #[command(flatten)]
    wanted: RunFilterArgs,
    /// Sort key
    #[arg(long, value_enum, default_value = "started")]
    sort: SortKey,
}

/// Filter of runs.
#[derive(Debug, Clone, Args, Default)]
pub(super) struct RunFilterArgs {
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

/// Prints the list.
pub(super) fn list(store: &Store, args: &ListArgs, format: OutputFormat) -> Result<(), Failure> {
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
pub(super) fn listed(store: &Store, head: RunHead) -> ListedRun {
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
    pub(super) fn filter(&self) -> RunFilter {
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
pub(super) fn folder(store: &Store) -> &Path {
    folder_of(store.file())
}
