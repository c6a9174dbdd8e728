//! The command `perft`, which counts the leaf nodes below a position or checks a suite.

#![expect(clippy::disallowed_methods, reason = "speed is shown")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;

use super::{Output, number, position};
use crate::chess::Position;
use crate::chess::attacks::{Level, Machine};
use crate::chess::perft::{DEPTH_MAX, PerftTable, Settings, divide};
use crate::chess::suite::{self, Case};
use crate::chess::uci_move::{CastlingForm, format};
use crate::failure::Failure;
use crate::input;
use crate::time::nodes_per_second;

/// Count the leaves of a position, by move and in total, or check the counts of a suite
#[derive(Args)]
pub(super) struct PerftArgs {
    /// Depth in plies
    #[arg(required_unless_present = "suite", value_parser = number::<u32>(0, DEPTH_MAX))]
    depth: Option<u32>,
    /// The position; by default the starting position
    fen: Vec<String>,
    /// Check the known counts of the positions in this file
    #[arg(long, value_name = "FILE", conflicts_with = "depth")]
    suite: Option<PathBuf>,
    /// Skip counts of more than N leaves
    #[arg(long, value_name = "N", conflicts_with = "depth")]
    max_nodes: Option<u64>,
    /// Number of threads
    #[arg(long, default_value_t = 1, value_parser = number::<usize>(1, 1024))]
    threads: usize,
    /// Cache counts in a table of this size in MiB
    #[arg(long, value_name = "MB")]
    hash: Option<usize>,
    /// Instructions to use instead of the fastest: plain, popcnt, pext or avx512
    #[arg(long, value_name = "LEVEL", value_parser = level)]
    sliders: Option<Level>,
}

impl PerftArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let machine = match self.sliders {
            None => Machine::best(),
            Some(level) => Machine::at(level).ok_or_else(|| {
                Failure::environment(format!("this machine has no {}", level.name()))
            })?,
        };
        let table = match self.hash {
            None => None,
            Some(megabytes) => Some(PerftTable::new(megabytes).ok_or_else(|| {
                Failure::environment(format!("cannot allocate {megabytes} MiB of hash"))
            })?),
        };
        let settings = Settings { machine, threads: self.threads, table: table.as_ref() };
        match &self.suite {
            Some(file) => run_suite(file, self.max_nodes.unwrap_or(u64::MAX), &settings, output),
            None => {
                let position = position(&self.fen)?;
                run_position(&position, self.depth.unwrap_or_default(), &settings, output);
                Ok(())
            }
        }
    }
}

fn level(text: &str) -> Result<Level, String> {
    let names = Level::ALL.map(Level::name).join(", ");
    let level = Level::ALL.into_iter().find(|level| level.name() == text);
    level.ok_or_else(|| format!("expected one of {names}"))
}

fn run_position(position: &Position, depth: u32, settings: &Settings<'_>, output: &Output) {
    let start = Instant::now();
    let mut sum = u64::from(depth == 0);
    for (mv, count) in divide(position, depth, settings, &|| false) {
        sum += count;
        output.line(&format!("{}: {count}", format(mv, castling_form(position))));
    }
    let speed = nodes_per_second(sum, start.elapsed());
    output.line(&format!("\nNodes searched: {sum}\nNodes/second: {speed}"));
}

/// Returns the notation of castling moves: king takes rook if the position has a castling right
/// that is impossible in standard chess, otherwise the destination of the king.
fn castling_form(position: &Position) -> CastlingForm {
    if position.is_chess960() { CastlingForm::KingTakesRook } else { CastlingForm::KingTo }
}

/// A row of the result table for a suite.
struct Row<'a> {
    case: &'a Case,
    depth: u32,
    expected: u64,
    found: u64,
    elapsed: Duration,
}

