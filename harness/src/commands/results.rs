//! `arbiter results`: what was played. Also prints the result of a run that just ended.

mod keep;
mod list;
mod log;
mod verify;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::{
    ExitCode, Failure, OutputFormat, ResultsArg, Rows, emit, one_line, run::result::print,
};
use arbiter_report::{gates_json, gates_table, shown_run, stored_summary};
use arbiter_store::{Store, StoredGate};

/// Flags of `arbiter results`.
#[derive(Debug, Args)]
pub(crate) struct ResultsArgs {
    /// Folder of the results store; for `log` it may be repeated [default: that of arbiter.toml, else
    /// results, here or in a folder above this one in the repository]
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
    /// Lists the runs, newest first; also done if nothing is said.
    List(list::ListArgs),
    /// Lists what became of the steps of `arbiter ci`, oldest first.
    Gates {
        /// Only this step
        #[arg(long, value_name = "NAME")]
        step: Option<String>,
    },
    /// Shows one run as it was shown at its end.
    Show {
        /// Name of the run, or latest
        run: String,
    },
    /// Makes the log of tests: one row for each SPRT, oldest first, with what was tried, the commits,
    /// the bounds and limits, the counts, Elo, LLR and verdict. The same stores give the same log.
    Log(log::LogArgs),
    /// Removes runs with all their games from the store, but none that is being played.
    Rm(keep::RemoveArgs),
    /// Removes old runs; without --yes it only says which.
    Prune(keep::PruneArgs),
    /// Writes a run with all its games to a file, for another store.
    Export(keep::ExportArgs),
    /// Brings the run of such a file into the store; all of it is checked.
    Import(keep::ImportArgs),
    /// Checks that what is stored is what was written: the checksums of all runs, pairs and games, and the
    /// file as SQLite checks it. Exit code 7 if anything is damaged.
    Verify {
        /// Only this run, or latest
        run: Option<String>,
    },
    /// Says in one line what a run tries, as --about does at its start.
    About {
        /// Name of the run, or latest
        run: String,
        /// The text
        #[arg(value_parser = one_line)]
        text: String,
    },
}

/// Carries out the command.
pub(crate) fn run(args: &ResultsArgs) -> Result<(), Failure> {
    let folders = match args.results.is_empty() {
        true => vec![ResultsArg::default().folder()?],
        false => args.results.clone(),
    };
    let folder = || match &folders[..] {
        [folder] => Ok(folder),
        _ => {
            let message = "several --results are for `arbiter results log` only";
            Err(Failure::new(ExitCode::Usage, message))
        }
    };
    let store = || -> Result<Store, Failure> { Ok(Store::open(folder()?)?) };
    match &args.command {
        None => list::list(&store()?, &list::ListArgs::default(), args.format),
        Some(ResultsCommand::List(wanted)) => list::list(&store()?, wanted, args.format),
        Some(ResultsCommand::Gates { step }) => {
            emit(&history(&store()?.gates(step.as_deref())?, args.format))
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
        Some(ResultsCommand::Verify { run }) => verify::verify(&store()?, run.as_deref()),
        Some(ResultsCommand::About { run, text }) => {
            let store = store()?;
            Ok(store.set_about(&store.named(run)?, Some(text))?)
        }
    }
}

fn history(gates: &[StoredGate], format: OutputFormat) -> String {
    let first = ["begun", "step", "verdict", "test", "base", "kind", "seconds"];
    let rows = Rows { list: Some("gates"), first: &first };
    format.of_table(gates_table(gates), || gates_json(gates), rows)
}
