//! `arbiter engine`: runs the bundled engine.

use clap::Args;

use crate::bundled_engine;
use crate::exit_code::ExitCode;

/// Arguments for Palimpsest.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// What `palimpsest` takes: nothing for UCI, or `bench`, `perft`, `eval`, `compare`, `trace`,
    /// `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Runs the engine in this process.
pub(crate) fn run(args: EngineArgs) -> ExitCode {
    match bundled_engine::run(args.args) {
        0 => ExitCode::Passed,
        1 => ExitCode::Negative,
        2 => ExitCode::Usage,
        3 => ExitCode::Invalid,
        7 => ExitCode::Environment,
        _ => ExitCode::Bug,
    }
}
