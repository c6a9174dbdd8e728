//! Games to step through.

use shakmaty::fen::Fen;
use shakmaty::san::SanPlus;
use shakmaty::{Chess, Color, EnPassantMode, Position};

use super::{Block, Document, Game, Step};
use crate::digest::{Digest, Surprise};
use crate::summary::Summary;
use arbiter_game::outcome::color_name;
use arbiter_game::record::{GameRecord, MoveRecord};

/// The games that did not end as an engine thought.
pub(super) fn surprises(document: &mut Document, summary: &Summary, digest: &Digest) {
    let games: Vec<Game> = digest.surprises.iter().map(|found| surprise(summary, found)).collect();
    if games.is_empty() {
        return;
    }
    document.heading("Surprising games");
    document.paragraph(
        "The games in which an engine's best evaluation promised the most that it did not get.",
    );
    document.blocks.push(Block::Games(games));
}

fn surprise(summary: &Summary, found: &Surprise) -> Game {
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
            name(found.who),
            color_name(found.who),
            found.score,
            game.outcome.termination,
            game.outcome.detail
        ),
        start: board(&game.start()),
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
    Some(Step { number, san, remark, board: board(position) })
}

fn board(position: &Chess) -> String {
    let fen = Fen::from_position(position, EnPassantMode::Legal).to_string();
    fen.split(' ').next().unwrap_or_default().to_owned()
}
