//! Tools behind the pictures and tables of `docs/programs` and `results`:
//! `cargo run --release -p palimpsest --example studies -- --help`.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a program of its own")]

mod board;
mod stages;
mod topics;
mod trace;

use std::process::ExitCode;

use clap::Parser;
use palimpsest::search::Personality;

/// Tools behind the pictures and tables of docs/programs and results
#[derive(Parser)]
#[command(name = "studies")]
enum Study {
    Board(board::BoardArgs),
    Stages(stages::StagesArgs),
    Topics(topics::TopicsArgs),
    Trace(trace::TraceArgs),
}

/// Runs a study and prints its output. The exit code is 1 if the input is invalid.
fn main() -> ExitCode {
    let done = match Study::parse() {
        Study::Board(args) => board::run(&args),
        Study::Stages(args) => stages::run(&args),
        Study::Topics(args) => Ok(topics::run(&args)),
        Study::Trace(args) => trace::run(&args),
    };
    match done {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(reason) => {
            eprintln!("studies: {reason}");
            ExitCode::FAILURE
        }
    }
}

/// Returns the personality with this name; the error lists the known names.
fn personality(name: &str) -> Result<Personality, String> {
    let known = Personality::ALL.map(Personality::name).join(", ");
    Personality::from_name(name).ok_or_else(|| format!("expected one of {known}"))
}