fn run_suite(
    file: &Path,
    max_nodes: u64,
    settings: &Settings<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let name = file.display();
    let bytes = input::read(file)
        .map_err(|error| Failure::input(format!("cannot read {name}: {error}")))?;
    let cases = suite::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::input(format!("{name}, {error}")))?;
    let mut rows = Vec::new();
    let mut skipped = 0;
    for case in &cases {
        for &(depth, expected) in &case.counts {
            if expected > max_nodes {
                skipped += 1;
                continue;
            }
            let start = Instant::now();
            let counts = divide(&case.position, depth, settings, &|| false);
            let found = counts.iter().map(|(_, count)| count).sum::<u64>() + u64::from(depth == 0);
            rows.push(Row { case, depth, expected, found, elapsed: start.elapsed() });
        }
    }
    let strays: Vec<&Case> = cases.iter().filter(|case| !case.successors_agree()).collect();
    // Wrong counts come first. Correct counts stay in the order of the suite, and so do wrong
    // counts, because the sort is stable.
    rows.sort_by_key(|row| row.found == row.expected);
    print_table(&rows, output);
    for case in &strays {
        output.line(&format!("other positions than expected after one move: {}", case.fen));
    }
    let wrong = rows.iter().filter(|row| row.found != row.expected).count() + strays.len();
    let nodes: u64 = rows.iter().map(|row| row.found).sum();
    let elapsed = rows.iter().map(|row| row.elapsed).sum();
    output.line(&format!(
        "\nPositions: {}\nCounts checked: {}\nCounts above the limit: {skipped}\nWrong: {wrong}\n\
         Nodes searched: {nodes}\nNodes/second: {}",
        cases.len(),
        rows.len(),
        nodes_per_second(nodes, elapsed),
    ));
    if wrong == 0 { Ok(()) } else { Err(Failure::mismatch()) }
}

fn print_table(rows: &[Row<'_>], output: &Output) {
    let titles = ["", "depth", "expected", "found", "Mnps"];
    let [mark, depth, expected, found, speed] = titles;
    output.line(&format!("{mark:<5} {depth:>5} {expected:>14} {found:>14} {speed:>6}  position"));
    for row in rows {
        let mark = if row.found == row.expected { "ok" } else { "WRONG" };
        let Row { case, depth, expected, found, elapsed } = row;
        let speed = nodes_per_second(*found, *elapsed) / 1_000_000;
        let fen = &case.fen;
        output.line(&format!("{mark:<5} {depth:>5} {expected:>14} {found:>14} {speed:>6}  {fen}"));
    }
}

#[cfg(test)]
mod tests {
    use clap::{FromArgMatches as _, error::ErrorKind};

    use super::*;

    fn parse(line: &str) -> Result<PerftArgs, ErrorKind> {
        let command = PerftArgs::augment_args(clap::Command::new("perft").no_binary_name(true));
        let matches = command.try_get_matches_from(line.split_ascii_whitespace());
        PerftArgs::from_arg_matches(&matches.map_err(|error| error.kind())?)
            .map_err(|error| error.kind())
    }

    #[test]
    fn options_may_stand_anywhere() {
        let found = parse("--threads 2 5 4k3/8/8/8/8/8/8/4K3 w - - --hash 16").unwrap();
        assert_eq!(
            (found.depth, found.fen.join(" ")),
            (Some(5), "4k3/8/8/8/8/8/8/4K3 w - -".to_owned())
        );
        assert_eq!((found.threads, found.hash, found.sliders), (2, Some(16), None));
        let found = parse("--suite a.epd --sliders plain --max-nodes 9").unwrap();
        assert_eq!((found.suite, found.max_nodes), (Some("a.epd".into()), Some(9)));
        assert_eq!((found.threads, found.sliders), (1, Some(Level::Plain)));
    }

    #[test]
    fn invalid_arguments_are_rejected() {
        for (line, kind) in [
            ("", ErrorKind::MissingRequiredArgument),
            ("x", ErrorKind::ValueValidation),
            ("65", ErrorKind::ValueValidation),
            ("5 --threads", ErrorKind::InvalidValue),
            ("5 --threads 0", ErrorKind::ValueValidation),
            ("5 --hash x", ErrorKind::ValueValidation),
            ("5 --max-nodes 5", ErrorKind::ArgumentConflict),
            ("--max-nodes 5", ErrorKind::MissingRequiredArgument),
            ("5 --sliders x", ErrorKind::ValueValidation),
            ("5 --suite a", ErrorKind::ArgumentConflict),
            ("--depth 5", ErrorKind::UnknownArgument),
        ] {
            assert_eq!(parse(line).err(), Some(kind), "{line}");
        }
    }
}
