//! The command line: without arguments a UCI session, otherwise one of a few tools.

use std::io;
use std::time::Instant;

use super::evaluation;
use super::output::Output;
use super::session;
use crate::bench;
use crate::chess::perft::{divide, perft};
use crate::chess::uci_move::{CastlingForm, format};
use crate::chess::{Position, fen, suite};
use crate::eval::Variant;
use crate::time::nodes_per_second;

const EXIT_MISMATCH: i32 = 1;
pub(super) const EXIT_USAGE: i32 = 2;
pub(super) const EXIT_INPUT: i32 = 3;
const EXIT_ENVIRONMENT: i32 = 7;

const HELP: &str = "\
Usage: palimpsest                        speak UCI on standard input and output
       palimpsest bench [DEPTH]          search fixed positions; the node count is the signature
       palimpsest bench --eval           time every evaluation on positions from games
       palimpsest perft DEPTH [FEN]      count leaves, by move and in total
       palimpsest perft --suite FILE [--max-nodes N]
                                         check positions with known counts up to N leaves each
       palimpsest eval [--variant NAME] [--disable FEATURES] [--json] [FEN | --positions FILE]
                                         the static evaluation, term by term
       palimpsest eval [--variant NAME] --features [--json]
                                         what can be switched off, by name
       palimpsest compare NAME NAME [--markdown | --json] [--positions FILE]
                                         two evaluations side by side
       palimpsest --version
       palimpsest --help";

/// Runs a command line without the program name and returns the exit code: 0 for success, 1 for a
/// perft mismatch, 2 for wrong usage, 3 for unreadable input, 7 for want of memory.
pub fn run(args: impl Iterator<Item = String>) -> i32 {
    let args: Vec<String> = args.collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = Output::new(io::stdout());
    match words.as_slice() {
        [] => session::run(io::stdin().lock(), output),
        ["--help" | "-h" | "help"] => {
            output.line(HELP);
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
        ["bench", depth] => match depth.parse() {
            Ok(depth) => run_bench(Some(depth), &output),
            Err(_) => usage(),
        },
        ["perft", "--suite", file] => run_suite(file, u64::MAX, &output),
        ["perft", "--suite", file, "--max-nodes", most] => match most.parse() {
            Ok(most) => run_suite(file, most, &output),
            Err(_) => usage(),
        },
        ["perft", depth, fields @ ..] => match depth.parse() {
            Ok(depth) => run_perft(depth, &fields.join(" "), &output),
            Err(_) => usage(),
        },
        ["eval", words @ ..] => evaluation::run_eval(words, &output, HELP),
        ["compare", words @ ..] => evaluation::run_compare(words, &output, HELP),
        _ => usage(),
    }
}

fn usage() -> i32 {
    eprintln!("{HELP}");
    EXIT_USAGE
}

fn run_bench(depth: Option<u32>, output: &Output) -> i32 {
    match bench::run(depth, Variant::default()) {
        Ok(measured) => {
            output.line(&measured.to_string());
            0
        }
        Err(error) => {
            eprintln!("palimpsest: {error}");
            EXIT_ENVIRONMENT
        }
    }
}

fn run_perft(depth: u32, text: &str, output: &Output) -> i32 {
    let position = match if text.is_empty() { Ok(Position::startpos()) } else { fen::parse(text) } {
        Ok(position) => position,
        Err(error) => {
            eprintln!("palimpsest: {error}");
            return EXIT_INPUT;
        }
    };
    let start = Instant::now();
    let mut sum = u64::from(depth == 0);
    for (mv, count) in divide(&position, depth) {
        sum += count;
        output.line(&format!("{}: {count}", format(mv, CastlingForm::KingTo)));
    }
    let speed = nodes_per_second(sum, start.elapsed());
    output.line(&format!("\nNodes searched: {sum}\nNodes/second: {speed}"));
    0
}

fn run_suite(file: &str, most: u64, output: &Output) -> i32 {
    let text = match std::fs::read(file) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => {
            eprintln!("palimpsest: cannot read {file}: {error}");
            return EXIT_INPUT;
        }
    };
    let cases = match suite::parse(&text) {
        Ok(cases) => cases,
        Err(error) => {
            eprintln!("palimpsest: {file}, {error}");
            return EXIT_INPUT;
        }
    };
    let start = Instant::now();
    let (mut sum, mut checked, mut wrong) = (0, 0, 0);
    for case in &cases {
        for &(depth, expected) in case.counts.iter().filter(|&&(_, count)| count <= most) {
            let found = perft(&case.position, depth);
            sum += found;
            checked += 1;
            if found != expected {
                wrong += 1;
                output.line(&format!("{}: depth {depth}: {found}, expected {expected}", case.fen));
            }
        }
    }
    let speed = nodes_per_second(sum, start.elapsed());
    output.line(&format!("Positions: {}\nCounts checked: {checked}\nWrong: {wrong}", cases.len()));
    output.line(&format!("Nodes searched: {sum}\nNodes/second: {speed}"));
    if wrong == 0 { 0 } else { EXIT_MISMATCH }
}
