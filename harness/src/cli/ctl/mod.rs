//! `arbiter ctl`: steers a run that another process plays.

mod server;
mod socket;

pub use server::Server;

use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::args::DEFAULT_RESULTS;
use super::run_lock::RunLock;
use super::{ExitCode, Failure, emit};
use crate::run::control::Command;

/// How long a run may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// Flags of `arbiter ctl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Commands:
  pause          start no more pairs; those in flight are played to their end
  resume         start pairs again
  drain          play the pairs in flight to their end, then stop; the run ends with exit code 75
                 and can be resumed
  concurrency N  play N games at once; when fewer, pairs in flight are played to their end first
  status         how the run stands

All of it holds for the process that plays the run; a resumed run starts as it was planned.

Exit codes: 0 if done; 2 for bad usage, 3 if the run is not being played or refuses.")]
pub struct CtlArgs {
    /// Name of the run
    run: String,
    /// What to do
    #[arg(required = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// Folder of the results store
    #[arg(long, value_name = "DIR", default_value = DEFAULT_RESULTS)]
    results: PathBuf,
    /// Print how the run stands afterwards as one JSON object
    #[arg(long)]
    json: bool,
}

/// Carries out the command.
pub fn ctl(args: &CtlArgs) -> ExitCode {
    match ask(args).and_then(|answer| emit(&answer)) {
        Ok(()) => ExitCode::Passed,
        Err(failure) => failure.report(),
    }
}

fn ask(args: &CtlArgs) -> Result<String, Failure> {
    RunLock::check_name(&args.run)?;
    let command: Command = args.command.join(" ").parse().map_err(Failure::invalid)?;
    let mut stream = socket::connect(&args.results, &args.run).map_err(|error| {
        let reason = match error.kind() {
            ErrorKind::NotFound | ErrorKind::ConnectionRefused => "is not being played".to_owned(),
            _ => format!("cannot be reached: {error}"),
        };
        let place = args.results.display();
        Failure::invalid(format!("run '{}' in {place} {reason}", args.run))
    })?;
    let fail = |error: std::io::Error| {
        Failure::invalid(format!("run '{}' does not answer: {error}", args.run))
    };
    stream.set_read_timeout(Some(PATIENCE)).map_err(fail)?;
    let form = if args.json { " json" } else { "" };
    stream.write_all(format!("{command}{form}\n").as_bytes()).map_err(fail)?;
    stream.shutdown(Shutdown::Write).map_err(fail)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(fail)?;
    match answer.split_once(": ") {
        Some(("ok", words)) => Ok(words.to_owned()),
        Some(("error", words)) => Err(Failure::invalid(words.trim_end())),
        _ => Err(Failure::invalid(format!("run '{}' ended before it answered", args.run))),
    }
}
