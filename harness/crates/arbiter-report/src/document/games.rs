//! Games to step through.

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, Position};

use super::{Block, Document, Game, Step};
use crate::lint::place_of;
use crate::statistics::{GameStatistics, MisjudgedGame};
use crate::summary::Summary;
use crate::table::Table;
use arbiter_game::outcome::color_name;
use arbiter_game::record::{GameRecord, MoveRecord};
use arbiter_store::LintCount;

/// Games that are shown of what the lint found.
const MAX_LINTED: usize = 8;

/// Games whose result was far from an engine's best evaluation.
pub(super) fn misjudged(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    let games: Vec<Game> =
        statistics.misjudged.iter().map(|found| misjudged_game(summary, found)).collect();
    if games.is_empty() {
        return;
    }
    document.heading("Misjudged games");
    document.paragraph(
        "The games whose result was the furthest below the best evaluation of one of the engines.",
    );
    document.blocks.push(Block::Games(games));
}

fn misjudged_game(summary: &Summary, found: &MisjudgedGame) -> Game {
    let MisjudgedGame { pair, half, game, color, ply, score, .. } = found;
    let GameRecord { engines, outcome, .. } = game;
    let engine = &summary.engines[*engines.get(*color)];
    shown(summary, (*pair, *half, game), *ply, |number| {
        format!(
            "{engine} ({}) gave itself {score} at {number} It ended by {}: {}.",
            color_name(*color),
            outcome.termination,
            outcome.detail
        )
    })
}

/// What engines said of their searches that cannot be, with the first games of it.
pub(super) fn lint(document: &mut Document, summary: &Summary) {
    if summary.lint.is_empty() {
        return;
    }
    document.heading("Lint");
    document.paragraph(
        "What engines said of their searches that cannot be. It decides no game. The first move of \
         each kind is named by its game as in the PGN's tag Round.",
    );
    let mut table = Table::new(["engine", "finding", "moves", "games", "first", "what"]);
    for found in &summary.lint {
        let LintCount { engine, rule, moves, games, what, .. } = found;
        let (engine, place) = (&summary.engines[*engine], place_of(found));
        table.push([engine, &rule.words(), moves, games, &place, what]);
    }
    document.table(table);
    let games = summary.lint.iter().take(MAX_LINTED).map(|found| {
        let LintCount { engine, rule, pair, half, ply, what, game, .. } = found;
        let engine = &summary.engines[*engine];
        shown(summary, (*pair, *half, game), *ply, |number| {
            format!("{engine} at {number} {}: {what}.", rule.words())
        })
    });
    document.blocks.push(Block::Games(games.collect()));
}

/// A game of a pair, opened at a ply; `note` says why, and is told the number of the move.
fn shown(
    summary: &Summary,
    (pair, half, game): (u64, usize, &GameRecord),
    ply: usize,
    note: impl FnOnce(&str) -> String,
) -> Game {
    let name = |color: Color| summary.engines[*game.engines.get(color)].as_str();
    let moves = steps(game);
    Game {
        title: format!(
            "{}.{} {} – {} {}",
            pair + 1,
            half + 1,
            name(Color::White),
            name(Color::Black),
            game.outcome.result.as_str()
        ),
        note: note(moves.get(ply).map_or("?", |step| step.number.as_str())),
        start: game.start().board().to_string(),
        first_shown: ply + 1,
        moves,
    }
}

/// The moves of a game; of one that holds an illegal move, those before it.
fn steps(game: &GameRecord) -> Vec<Step> {
    let mut position = game.start();
    game.moves.iter().map_while(|played| step(&mut position, played)).collect()
}

fn step(position: &mut Chess, played: &MoveRecord) -> Option<Step> {
    let dots = if position.turn() == Color::White { "." } else { "..." };
    let number = format!("{}{dots}", position.fullmoves());
    let m = played.uci.to_move(position).ok()?;
    let san = SanPlus::from_move_and_play_unchecked(position, m).to_string();
    let remark = match &played.thought {
        None => "book".to_owned(),
        Some(thought) => {
            let score = thought.score.map(|score| score.to_string());
            let depth = thought.depth.map(|depth| format!("depth {depth}"));
            let time = format!("{:.3} s", thought.elapsed.as_secs_f64());
            let parts = [score, depth, Some(time)].into_iter().flatten();
            parts.collect::<Vec<_>>().join(", ")
        }
    };
    Some(Step { number, san, remark, board: position.board().to_string() })
}
