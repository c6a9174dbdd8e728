//! The `perft` command: counting leaves of one position, or checking a suite.

#![expect(clippy::disallowed_methods, reason = "speed is shown")]

use std::time::{Duration, Instant};

use super::output::Output;
use crate::chess::attacks::{Level, Machine};
use crate::chess::perft::{DEPTH_MAX, PerftTable, Settings, divide};
use crate::chess::suite::{self, Case};
use crate::chess::uci_move::{CastlingForm, format};
use crate::chess::{Position, fen};
use crate::time::nodes_per_second;

/// A parsed `perft` command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    task: Task,
    threads: usize,
    hash_mb: Option<usize>,
    level: Option<Level>,
}

#[derive(Debug, PartialEq, Eq)]
enum Task {
    Position { depth: u32, fen: String },
    Suite { file: String, max_nodes: u64 },
}

/// Failure of a perft command.
pub(super) enum Failure {
    /// Unreadable input.
    Input(String),
    /// The machine cannot do it.
    Environment(String),
    /// Counts differ from the expected ones.
    Mismatch,
}

impl Request {
    /// Reads the words after `perft`.
    ///
    /// # Errors
    ///
    /// If the words are not a perft command; the error says why.
    pub(super) fn parse(words: &[&str]) -> Result<Request, String> {
        let (mut threads, mut hash_mb, mut level) = (1, None, None);
        let (mut file, mut max_nodes) = (None, None);
        let mut rest = Vec::new();
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().copied().ok_or(format!("{word} needs a value"));
            match word {
                "--threads" => threads = number(word, value()?)?,
                "--hash" => hash_mb = Some(number(word, value()?)?),
                "--max-nodes" => max_nodes = Some(number(word, value()?)?),
                "--suite" => file = Some(value()?.to_owned()),
                "--sliders" => level = Some(parse_level(value()?)?),
                _ if word.starts_with("--") => return Err(format!("unknown option {word}")),
                _ => rest.push(word),
            }
        }
        if threads == 0 || threads > 1024 {
            return Err("--threads needs a number from 1 to 1024".to_owned());
        }
        let task = match (file, rest.split_first()) {
            (Some(file), None) => Task::Suite { file, max_nodes: max_nodes.unwrap_or(u64::MAX) },
            (Some(_), Some((word, _))) => return Err(format!("unexpected \"{word}\"")),
            (None, _) if max_nodes.is_some() => return Err("--max-nodes needs --suite".to_owned()),
            (None, Some((depth, fields))) => {
                let depth = number("perft", depth)?;
                if depth > DEPTH_MAX {
                    return Err(format!("perft goes no deeper than {DEPTH_MAX} plies"));
                }
                Task::Position { depth, fen: fields.join(" ") }
            }
            (None, None) => return Err("perft needs a depth or --suite FILE".to_owned()),
        };
        Ok(Request { task, threads, hash_mb, level })
    }

    /// Runs the command.
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let machine = match self.level {
            None => Machine::best(),
            Some(level) => Machine::at(level).ok_or_else(|| {
                Failure::Environment(format!("this machine has no {}", level.name()))
            })?,
        };
        let table = match self.hash_mb {
            None => None,
            Some(megabytes) => Some(PerftTable::new(megabytes).ok_or_else(|| {
                Failure::Environment(format!("there is no memory for {megabytes} MiB of hash"))
            })?),
        };
        let settings = Settings { machine, threads: self.threads, table: table.as_ref() };
        match &self.task {
            Task::Position { depth, fen } => run_position(*depth, fen, &settings, output),
            Task::Suite { file, max_nodes } => run_suite(file, *max_nodes, &settings, output),
        }
    }
}

fn number<T: std::str::FromStr>(name: &str, text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("{name} needs a number, not \"{text}\""))
}

fn parse_level(text: &str) -> Result<Level, String> {
    let names = Level::ALL.map(Level::name).join(", ");
    let level = Level::ALL.into_iter().find(|level| level.name() == text);
    level.ok_or(format!("--sliders needs one of {names}, not \"{text}\""))
}

fn run_position(
    depth: u32,
    text: &str,
    settings: &Settings<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let position = if text.is_empty() { Ok(Position::startpos()) } else { fen::parse(text) };
    let position = position.map_err(|error| Failure::Input(error.to_string()))?;
    let start = Instant::now();
    let mut sum = u64::from(depth == 0);
    for (mv, count) in divide(&position, depth, settings, &|| false) {
        sum += count;
        output.line(&format!("{}: {count}", format(mv, castling_form(&position))));
    }
    let speed = nodes_per_second(sum, start.elapsed());
    output.line(&format!("\nNodes searched: {sum}\nNodes/second: {speed}"));
    Ok(())
}

/// Returns the notation of castling: king takes rook where the position is not one of standard
/// chess.
fn castling_form(position: &Position) -> CastlingForm {
    if position.is_chess960() { CastlingForm::KingTakesRook } else { CastlingForm::KingTo }
}

/// A row of the table of a suite.
struct Row<'a> {
    case: &'a Case,
    depth: u32,
    expected: u64,
    found: u64,
    elapsed: Duration,
}

fn run_suite(
    file: &str,
    max_nodes: u64,
    settings: &Settings<'_>,
    output: &Output,
) -> Result<(), Failure> {
    let bytes = super::read_input(file)
        .map_err(|error| Failure::Input(format!("cannot read {file}: {error}")))?;
    let cases = suite::parse(&String::from_utf8_lossy(&bytes))
        .map_err(|error| Failure::Input(format!("{file}, {error}")))?;
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
    // Stable: otherwise the order is that of the suite.
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
    if wrong == 0 { Ok(()) } else { Err(Failure::Mismatch) }
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
    use super::*;

    fn parse(line: &str) -> Result<Request, String> {
        Request::parse(&line.split_ascii_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn options_may_stand_anywhere() {
        let request = parse("--threads 2 5 4k3/8/8/8/8/8/8/4K3 w - - --hash 16").unwrap();
        let fen = "4k3/8/8/8/8/8/8/4K3 w - -".to_owned();
        let task = Task::Position { depth: 5, fen };
        assert_eq!(request, Request { task, threads: 2, hash_mb: Some(16), level: None });
        let request = parse("--suite a.epd --sliders plain --max-nodes 9").unwrap();
        let task = Task::Suite { file: "a.epd".to_owned(), max_nodes: 9 };
        let level = Some(Level::Plain);
        assert_eq!(request, Request { task, threads: 1, hash_mb: None, level });
    }

    #[test]
    fn mistakes_are_named() {
        for line in [
            "",
            "x",
            "5 --threads",
            "5 --threads 0",
            "5 --hash x",
            "5 --max-nodes 5",
            "5 --sliders x",
            "5 --suite a",
            "--depth 5",
        ] {
            assert!(parse(line).is_err(), "{line}");
        }
    }
}
