//! The iterations of a search, one by one.

use std::fmt::Write;

use clap::Args;
use palimpsest::chess::uci_move::{self, CastlingForm};
use palimpsest::chess::{Game, Move, Position, fen};
use palimpsest::eval::Score;
use palimpsest::search::micromax::original_score;
use palimpsest::search::{Configuration, Limits, Memory, Personality, Request, Signals, search};
use palimpsest::time::Timer;
use serde_json::json;

/// Print the iterations of a search up to the first one that passes a number of nodes
#[derive(Args)]
pub(super) struct TraceArgs {
    /// Personality of the search
    #[arg(long, value_name = "NAME", value_parser = super::personality, default_value = "palimpsest")]
    personality: Personality,
    /// Position, by default the starting position
    #[arg(long)]
    fen: Option<String>,
    /// Moves from the position, in UCI notation
    #[arg(long, default_value = "", hide_default_value = true)]
    moves: String,
    /// Number of nodes that ends the trace
    #[arg(long, value_name = "N", default_value_t = 150_000)]
    nodes: u64,
    /// Size of the table in MiB; the default gives as many entries as the original micro-Max has
    #[arg(long, value_name = "MB", default_value_t = 256)]
    hash: usize,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Result of one iteration.
struct Iteration {
    ply: u32,
    nodes: u64,
    score: Score,
    /// The best move; `None` if the iteration searched no move.
    best: Option<String>,
}

pub(super) fn run(args: &TraceArgs) -> Result<String, String> {
    let game = args.game()?;
    let mut memory =
        Memory::for_personality(args.personality, args.hash).map_err(|error| error.to_string())?;
    let iterations = trace(args.personality, &game, args.nodes, &mut memory);
    Ok(if args.json { object(args, &game, &iterations) } else { table(&game, &iterations) })
}

impl TraceArgs {
    fn game(&self) -> Result<Game, String> {
        let start = self.fen.as_deref().map_or_else(|| Ok(Position::startpos()), fen::parse);
        let mut game = Game::new(start.map_err(|error| error.to_string())?);
        for (index, text) in self.moves.split_ascii_whitespace().enumerate() {
            let mv = uci_move::parse(text, game.position(), CastlingForm::KingTo);
            let mv = mv.ok_or_else(|| format!("move {}, \"{text}\", is illegal", index + 1))?;
            game.play(mv);
        }
        Ok(game)
    }
}

/// Searches until the node count reaches `nodes` at the end of an iteration.
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

/// Returns a move in the notation of the original program: micro-Max always promotes to a queen and
/// omits the promotion piece.
fn text(personality: Personality, mv: Move) -> String {
    let mut text = uci_move::format(mv, CastlingForm::KingTo);
    if personality == Personality::Micromax {
        text.truncate(4);
    }
    text
}

fn object(args: &TraceArgs, game: &Game, iterations: &[Iteration]) -> String {
    let iterations = iterations.iter().map(|iteration| {
        let Iteration { ply, nodes, score, best } = iteration;
        json!({"ply": ply, "nodes": nodes, "score": score, "move": best})
    });
    let moves: Vec<&str> = args.moves.split_ascii_whitespace().collect();
    let key = if args.fen.is_some() { "moves" } else { "startpos_moves" };
    let mut object = json!({
        "personality": args.personality.name(),
        key: moves.join(" "),
        "fen": game.position().to_string(),
        "iterations": iterations.collect::<Vec<_>>(),
    });
    if args.personality == Personality::Micromax {
        let report = Configuration::from(args.personality).eval.explain_game(game);
        object["game_score_q"] = report.value.into();
    }
    object.to_string()
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

#[cfg(test)]
mod tests {
    use super::*;

    fn args(personality: Personality, moves: &str, nodes: u64) -> TraceArgs {
        let moves = moves.to_owned();
        TraceArgs { personality, fen: None, moves, nodes, hash: 1, json: true }
    }

    #[test]
    fn a_search_is_traced() {
        let text = run(&args(Personality::Micromax, "e2e4  e7e5", 2_000)).unwrap();
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&found["startpos_moves"], &found["game_score_q"]),
            (&"e2e4 e7e5".into(), &0.into())
        );
        let iterations = found["iterations"].as_array().expect("iterations are a list");
        let nodes = |index: usize| iterations[index]["nodes"].as_u64().expect("nodes are counted");
        let last = iterations.len() - 1;
        assert!(nodes(last) >= 2_000 && nodes(last - 1) < 2_000, "{found}");
        assert_eq!(iterations[0], json!({"ply": 0, "nodes": 1, "score": 0, "move": null}));
        assert!(iterations[1]["move"].is_string());
        for personality in [Personality::Palimpsest, Personality::Rdchess] {
            let args = TraceArgs { json: false, ..args(personality, "", 500) };
            let text = run(&args).unwrap();
            assert!(text.starts_with("Position: rnbqkbnr/") && text.lines().count() > 3, "{text}");
        }
    }

    #[test]
    fn illegal_moves_are_named() {
        let reason = run(&args(Personality::Palimpsest, "e2e4 e2e4", 1)).unwrap_err();
        assert!(reason.contains("move 2"), "{reason}");
    }
}
