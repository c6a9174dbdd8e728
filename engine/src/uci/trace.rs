//! The command `trace`: the iterations of a search.

use std::fmt::Write;

use super::cli::{CommandError, EXIT_ENVIRONMENT, EXIT_INPUT, EXIT_USAGE};
use super::json;
use super::options::personality;
use super::output::Output;
use crate::chess::uci_move::{self, CastlingForm};
use crate::chess::{Game, Move, Position, fen};
use crate::eval::Score;
use crate::search::micromax::original_score;
use crate::search::{Configuration, Limits, Memory, Personality, Request, Signals, search};
use crate::time::Timer;

/// Size of the table unless another is given, in MiB: as many entries as the original micro-Max
/// has.
const HASH_MB: usize = 256;

/// Positions to visit unless another number is given.
const NODES: u64 = 150_000;

/// One iteration.
struct Iteration {
    ply: u32,
    nodes: u64,
    score: Score,
    /// The best move; none if the iteration looks at none.
    best: Option<String>,
}

/// Runs `trace` with the words that follow it.
pub(super) fn run(words: &[&str], output: &Output, usage: &str) -> Result<(), CommandError> {
    let wrong = || CommandError(EXIT_USAGE, format!("invalid arguments\n{usage}"));
    let command = Command::read(words).ok_or_else(wrong)?;
    let input = |reason| CommandError(EXIT_INPUT, reason);
    let game = command.game().map_err(input)?;
    let personality = personality(command.personality).map_err(input)?;
    let mut memory = Memory::for_personality(personality, command.hash_mb)
        .map_err(|error| CommandError(EXIT_ENVIRONMENT, error.to_string()))?;
    let iterations = trace(personality, &game, command.nodes, &mut memory);
    output.line(&if command.json {
        object(&command, personality, &game, &iterations)
    } else {
        table(&game, &iterations)
    });
    Ok(())
}

/// Parsed arguments.
struct Command<'a> {
    personality: &'a str,
    fen: Option<&'a str>,
    moves: &'a str,
    nodes: u64,
    hash_mb: usize,
    json: bool,
}

impl<'a> Command<'a> {
    fn read(words: &[&'a str]) -> Option<Command<'a>> {
        let mut command = Command {
            personality: Personality::default().name(),
            fen: None,
            moves: "",
            nodes: NODES,
            hash_mb: HASH_MB,
            json: false,
        };
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            match word {
                "--personality" => command.personality = words.next()?,
                "--fen" => command.fen = Some(words.next()?),
                "--moves" => command.moves = words.next()?,
                "--nodes" => command.nodes = words.next()?.parse().ok()?,
                "--hash" => command.hash_mb = words.next()?.parse().ok()?,
                "--json" => command.json = true,
                _ => return None,
            }
        }
        Some(command)
    }

    fn game(&self) -> Result<Game, String> {
        let start = self.fen.map_or_else(|| Ok(Position::startpos()), fen::parse);
        let mut game = Game::new(start.map_err(|error| error.to_string())?);
        for (index, text) in self.moves.split_ascii_whitespace().enumerate() {
            let mv = uci_move::parse(text, game.position(), CastlingForm::KingTo);
            let mv = mv.ok_or_else(|| format!("move {}, \"{text}\", is illegal", index + 1))?;
            game.play(mv);
        }
        Ok(game)
    }
}

/// Searches until an iteration has taken the number of nodes over the limit.
fn trace(personality: Personality, game: &Game, nodes: u64, memory: &mut Memory) -> Vec<Iteration> {
    let signals = Signals::default();
    let request =
        Request { game, limits: &Limits::default(), timer: &Timer::start(None), signals: &signals };
    let mut iterations = Vec::new();
    search(personality, request, memory, &mut |report| {
        if report.nodes >= nodes {
            signals.stop();
        }
        let micromax = personality == Personality::Micromax;
        iterations.push(Iteration {
            ply: report.depth,
            nodes: report.nodes,
            score: if micromax { original_score(report.score) } else { report.score },
            best: report.line.first().map(|&mv| text(personality, mv)),
        });
    });
    iterations
}

/// Returns the move as the personality's original writes it: micro-Max always promotes to a queen
/// and does not write the piece.
fn text(personality: Personality, mv: Move) -> String {
    let mut text = uci_move::format(mv, CastlingForm::KingTo);
    if personality == Personality::Micromax {
        text.truncate(4);
    }
    text
}

fn object(
    command: &Command<'_>,
    personality: Personality,
    game: &Game,
    iterations: &[Iteration],
) -> String {
    let iterations = iterations.iter().map(|iteration| {
        let best = iteration.best.as_deref().map_or("null".to_owned(), json::text);
        json::object([
            ("ply", iteration.ply.to_string()),
            ("nodes", iteration.nodes.to_string()),
            ("score", iteration.score.to_string()),
            ("move", best),
        ])
    });
    let moves = if command.fen.is_some() { "moves" } else { "startpos_moves" };
    let mut entries = vec![
        ("personality", json::text(personality.name())),
        (moves, json::text(&words(command.moves))),
        ("fen", json::text(&game.position().to_string())),
    ];
    if personality == Personality::Micromax {
        let score = Configuration::from(personality).eval.explain_game(game).value;
        entries.push(("game_score_q", score.to_string()));
    }
    entries.push(("iterations", json::list(iterations)));
    json::object(entries)
}

/// The words with single blanks between them.
fn words(text: &str) -> String {
    text.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
}

fn table(game: &Game, iterations: &[Iteration]) -> String {
    let mut text =
        format!("Position: {}\n{:>4}{:>12}{:>8}  move", game.position(), "ply", "nodes", "score");
    for Iteration { ply, nodes, score, best } in iterations {
        let best = best.as_deref().unwrap_or("-");
        // Writing to a string cannot fail.
        let _infallible = write!(text, "\n{ply:>4}{nodes:>12}{score:>8}  {best}");
    }
    text
}
