//! `arbiter results`: the stored runs.

mod keep;
mod list;
mod log;

use std::path::PathBuf;

use clap::{Args, Subcommand};

use crate::output::{OutputFormat, Rows, print_result};
use crate::{
    failure::Failure, output::width, project::ResultsArg, run::result::print, run_args::one_line,
};
use arbiter_names::quantity;
use arbiter_report::{Table, check_stored, gates_json, gates_table, shown_run, stored_summary};
use arbiter_store::{Store, StoreError};

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
    List(list::ListArgs),
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

/// Runs the command.
pub(crate) fn run(args: &ResultsArgs) -> Result<(), Failure> {
    let folders = if args.results.is_empty() {
        vec![ResultsArg::default().folder()?]
    } else {
        args.results.clone()
    };
    let folder = || match &folders[..] {
        [folder] => Ok(folder),
        _ => Err(Failure::usage("only `arbiter results log` takes several --results")),
    };
    let store = || -> Result<Store, Failure> { Ok(Store::open(folder()?)?) };
    match &args.command {
        None => list::list(&store()?, &list::ListArgs::default(), args.format),
        Some(ResultsCommand::List(wanted)) => list::list(&store()?, wanted, args.format),
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
