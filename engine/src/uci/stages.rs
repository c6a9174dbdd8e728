//! The command `bench --stages`: nodes and pawn-table use of searches by the stage of the game.

use super::cli::{CommandError, EXIT_ENVIRONMENT, EXIT_INPUT, EXIT_USAGE};
use super::json;
use super::options::{personality, variant};
use super::output::Output;
use crate::bench::{Stage, StageResult, run_stage};
use crate::search::Configuration;

/// Nodes for each position unless another number is given.
const NODES: u64 = 20_000;

/// Runs the command with the words after `--stages`.
pub(super) fn run(words: &[&str], output: &Output) -> Result<(), CommandError> {
    let input = |reason: String| CommandError(EXIT_INPUT, reason);
    let (mut nodes, mut only, mut search, mut eval) = (NODES, None, None, None);
    let (mut disable, mut enable, mut as_json) = ("", "", false);
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        if word == "--json" {
            as_json = true;
            continue;
        }
        let needs = || CommandError(EXIT_USAGE, format!("{word} is unknown or needs a value"));
        let value = words.next().ok_or_else(needs)?;
        match word {
            "--nodes" => nodes = value.parse().ok().filter(|&n| n > 0).ok_or_else(needs)?,
            "--only" => only = Some(stage(value).map_err(input)?),
            "--personality" => search = Some(personality(value).map_err(input)?),
            "--variant" => eval = Some(variant(value).map_err(input)?),
            "--disable" => disable = value,
            "--enable" => enable = value,
            _ => return Err(needs()),
        }
    }
    let configuration = Configuration::new(search.unwrap_or_default(), eval)
        .without(disable)
        .and_then(|configuration| configuration.trying(enable))
        .map_err(|unknown| input(unknown.to_string()))?;
    for stage in Stage::ALL.into_iter().filter(|&stage| only.is_none_or(|only| only == stage)) {
        let result = run_stage(stage, nodes, configuration)
            .map_err(|error| CommandError(EXIT_ENVIRONMENT, error.to_string()))?;
        output.line(&if as_json { object(&result) } else { text(&result) });
    }
    Ok(())
}

fn stage(name: &str) -> Result<Stage, String> {
    let known = Stage::ALL.map(Stage::name).join(", ");
    let found = Stage::ALL.into_iter().find(|stage| stage.name() == name);
    found.ok_or_else(|| format!("--only must be one of {known}, not \"{name}\""))
}

fn text(result: &StageResult) -> String {
    let StageResult { stage, positions, nodes, pawn_table } = result;
    let table = pawn_table.map_or(String::new(), |used| {
        let share = 100.0 * used.found as f64 / used.looked_up.max(1) as f64;
        format!(", table of pawns asked {} times, {share:.1} % found", used.looked_up)
    });
    format!("{:<12}{positions} positions, {nodes} nodes{table}", stage.name())
}

fn object(result: &StageResult) -> String {
    let used = result.pawn_table.map_or("null".to_owned(), |used| {
        json::object([("looked_up", used.looked_up.to_string()), ("found", used.found.to_string())])
    });
    json::object([
        ("stage", json::text(result.stage.name())),
        ("positions", result.positions.to_string()),
        ("nodes", result.nodes.to_string()),
        ("pawn_table", used),
    ])
}
