//! Command line of the harness, built flag by flag.

use std::fmt::Display;
use std::path::Path;

use shakmaty::fen::Epd;
use shakmaty::{Chess, EnPassantMode, Position};

use super::bench::{Bench, Finished, Running};
use super::pgn::{self, Game};
use super::programs;
use super::report::Report;

/// A run of `arbiter` in a [`Bench`], such as `arbiter match …`; its results go to the folder
/// `results`, its games to `games.pgn`.
pub struct Plan<'a> {
    bench: &'a Bench,
    /// Name of the subcommand.
    command: &'static str,
    engines: Vec<String>,
    flags: Vec<(String, String)>,
    /// Flags without a value.
    switches: Vec<String>,
}

impl<'a> Plan<'a> {
    /// Creates a run of `pairs` pairs from as many different openings, with one node per move and
    /// at most 30 moves per game.
    pub fn new(bench: &'a Bench, command: &'static str, pairs: usize) -> Plan<'a> {
        let book = bench.write("book.epd", openings(pairs.max(1)));
        Plan { bench, command, engines: Vec::new(), flags: Vec::new(), switches: Vec::new() }
            .set("pairs", pairs)
            .set("results", bench.path("results").display())
            .set("name", "run")
            .set("pgn", bench.path("games.pgn").display())
            .set("format", "json")
            .set("seed", 1)
            .set("openings", book.display())
            .set("openings order", "sequential")
            .set("concurrency", 1)
            .set("each", "nodes=1")
            // Games of random moves take about 270 plies to end. Few tests concern endings, and
            // moves take most of the CPU time of the tests.
            .set("max-moves", 30)
            // A busy machine would void pairs, and change the counts that tests expect.
            .set("cpu-contention", "off")
    }

    /// Adds a puppet, called `name` in the results.
    pub fn puppet(self, name: &str, args: &str) -> Plan<'a> {
        self.puppet_with(name, args, "")
    }

    /// Adds a puppet; `fields` are further fields of its description, each preceded by a comma.
    pub fn puppet_with(self, name: &str, args: &str, fields: &str) -> Plan<'a> {
        let spec = self.bench.puppet(name, args, fields);
        self.engine(spec)
    }

    /// Adds an engine by its description.
    pub fn engine(mut self, spec: String) -> Plan<'a> {
        self.engines.push(spec);
        self
    }

    /// Sets a flag, or a key of a flag as in "openings order", and replaces an earlier value.
    pub fn set(mut self, flag: &str, value: impl Display) -> Plan<'a> {
        self.flags.retain(|(name, _)| name != flag);
        self.flags.push((flag.to_owned(), value.to_string()));
        self
    }

    /// Removes a flag.
    pub fn unset(mut self, flag: &str) -> Plan<'a> {
        self.flags.retain(|(name, _)| name != flag);
        self
    }

    /// Sets a flag without a value.
    pub fn switch(mut self, flag: &str) -> Plan<'a> {
        self.switches.push(format!("--{flag}"));
        self
    }

    /// Starts the run.
    pub fn start(self) -> Running {
        let bench = self.bench;
        bench.arbiter(self.args())
    }

    /// Starts the run from a shell script, in which `"$0" "$@"` is the command line.
    pub fn start_by(self, script: &str) -> Running {
        let bench = self.bench;
        let shell = ["-c", script].map(str::to_owned).into_iter();
        let arbiter = programs::arbiter().display().to_string();
        bench.start(Path::new("/bin/sh"), shell.chain([arbiter]).chain(self.args()))
    }

    /// Returns the command line as a line of a shell script.
    pub fn command_line(self) -> String {
        let words = std::iter::once(programs::arbiter().display().to_string()).chain(self.args());
        words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ")
    }

    fn args(self) -> Vec<String> {
        let mut args = vec![self.command.to_owned()];
        for spec in self.engines {
            args.extend(["--engine".to_owned(), spec]);
        }
        for (flag, value) in self.flags {
            args.extend(match flag.split_once(' ') {
                Some((flag, key)) => [format!("--{flag}"), format!("{key}={value}")],
                None => [format!("--{flag}"), value],
            });
        }
        args.extend(self.switches);
        args
    }

    /// Plays the run to its end.
    pub fn run(self) -> Finished {
        self.start().finish()
    }

    /// Plays the run to its end and reads its output; `code` is the expected exit code.
    #[track_caller]
    pub fn expect_output(self, code: i32) -> RunOutput {
        let bench = self.bench;
        RunOutput::read(bench, &self.run().expect_code(code))
    }
}

/// Output of a run: its report, and its games as text.
#[derive(Debug, Clone, PartialEq)]
pub struct RunOutput {
    /// Report on standard output.
    pub report: Report,
    /// File of games, byte for byte.
    pub pgn: String,
}

impl RunOutput {
    /// Reads the output of a finished run in `bench`.
    #[track_caller]
    pub fn read(bench: &Bench, finished: &Finished) -> RunOutput {
        RunOutput { report: Report::read(&finished.json()), pgn: bench.read("games.pgn") }
    }

    /// Returns the games after checking each of them.
    #[track_caller]
    pub fn games(&self) -> Vec<Game> {
        pgn::parse(&self.pgn).unwrap_or_else(|fault| panic!("{fault}\n{}", self.pgn))
    }

    /// Returns the moves and results of the games, without information from engines.
    #[track_caller]
    pub fn moves(&self) -> Vec<(Vec<String>, String)> {
        self.games().into_iter().map(|game| (game.moves, game.result)).collect()
    }
}

/// Returns a book of `count` different positions, one per line, each reached in two plies.
pub fn openings(count: usize) -> String {
    let lines: Vec<String> = after_one_move(&Chess::default())
        .iter()
        .flat_map(after_one_move)
        .map(|position| Epd::from_position(&position, EnPassantMode::Legal).to_string())
        .take(count)
        .collect();
    assert_eq!(lines.len(), count, "two plies reach 400 positions");
    lines.join("\n") + "\n"
}

fn after_one_move(position: &Chess) -> Vec<Chess> {
    let play = |legal| {
        let mut next = position.clone();
        next.play_unchecked(legal);
        next
    };
    position.legal_moves().into_iter().map(play).collect()
}
