//! Games in the form that the game viewer requires.

use std::collections::BTreeMap;
use std::time::Duration;

use shakmaty::san::SanPlus;
use shakmaty::{ByColor, Chess, Color, Position};

use super::latency::time;
use crate::figures::{GameStatistics, MIN_ADVANTAGE, MisjudgedGame, Summary, movers};
use crate::parts::{Block, Chart, Document, Figure, Game, Line, Lines, Step, Table};
use arbiter_game::outcome::color_name;
use arbiter_game::record::{GameRecord, MoveRecord};
use arbiter_plan::Plan;

/// Maximum evaluation in a graph, in centipawns. Larger evaluations and mate scores are drawn at
/// the maximum.
const MAX_SCORE: i32 = 1_000;

/// Adds the section on games in which an engine scored far less than its best evaluation predicted.
pub(crate) fn misjudged(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    if statistics.misjudged.is_empty() {
        return;
    }
    let games = statistics.misjudged.iter().map(|found| {
        let MisjudgedGame { pair, game_index, game, color, ply, score, .. } = found;
        let engine = &summary.engines[*game.engines.get(*color)];
        game_to_show(&summary.plan, (*pair, *game_index, game), *ply + 1, |number| {
            let side = color_name(*color);
            let ending = game.outcome.termination.describe();
            let number = number.trim_end_matches('.');
            format!("{engine} ({side}) reported {score} at move {number}. Game ending: {ending}.")
        })
    });
    document.heading("Misjudged games");
    document.paragraph(format!(
        "Games in which an engine reported {MIN_ADVANTAGE} pawns or more but did not win, sorted \
         by the difference between the expected and the actual result, largest first."
    ));
    document.blocks.push(Block::Games(games.collect()));
}

/// Adds the section on the first games that ended by an engine fault. The viewer opens each game at
/// the last position.
pub(crate) fn faulty(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    if statistics.faulty.is_empty() {
        return;
    }
    document.heading("Games with faults");
    document.paragraph(format!(
        "The first games that ended with an engine fault. arbiter replay {} GAME prints the \
         transcript and judges the game again.",
        summary.run
    ));
    let games = statistics.faulty.iter().map(|(pair, game_index, game)| {
        game_to_show(&summary.plan, (*pair, *game_index, game), game.moves.len(), |_| {
            let names = game.engines.map(|engine| summary.engines[engine].as_str());
            format!("{}.", game.outcome.naming(names))
        })
    });
    document.blocks.push(Block::Games(games.collect()));
}

/// Returns a game of a pair for the viewer, which opens the game after `first_shown` plies. `note`
/// returns the reason why the game is shown; the argument of `note` is the number of the last move
/// before the opened position.
pub fn game_to_show(
    plan: &Plan,
    (pair, game_index, game): (u64, usize, &GameRecord),
    first_shown: usize,
    note: impl FnOnce(&str) -> String,
) -> Game {
    let ByColor { white, black } = game.engines.map(|engine| &plan.engines[engine].name);
    let mut position = game.start();
    let moves: Vec<Step> =
        game.moves.iter().map_while(|played| step(&mut position, played)).collect();
    let last = moves.get(first_shown.wrapping_sub(1));
    let place = format!("{}.{}", pair + 1, game_index + 1);
    Game {
        title: format!("{place} {white} – {black} {}", game.outcome.result.as_str()),
        note: note(last.map_or("?", |step| step.number.as_str())),
        start: game.start().board().to_string(),
        first_shown,
        graphs: graphs(plan, game, &place),
        place,
        link: None,
        moves,
    }
}

/// Values of one side over the moves: horizontal coordinate and value of each point.
type Curve = Vec<(f64, f64)>;

