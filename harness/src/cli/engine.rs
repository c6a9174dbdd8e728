//! `arbiter engine`: the bundled engine. The only file that knows Palimpsest.

use clap::Args;

use super::ExitCode;

/// Arguments for Palimpsest.
#[derive(Debug, Args)]
pub struct EngineArgs {
    /// What `palimpsest` takes: nothing for UCI, or `bench`, `perft`, `eval`, `compare`, `--help`.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<String>,
}

/// Runs the engine in this process.
pub fn engine(args: EngineArgs) -> ExitCode {
    match palimpsest::run(args.args.into_iter()) {
        0 => ExitCode::Passed,
        1 => ExitCode::Negative,
        2 => ExitCode::Usage,
        3 => ExitCode::Invalid,
        7 => ExitCode::Environment,
        _ => ExitCode::Bug,
    }
}
