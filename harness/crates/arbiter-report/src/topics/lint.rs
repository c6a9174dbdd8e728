//! Findings of the lint in the engines' reports on their searches, as text and as JSON.

use schemars::JsonSchema;
use serde::Serialize;
use shakmaty::Color;

use super::games::game_to_show;
use crate::figures::{Summary, movers};
use crate::parts::{Block, Document, Table};
use arbiter_game::lint::LintRule;
use arbiter_game::record::GameRecord;
use arbiter_store::LintCount;

/// Most findings of the lint whose games are shown.
const MAX_LINTED: usize = 8;

/// Returns the name of each engine with findings, and its findings in a line.
pub(crate) fn by_engine(summary: &Summary) -> impl Iterator<Item = (&str, String)> {
    let engines = summary.lint.chunk_by(|one, other| one.engine == other.engine);
    engines.map(|found| {
        let words = found.iter().map(|found| {
            let LintCount { rule, moves, .. } = found;
            format!("{} {moves} ({})", rule.describe(), place_of(found))
        });
        (summary.engines[found[0].engine].as_str(), words.collect::<Vec<_>>().join(", "))
    })
}

/// Returns the place of the example of a finding.
fn place_of(found: &LintCount) -> String {
    place(found.pair, found.half, &found.game, found.ply)
}

/// Returns the place of a move: pair and game, as in the tag Round of a PGN, and the move.
pub(crate) fn place(pair: u64, half: usize, game: &GameRecord, ply: usize) -> String {
    let (color, number) = movers(game).nth(ply).unwrap_or((Color::White, 0));
    let dots = color.fold_wb(".", "...");
    let uci = game.moves.get(ply).map(|played| played.uci.to_string()).unwrap_or_default();
    format!("{}.{}, {number}{dots} {uci}", pair + 1, half + 1)
}

/// Findings in an engine's reports on its searches, by one rule.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LintFigures<'a> {
    /// Name of the engine.
    engine: &'a str,
    /// Rule that is broken.
    rule: LintRule,
    /// Number of moves with the finding.
    moves: u64,
    /// Number of games with these moves.
    games: u64,
    /// Game of the example: pair and game of the pair, as in the tag Round of a PGN.
    example_game: String,
    /// Ply of the example, from 1.
    example_ply: usize,
    /// Example in words.
    example: String,
}

/// Returns the findings, by engine and rule.
pub(crate) fn figures(summary: &Summary) -> impl Iterator<Item = LintFigures<'_>> {
    summary.lint.iter().map(|found| LintFigures {
        engine: &summary.engines[found.engine],
        rule: found.rule,
        moves: found.moves,
        games: found.games,
        example_game: format!("{}.{}", found.pair + 1, found.half + 1),
        example_ply: found.ply + 1,
        example: format!("{}: {}", place_of(found), found.what),
    })
}

/// Adds the findings of the lint, with the first games of each.
pub(crate) fn all(document: &mut Document, summary: &Summary) {
    if summary.lint.is_empty() {
        return;
    }
    document.heading("Lint");
    document.paragraph(
        "Impossible engine output, which does not affect results. For each kind of finding, the \
         first move is listed with the number of its game, which is also the PGN tag Round.",
    );
    let mut table = Table::new(["engine", "finding", "moves", "games", "first move", "details"]);
    for (number, found) in summary.lint.iter().enumerate() {
        let LintCount { engine, rule, moves, games, what, .. } = found;
        let (engine, place) = (&summary.engines[*engine], place_of(found));
        table.push([engine, &rule.describe(), moves, games, &place, what]);
        if number < MAX_LINTED {
            table.link("first move", format!("#lint-{number}-{}", found.ply + 1));
        }
    }
    document.table(table);
    let games = summary.lint.iter().take(MAX_LINTED).map(|found| {
        let LintCount { engine, rule, pair, half, ply, what, game, .. } = found;
        let engine = &summary.engines[*engine];
        game_to_show(&summary.plan, (*pair, *half, game), *ply + 1, |number| {
            format!("{engine} at {number} {}: {what}.", rule.describe())
        })
    });
    document.blocks.push(Block::Games(games.collect()));
}