/// Returns the graph of the evaluations and, if the engines have clocks, the graph of the remaining
/// times.
fn graphs(plan: &Plan, game: &GameRecord, place: &str) -> Vec<Figure> {
    let limits = game.engines.map(|engine| &plan.engines[engine].conditions.limits);
    let mut clocks = limits.map(|limits| limits.new_clock());
    let (mut scores, mut times) = (ByColor::<Curve>::default(), ByColor::<Curve>::default());
    for (played, (mover, number)) in game.moves.iter().zip(movers(game)) {
        let Some(search) = &played.search else { continue };
        let at = axis_position(mover, number);
        if let Some(score) = search.score {
            let pawns = f64::from(score.limited(MAX_SCORE)) / 100.0;
            scores.get_mut(mover).push((at, mover.fold_wb(pawns, -pawns)));
        }
        let cost = limits.get(mover).cost(search.elapsed, search.nodes);
        if let Some(clock) = clocks.get_mut(mover) {
            // The game continued after this move, so the engine did not lose on time. The unlimited
            // margin prevents the clock from reporting a loss on time.
            let _ = clock.charge(cost, Duration::MAX);
            times.get_mut(mover).push((at, clock.left().as_secs_f64()));
        }
        if let Some(clock) = clocks.get_mut(!mover) {
            clock.opponent_used(cost);
        }
    }
    let level = vec![(String::new(), 0.0)];
    let caption = |quantity: &str| format!("{quantity}, game {place}");
    let scores = (caption("Evaluation"), "pawns for White, at most 10", scores, level);
    let times = (caption("Clock"), "seconds left", times, Vec::new());
    [scores, times].into_iter().filter_map(|found| graph(plan, game, found)).collect()
}

fn graph(
    plan: &Plan,
    game: &GameRecord,
    (caption, unit, curves, levels): (String, &str, ByColor<Curve>, Vec<(String, f64)>),
) -> Option<Figure> {
    let engine = |color: Color| *game.engines.get(color);
    let mut sides = Color::ALL;
    sides.sort_by_key(|color| engine(*color));
    let name = |color: Color| plan.engines[engine(color)].name.as_str();
    let mut rows: BTreeMap<u32, [String; 2]> = BTreeMap::new();
    for (place, color) in sides.into_iter().enumerate() {
        for (at, value) in curves.get(color) {
            rows.entry(*at as u32).or_default()[place] = format!("{value:.2}");
        }
    }
    rows.first_key_value()?;
    let mut table = Table::with_columns(["move"], sides.map(name));
    rows.into_iter().for_each(|(number, cells)| table.push_with([&number], cells));
    let description = format!("{caption}: {unit}, by move.");
    let lines = sides.map(|color| Line {
        engine: Some(engine(color)),
        ..Line::plain(name(color), curves.get(color).clone())
    });
    let (y, lines) = (unit.to_owned(), lines.into());
    let chart = Chart::Lines(Lines { x: "move", y, lines, levels, ..Lines::default() });
    Some(Figure { caption, description, chart, table })
}

/// Returns the horizontal coordinate of a move in a graph, in moves; Black's move is half a move to
/// the right of White's move.
fn axis_position(mover: Color, number: u32) -> f64 {
    f64::from(number) + mover.fold_wb(0.0, 0.5)
}

/// Plays a move and returns its description; `None` if the move is illegal.
fn step(position: &mut Chess, played: &MoveRecord) -> Option<Step> {
    let dots = if position.turn() == Color::White { "." } else { "..." };
    let number = format!("{}{dots}", position.fullmoves());
    let at = axis_position(position.turn(), position.fullmoves().get());
    let remark = match &played.search {
        None => "book".to_owned(),
        Some(search) => {
            let mover = color_name(position.turn());
            let score = search.score.map(|score| format!("{score} for {mover}"));
            let depth = search.depth.map(|depth| format!("depth {depth}"));
            let time = time(search.elapsed.as_micros() as u64);
            let parts = [score, depth, Some(time)].into_iter().flatten();
            parts.collect::<Vec<_>>().join(", ")
        }
    };
    let m = played.uci.to_move(position).ok()?;
    let san = SanPlus::from_move_and_play_unchecked(position, m).to_string();
    Some(Step {
        number,
        san,
        remark,
        uci: played.uci.to_string(),
        at,
        board: position.board().to_string(),
    })
}
