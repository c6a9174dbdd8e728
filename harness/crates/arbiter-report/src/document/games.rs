//! Games to step through.

use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, Position};

use super::{Block, Document, Game, Step};
use crate::statistics::{GameStatistics, MisjudgedGame};
use crate::summary::Summary;
use arbiter_game::outcome::color_name;
use arbiter_game::record::{GameRecord, MoveRecord};

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
    let game = &found.game;
    let name = |color: Color| summary.engines[*game.engines.get(color)].as_str();
    let moves = steps(game);
    let number = moves.get(found.ply).map_or("?", |step| step.number.as_str());
    Game {
        title: format!(
            "{}.{} {} – {} {}",
            found.pair + 1,
            found.half + 1,
            name(Color::White),
            name(Color::Black),
            game.outcome.result.as_str()
        ),
        note: format!(
            "{} ({}) gave itself {} at {number} It ended by {}: {}.",
            name(found.color),
            color_name(found.color),
            found.score,
            game.outcome.termination,
            game.outcome.detail
        ),
        start: game.start().board().to_string(),
        first_shown: found.ply + 1,
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
