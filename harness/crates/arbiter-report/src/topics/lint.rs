//! Lint findings in the output of engines, as text and as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shakmaty::Color;

use super::games::game_to_show;
use crate::figures::{Summary, movers};
use crate::parts::{Block, Document, Table};
use arbiter_game::lint::LintRule;
use arbiter_game::record::GameRecord;
use arbiter_store::LintCount;

/// Maximum number of lint findings for which an example game is shown.
const MAX_LINTED: usize = 8;

/// Returns the name of each engine with findings, and the engine's findings in one line.
pub(crate) fn by_engine(summary: &Summary) -> impl Iterator<Item = (&str, String)> {
    let engines = summary.lint.chunk_by(|one, other| one.engine == other.engine);
    engines.map(|found| {
        let word =
            |one: &LintCount| format!("{} {} ({})", one.rule.describe(), one.moves, place_of(one));
        let texts = found.iter().map(word);
        (summary.engines[found[0].engine].as_str(), texts.collect::<Vec<_>>().join(", "))
    })
}

/// Formats the game and the move of the example for a finding.
fn place_of(found: &LintCount) -> String {
    place(found.pair, found.half, &found.game, found.ply)
}

/// Formats a move and its game: the numbers of pair and game as in the PGN tag `Round`, the move
/// number, and the move in UCI notation.
pub(crate) fn place(pair: u64, game_index: usize, game: &GameRecord, ply: usize) -> String {
    let (color, number) = movers(game).nth(ply).unwrap_or((Color::White, 0));
    let dots = color.fold_wb(".", "...");
    let uci = game.moves.get(ply).map(|played| played.uci.to_string()).unwrap_or_default();
    format!("{}.{}, {number}{dots} {uci}", pair + 1, game_index + 1)
}

/// Lint findings of one rule for one engine.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct LintFigures<'a> {
    /// Name of the engine.
    engine: &'a str,
    /// Violated rule.
    pub(crate) rule: LintRule,
    /// Number of moves with the finding.
    pub(crate) moves: u64,
    /// Number of games with the finding.
    games: u64,
    /// Game of the example: numbers of pair and game, as in the PGN tag `Round`.
    example_game: String,
    /// Ply of the example, from 1.
    example_ply: usize,
    /// Description of the example.
    pub(crate) example: String,
}

/// Returns the findings by engine and rule for JSON.
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

/// Adds the section on lint findings, with example games, unless there are no findings.
pub(crate) fn all(document: &mut Document, summary: &Summary) {
    if summary.lint.is_empty() {
        return;
    }
    document.heading("Lint");
    document.paragraph(
        "Contradictory or impossible engine output, which does not affect results. For each kind of \
         finding, the table lists the first move with this finding, preceded by the number of the \
         game (PGN tag Round).",
    );
    let mut table = Table::new(["engine", "finding", "moves", "games", "first move", "details"]);
    for (number, found) in summary.lint.iter().enumerate() {
        let LintCount { engine, rule, moves, games, what, .. } = found;
        let engine = &summary.engines[*engine];
        table.push([engine, &rule.describe(), moves, games, &place_of(found), what]);
        if number < MAX_LINTED {
            table.link("first move", format!("#lint-{number}-{}", found.ply + 1));
        }
    }
    document.table(table);
    let games = summary.lint.iter().take(MAX_LINTED).map(|found| {
        let LintCount { engine, rule, pair, half, ply, what, game, .. } = found;
        let engine = &summary.engines[*engine];
        game_to_show(&summary.plan, (*pair, *half, game), *ply + 1, |number| {
            format!("{engine}: {} at move {number} ({what}).", rule.describe())
        })
    });
    document.blocks.push(Block::Games(games.collect()));
}
