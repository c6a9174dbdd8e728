//! The command line: without arguments a UCI session, otherwise one of a few tools.

use std::io::{self, Write as _};

use super::board;
use super::datagen;
use super::evaluation;
use super::genfens;
use super::output::Output;
use super::perft::{self, Failure};
use super::session;
use super::stages;
use super::trace;
use super::train;
use super::tune;
use crate::bench;
use crate::eval::Variant;
use crate::search::Signals;

const EXIT_MISMATCH: i32 = 1;
pub(super) const EXIT_USAGE: i32 = 2;
pub(super) const EXIT_INPUT: i32 = 3;
pub(super) const EXIT_ENVIRONMENT: i32 = 7;

/// Failure of a command: its exit code and its message.
pub(super) struct CommandError(pub(super) i32, pub(super) String);

/// Writes text to standard error. A reader that has gone away is not an error.
pub(super) fn complain(text: &str) {
    let _gone = writeln!(io::stderr(), "{text}");
}

/// Prints why a command failed, if it did, and returns its exit code.
pub(super) fn exit_code(done: Result<(), CommandError>) -> i32 {
    let Err(CommandError(code, reason)) = done else { return 0 };
    complain(&format!("palimpsest: {reason}"));
    code
}

const HELP: &str = "\
Usage: palimpsest                        speak UCI on standard input and output
       palimpsest bench [DEPTH]          search fixed positions; the node count is the signature
       palimpsest bench --eval           time every evaluation on positions from games
       palimpsest bench --stages [--personality NAME] [--variant NAME] [--disable FEATURES]
                        [--enable EXPERIMENTS] [--nodes N] [--only STAGE] [--json]
                                         search its positions to N nodes each, by stage of the game
                                         (opening, middlegame, endgame); how often the table of
                                         pawns knew them
       palimpsest perft DEPTH [FEN]      count leaves, by move and in total (also: divide)
       palimpsest perft --suite FILE [--max-nodes N]
                                         check positions with known counts up to N leaves each
           --threads N                   count with N threads
           --hash MB                     remember counts in a table of so many MiB
           --sliders plain|popcnt|pext|avx512
                                         use these instructions instead of the fastest
       palimpsest eval [--variant NAME] [--disable FEATURES] [--enable EXPERIMENTS] [--json]
                       [FEN | --positions FILE]
                                         the static evaluation, term by term; without --variant
                                         that written by hand, as a network has no terms
       palimpsest eval [--variant NAME] [--personality NAME] --features [--json]
                                         what can be switched off, by name: features of the
                                         evaluation, and with a personality those of its search
       palimpsest eval [--variant NAME] --experiments [--json]
                                         what the evaluation can be made to try, by name
       palimpsest compare NAME NAME [--markdown | --json] [--positions FILE]
                                         two evaluations side by side
       palimpsest compare --all [--markdown]
                                         which evaluation knows what: all of them side by side
       palimpsest board [--mark SQUARES] FEN
                                         a position as a picture (SVG), squares such as e4,f6 marked
       palimpsest trace [--personality NAME] [--fen FEN] [--moves MOVES] [--nodes N]
                        [--hash MB] [--json]
                                         a search, iteration by iteration; the one that passes N
                                         nodes is the last
       palimpsest datagen FILE [--positions N] [--nodes N] [--plies N] [--seed N]
                          [--walks N] [--variant NAME] [--threads N]
                                         positions to learn from, by games against itself with the
                                         network or the evaluation of --variant; with
                                         --walks N instead the ends of N random walks from every
                                         position of these games, with their static evaluations;
                                         a file that is not complete is continued
       palimpsest 'genfens N seed S book None' [quit]
                                         N random openings, as OpenBench asks for them
       palimpsest train FILE... --out FILE [--from FILE] [--epochs N] [--batch N] [--rate R]
                        [--results SHARE] [--seed N] [--threads N] [--loss FILE.svg]
                                         a network for Eval nnue from such positions, going on
                                         from that of --from; a training that was stopped is
                                         continued
       palimpsest tune FILE... [--out FILE] [--epochs N] [--batch N] [--rate CP] [--pull P]
                       [--patience N] [--threads N] [--seed N]
                                         weights for Eval palimpsest from positions with
                                         results, a line each: FEN;RESULT;GAME (arbiter samples
                                         writes them); --out is the source of the new table
       palimpsest --version
       palimpsest --help";

