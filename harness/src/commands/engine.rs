//! `arbiter engine`: the bundled engine.

use clap::Args;

use crate::{bundled_engine, exit_code::ExitCode};

/// Arguments for Palimpsest.
#[derive(Debug, Args)]
pub(crate) struct EngineArgs {
    /// Arguments of `palimpsest`: none for UCI, or `bench`, `perft`, `eval`, `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Runs the engine in this process.
pub(crate) fn run(args: EngineArgs) -> ExitCode {
    let code = u8::try_from(bundled_engine::run(args.args)).ok();
    code.and_then(ExitCode::from_number).unwrap_or(ExitCode::Bug)
}
