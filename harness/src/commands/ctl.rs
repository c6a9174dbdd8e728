//! `arbiter ctl`: control of a run in another process.

use clap::Args;
use serde_json::Value;

use crate::output::{OutputFormat, Rows, print_result};
use crate::{failure::Failure, project::ResultsArg};
use arbiter_report::Table;
use arbiter_run::ControlCommand;
use arbiter_runner::{CONTROL_TIMEOUT, send_command};
use arbiter_store::{RunLock, Store};

/// Flags of `arbiter ctl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Commands:
  pause          start no new pairs; finish those in progress
  resume         start new pairs again
  drain          finish the pairs in progress, then stop; the run ends with exit code 75
                 and can be resumed
  stop           as drain, but discard the pairs in progress and stop immediately
  concurrency N  play N games in parallel; if fewer than before, pairs in progress are finished first
  status         state and figures of the run
  boards         status with the games in progress, as JSON

Commands affect only the current process; a resumed run starts with the planned settings.

Exit codes: 0 on success; 2 for usage errors, 3 if the run is not being played or refuses the
command.")]
pub(crate) struct CtlArgs {
    /// Name of the run, or latest
    run: String,
    /// Command, as listed below
    #[arg(required = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    results: ResultsArg,
    /// Format of the reply; all formats but text contain the figures of the run after the command
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
}

/// Runs the command.
pub(crate) fn run(args: &CtlArgs) -> Result<(), Failure> {
    RunLock::check_name(&args.run)?;
    let command: ControlCommand = args.command.join(" ").parse().map_err(Failure::invalid)?;
    let is_text = args.format == OutputFormat::Text;
    let results = args.results.folder()?;
    let store = Store::open(&results)?;
    let run = &store.named(&args.run)?;
    let answer = send_command(&results, run, command, !is_text, CONTROL_TIMEOUT);
    let answer = answer.or_else(|error| {
        // A misspelt name causes the same error as a run that is not being played. A look-up in the
        // store distinguishes the two cases.
        store.run(run)?;
        Err(Failure::invalid(error))
    })?;
    if is_text {
        return print_result(&answer);
    }
    let mut figures: Value = serde_json::from_str(&answer)
        .map_err(|error| Failure::invalid(format!("unexpected reply from run '{run}': {error}")))?;
    // In CSV, each board is a row.
    let has_boards = command == ControlCommand::Boards && args.format == OutputFormat::Csv;
    if has_boards {
        figures = figures["boards"].take();
    }
    let rows = Rows { list: has_boards.then_some("shown"), first: &[] };
    let markdown = || table(&figures).markdown();
    print_result(&args.format.render(|| answer, markdown, || figures.clone(), rows))
}

/// Returns a table with the name and value of each figure.
fn table(figures: &Value) -> Table {
    let mut table = Table::new(["figure", "value"]);
    for (name, value) in figures.as_object().into_iter().flatten() {
        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        table.push([name, &shown]);
    }
    table
}