/// Runs a command line without the program name and returns the exit code: 0 for success, 1 for a
/// perft mismatch, 2 for wrong usage, 3 for unreadable input, 7 for want of memory.
pub fn run(args: impl Iterator<Item = String>) -> i32 {
    let args: Vec<String> = args.collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = Output::new(io::stdout());
    let usage = usage_of(words.first().copied().unwrap_or_default());
    match words.as_slice() {
        [] => session::run(io::stdin().lock(), output),
        ["help" | "--help" | "-h"] => {
            output.line(HELP);
            0
        }
        ["help", command] | [command, .., "--help" | "-h"] => {
            output.line(&usage_of(command));
            0
        }
        ["--version" | "-V"] => {
            output.line(concat!("palimpsest ", env!("CARGO_PKG_VERSION")));
            0
        }
        ["bench"] => run_bench(None, &output),
        ["bench", "--eval"] => {
            output.line(&bench::evaluations().to_string());
            0
        }
        ["bench", "--stages", words @ ..] => exit_code(stages::run(words, &output)),
        ["bench", depth] => match depth.parse() {
            Ok(depth) => run_bench(Some(depth), &output),
            Err(_) => misused(&usage),
        },
        ["perft" | "divide", words @ ..] => run_perft(words, &output, &usage),
        ["eval", words @ ..] => exit_code(evaluation::eval(words, &output, &usage)),
        ["board", words @ ..] => exit_code(board::run(words, &output)),
        ["trace", words @ ..] => exit_code(trace::run(words, &output, &usage)),
        ["datagen", words @ ..] => datagen::run(words, &output, &usage),
        [words, "quit"] | [words] if words.starts_with("genfens ") => genfens::run(words, &output),
        ["train", words @ ..] => train::run(words, &output, &usage),
        ["tune", words @ ..] => tune::run(words, &output, &usage),
        ["compare", words @ ..] => exit_code(evaluation::compare_variants(words, &output, &usage)),
        _ => misused(&usage),
    }
}

/// Returns the help of a command, or the whole help if there is no such command.
fn usage_of(command: &str) -> String {
    const INDENT: &str = "\n       palimpsest ";
    let command = if command == "divide" { "perft" } else { command };
    let is_of = |entry: &&str| entry.trim_start_matches('\'').split(' ').next() == Some(command);
    let entries: Vec<&str> = HELP.split(INDENT).filter(is_of).collect();
    match entries[..] {
        [] => HELP.to_owned(),
        _ => format!("Usage: palimpsest {}", entries.join(INDENT)),
    }
}

fn misused(usage: &str) -> i32 {
    complain(usage);
    EXIT_USAGE
}

fn run_bench(depth: Option<u32>, output: &Output) -> i32 {
    match bench::run(depth, Variant::default(), &Signals::default()) {
        Ok(result) => {
            output.line(&result.to_string());
            0
        }
        Err(error) => {
            complain(&format!("palimpsest: {error}"));
            EXIT_ENVIRONMENT
        }
    }
}

fn run_perft(words: &[&str], output: &Output, usage: &str) -> i32 {
    let request = match perft::Request::parse(words) {
        Ok(request) => request,
        Err(reason) => {
            complain(&format!("palimpsest: {reason}"));
            return misused(usage);
        }
    };
    match request.run(output) {
        Ok(()) => 0,
        Err(Failure::Mismatch) => EXIT_MISMATCH,
        Err(Failure::Input(reason)) => {
            complain(&format!("palimpsest: {reason}"));
            EXIT_INPUT
        }
        Err(Failure::Environment(reason)) => {
            complain(&format!("palimpsest: {reason}"));
            EXIT_ENVIRONMENT
        }
    }
}
