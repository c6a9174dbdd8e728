//! The command line. Without arguments, the program starts a UCI session; with arguments, it runs a
//! tool.

mod bench;
mod datagen;
mod eval;
mod genfens;
mod perft;
mod train;
mod tune;

use std::fmt::Display;
use std::str::FromStr;
use std::thread;
use std::{io, iter};

use clap::{Parser, Subcommand};

use crate::chess::{Position, fen};
use crate::failure::Failure;
use crate::uci::{self, Output};

/// A chess engine. Without a command it speaks UCI on standard input and output
#[derive(Parser)]
#[command(name = "palimpsest", version, after_help = genfens::HELP)]
struct CommandLine {
    #[command(subcommand)]
    tool: Option<Tool>,
}

#[derive(Subcommand)]
enum Tool {
    Bench(bench::BenchArgs),
    #[command(visible_alias = "divide")]
    Perft(perft::PerftArgs),
    Eval(eval::EvalArgs),
    Datagen(datagen::DatagenArgs),
    Train(train::TrainArgs),
    Tune(tune::TuneArgs),
}

/// Runs a command line, given without the program name, and returns the exit code: 0 for success, 1
/// for a perft mismatch, 2 for invalid usage, 3 for invalid or unreadable input, 7 if memory, disk
/// space or CPU instructions are missing.
pub(crate) fn run(args: impl Iterator<Item = String>) -> i32 {
    let args: Vec<String> = args.collect();
    let output = Output::new(io::stdout());
    if let Some(request) = genfens::request(&args) {
        return exit_code(genfens::run(request, &output));
    }
    match CommandLine::try_parse_from(iter::once("palimpsest".to_owned()).chain(args)) {
        Ok(CommandLine { tool: None }) => uci::run(io::stdin().lock(), output),
        Ok(CommandLine { tool: Some(tool) }) => exit_code(tool.run(&output)),
        Err(message) => {
            // The error is ignored, because a closed standard output is not a failure of the
            // engine.
            let _gone = message.print();
            message.exit_code()
        }
    }
}

fn exit_code(done: Result<(), Failure>) -> i32 {
    done.map_or_else(Failure::report, |()| 0)
}

impl Tool {
    fn run(self, output: &Output) -> Result<(), Failure> {
        match self {
            Tool::Bench(args) => args.run(output),
            Tool::Perft(args) => args.run(output),
            Tool::Eval(args) => args.run(output),
            Tool::Datagen(args) => args.run(output),
            Tool::Train(args) => args.run(output),
            Tool::Tune(args) => args.run(output),
        }
    }
}

/// Returns a parser for numbers from `min` to `max`.
fn number<T>(min: T, max: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let number = text.parse().ok().filter(|number| (&min..=&max).contains(&number));
        number.ok_or_else(|| format!("expected a number from {min} to {max}"))
    }
}

/// Parses a FEN, given as separate words. Returns the starting position if there are no words.
fn position(words: &[String]) -> Result<Position, Failure> {
    let text = words.join(" ");
    if text.is_empty() {
        Ok(Position::startpos())
    } else {
        fen::parse(&text).map_err(Failure::input)
    }
}

/// Maximum number of threads of a tool.
const THREADS_MAX: usize = 256;

/// Returns the default number of threads of a tool: the number of processors, at most
/// [`THREADS_MAX`].
fn processors() -> usize {
    thread::available_parallelism().map_or(1, Into::into).min(THREADS_MAX)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn argument_definitions_are_consistent() {
        CommandLine::command().debug_assert();
        for line in [
            "palimpsest",
            "palimpsest bench 3",
            "palimpsest perft 2",
            "palimpsest eval",
            "palimpsest datagen a",
            "palimpsest train a b --out c --rate 0.0008 --results 0 --batch 64 --loss d.svg",
            "palimpsest tune a --pull 0.5",
        ] {
            // This call panics if the type of a field differs from the type that the parser of the
            // field returns.
            let found = CommandLine::try_parse_from(line.split_ascii_whitespace());
            assert!(found.is_ok(), "{line}");
        }
    }
}
