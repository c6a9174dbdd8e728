//! `arbiter results`: what was played. Also prints the result of a run that just ended.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::args::{DEFAULT_RESULTS, Format};
use super::{ExitCode, Failure, emit};
use crate::report::run_list::{self, ListedRun};
use crate::report::summary::{Summary, Verdict};
use crate::report::{json, terminal};
use crate::run::event::Ending;
use crate::run::state::{Event, RunState};
use crate::store::{RunHead, Store, StoreError};

/// Flags of `arbiter results`.
#[derive(Debug, Args)]
pub struct ResultsArgs {
    /// Folder of the results store
    #[arg(long, value_name = "DIR", default_value = DEFAULT_RESULTS, global = true)]
    results: PathBuf,
    /// Form of the output
    #[arg(long, value_enum, default_value = "human", global = true)]
    format: Format,
    #[command(subcommand)]
    command: Option<ResultsCommand>,
}

#[derive(Debug, Subcommand)]
enum ResultsCommand {
    /// Lists all runs, oldest first; also done if nothing is said.
    List,
    /// Shows one run as it was shown at its end.
    Show {
        /// Name of the run
        run: String,
    },
}

/// Carries out the command.
pub fn results(args: ResultsArgs) -> ExitCode {
    match show(&args) {
        Ok(()) => ExitCode::Passed,
        Err(failure) => failure.report(),
    }
}

fn show(args: &ResultsArgs) -> Result<(), Failure> {
    let store = Store::open(&args.results)?;
    match &args.command {
        None | Some(ResultsCommand::List) => {
            let runs: Vec<ListedRun> = store.runs()?.into_iter().map(listed).collect();
            emit(&match args.format {
                Format::Human => run_list::text(&runs),
                Format::Json => run_list::json(&runs),
            })
        }
        Some(ResultsCommand::Show { run }) => print(&stored_summary(&store, run)?, args.format),
    }
}

/// Prints a summary on standard output.
pub fn print(summary: &Summary, format: Format) -> Result<(), Failure> {
    emit(&match format {
        Format::Human => terminal::render(summary),
        Format::Json => json::render(summary),
    })
}

/// The exit code that a run's end deserves.
pub fn exit_code(summary: &Summary, terminated: bool) -> ExitCode {
    match (summary.ending, summary.verdict()) {
        (Some(Ending::Interrupted), _) if terminated => ExitCode::Terminated,
        (Some(Ending::Interrupted), _) => ExitCode::Interrupted,
        _ if summary.is_invalid() => ExitCode::Faulty,
        (_, Verdict::H1 | Verdict::None) => ExitCode::Passed,
        (_, Verdict::H0) => ExitCode::Negative,
        (_, Verdict::Inconclusive) => ExitCode::Inconclusive,
    }
}

/// The summary of a stored run, from the same events that made it.
fn stored_summary(store: &Store, run: &str) -> Result<Summary, StoreError> {
    let stored = store.run(run)?;
    let mut state = RunState::new(u64::MAX, stored.plan.sprt);
    for tally in store.tallies(run)? {
        state.apply(Event::Committed(tally));
    }
    let ending = state.ending().or(stored.head.ending);
    Ok(Summary::new(run, &stored.plan, state.standing(), state.look(), ending))
}

fn listed(head: RunHead) -> ListedRun {
    let begun = jiff::Timestamp::from_millisecond(head.created_ms).unwrap_or_default();
    ListedRun {
        run: head.run,
        begun: begun.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        pairs: head.pairs,
        ending: head.ending,
    }
}
