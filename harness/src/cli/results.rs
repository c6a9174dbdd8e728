//! `arbiter results`: what was played. Also prints the result of a run that just ended.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde::Serialize;

use super::args::{DEFAULT_RESULTS, Format};
use super::{ExitCode, fail};
use crate::report::summary::{Summary, Verdict};
use crate::report::{json, terminal};
use crate::run::state::{Ending, Event, RunState};
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
    command: ResultsCommand,
}

#[derive(Debug, Subcommand)]
enum ResultsCommand {
    /// Lists all runs, oldest first.
    List,
    /// Shows one run as it was shown at its end.
    Show {
        /// Name of the run
        run: String,
    },
}

/// Carries out the command.
pub fn results(args: ResultsArgs) -> ExitCode {
    let done = Store::open(&args.results).and_then(|store| match &args.command {
        ResultsCommand::List => {
            let runs = store.runs()?;
            match args.format {
                Format::Human => println!("{}", list_text(&runs)),
                Format::Json => println!("{}", list_json(&runs)),
            }
            Ok(())
        }
        ResultsCommand::Show { run } => {
            print(&stored_summary(&store, run)?, args.format);
            Ok(())
        }
    });
    match done {
        Ok(()) => ExitCode::Passed,
        Err(error @ (StoreError::NoRun(_) | StoreError::Missing(_))) => {
            fail(ExitCode::Invalid, error)
        }
        Err(error) => fail(ExitCode::Environment, error),
    }
}

/// Prints a summary on standard output.
pub fn print(summary: &Summary, format: Format) {
    match format {
        Format::Human => print!("{}", terminal::render(summary)),
        Format::Json => println!("{}", json::render(summary)),
    }
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
    Ok(Summary::new(run, &stored.plan, state.standing(), state.llr(), ending))
}

fn ending_word(ending: Option<Ending>) -> &'static str {
    match ending {
        Some(Ending::AcceptedH1) => "H1",
        Some(Ending::AcceptedH0) => "H0",
        Some(Ending::Complete) => "complete",
        Some(Ending::Interrupted) => "interrupted",
        None => "unfinished",
    }
}

fn list_text(runs: &[RunHead]) -> String {
    let mut builder = tabled::builder::Builder::default();
    builder.push_record(["run", "begun (UTC)", "pairs", "ending"]);
    for head in runs {
        let begun = jiff::Timestamp::from_millisecond(head.created_ms).unwrap_or_default();
        builder.push_record([
            head.run.clone(),
            begun.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            head.pairs.to_string(),
            ending_word(head.ending).to_owned(),
        ]);
    }
    builder.build().with(tabled::settings::Style::sharp()).to_string()
}

#[derive(Serialize)]
struct ListedRun<'a> {
    run: &'a str,
    created_ms: i64,
    pairs: u64,
    ending: &'static str,
}

fn list_json(runs: &[RunHead]) -> String {
    let list: Vec<ListedRun<'_>> = runs
        .iter()
        .map(|head| ListedRun {
            run: &head.run,
            created_ms: head.created_ms,
            pairs: head.pairs,
            ending: ending_word(head.ending),
        })
        .collect();
    serde_json::to_string_pretty(&list).expect("a list is numbers and text")
}
