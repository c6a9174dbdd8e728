//! The `arbiter` binary.

use std::process::ExitCode;

use arbiter::cli::Cli;
use clap::Parser;

fn main() -> ExitCode {
    Cli::parse().run().into()
}
