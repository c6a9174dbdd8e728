//! Node counts and pawn-table use of searches, by stage of the game, for
//! `results/claims_measure.py`.

use clap::Args;
use palimpsest::bench;
use palimpsest::chess::{Game, Kind, Position};
use palimpsest::eval::{TableUse, Variant};
use palimpsest::search::{Configuration, Limits, Memory, Personality, Request, Signals, search};
use palimpsest::time::Timer;
use serde_json::json;

/// Search the positions of the bench by stage of the game
#[derive(Args)]
pub(super) struct StagesArgs {
    /// Personality of the search
    #[arg(long, value_name = "NAME", value_parser = super::personality, default_value = "palimpsest")]
    personality: Personality,
    /// Evaluation, by default that of the personality
    #[arg(long, value_name = "NAME", value_parser = variant)]
    variant: Option<Variant>,
    /// Features to disable
    #[arg(long, value_name = "FEATURES", default_value = "", hide_default_value = true)]
    disable: String,
    /// Experiments to enable
    #[arg(long, value_name = "EXPERIMENTS", default_value = "", hide_default_value = true)]
    enable: String,
    /// Maximum number of nodes of each search
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    nodes: u64,
    /// Search the positions of one stage only: opening, middlegame or endgame
    #[arg(long, value_name = "STAGE", value_parser = stage)]
    only: Option<Stage>,
    /// Print a JSON object for each stage
    #[arg(long)]
    json: bool,
}

fn variant(name: &str) -> Result<Variant, String> {
    let known = Variant::ALL.map(Variant::name).join(", ");
    Variant::from_name(name).ok_or_else(|| format!("expected one of {known}"))
}

fn stage(name: &str) -> Result<Stage, String> {
    let known = Stage::ALL.map(Stage::name).join(", ");
    let found = Stage::ALL.into_iter().find(|stage| stage.name() == name);
    found.ok_or_else(|| format!("expected one of {known}"))
}

/// A stage of the game, by phase. The phase is the sum over the pieces on the board: a knight or
/// bishop counts 1, a rook 2, a queen 4. The starting position has phase 24.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Phase 20 or more.
    Opening,
    /// Phase 9 to 19.
    Middlegame,
    /// Phase 8 or less.
    Endgame,
}

impl Stage {
    /// All stages in the order of a game.
    const ALL: [Stage; 3] = [Stage::Opening, Stage::Middlegame, Stage::Endgame];

    const fn name(self) -> &'static str {
        match self {
            Stage::Opening => "opening",
            Stage::Middlegame => "middlegame",
            Stage::Endgame => "endgame",
        }
    }

    fn of(position: &Position) -> Stage {
        let count = |kind: Kind| position.board().kind(kind).len();
        let minor = count(Kind::Knight) + count(Kind::Bishop);
        match minor + 2 * count(Kind::Rook) + 4 * count(Kind::Queen) {
            20.. => Stage::Opening,
            9..20 => Stage::Middlegame,
            _ => Stage::Endgame,
        }
    }
}

/// Sums over the searches of one stage.
#[derive(Debug)]
struct StageResult {
    stage: Stage,
    positions: u64,
    nodes: u64,
    /// Use of the evaluation's pawn table; `None` if the evaluation does not count lookups.
    pawn_table: Option<TableUse>,
}

pub(super) fn run(args: &StagesArgs) -> Result<String, String> {
    let configuration = Configuration::new(args.personality, args.variant)
        .without(&args.disable)
        .and_then(|configuration| configuration.trying(&args.enable))
        .map_err(|unknown| unknown.to_string())?;
    let mut lines = Vec::new();
    for stage in Stage::ALL {
        if args.only.is_none_or(|only| only == stage) {
            let result = search_stage(stage, args.nodes, configuration)?;
            lines.push(if args.json { object(&result) } else { text(&result) });
        }
    }
    Ok(lines.join("\n"))
}

/// Searches each position of a stage with a cleared memory and one thread.
fn search_stage(
    stage: Stage,
    nodes: u64,
    configuration: Configuration,
) -> Result<StageResult, String> {
    let mut memory = Memory::for_personality(configuration.personality, bench::HASH_MB)
        .map_err(|error| error.to_string())?;
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let timer = Timer::start(None);
    let signals = Signals::default();
    let mut sum = StageResult { stage, positions: 0, nodes: 0, pawn_table: None };
    for position in bench::positions().filter(|position| Stage::of(position) == stage) {
        let game = Game::new(position);
        let request = Request { game: &game, limits: &limits, timer: &timer, signals: &signals };
        memory.clear();
        let result = search(configuration, request, &mut memory, &mut |_| {});
        sum.positions += 1;
        sum.nodes += result.nodes;
        if let Some(used) = result.pawn_table {
            let total = sum.pawn_table.get_or_insert_default();
            total.looked_up += used.looked_up;
            total.found += used.found;
        }
    }
    Ok(sum)
}

fn text(result: &StageResult) -> String {
    let StageResult { stage, positions, nodes, pawn_table } = result;
    let table = pawn_table.map_or(String::new(), |used| {
        let share = 100.0 * used.found as f64 / used.looked_up.max(1) as f64;
        format!(", {} pawn table lookups, {share:.1} % found", used.looked_up)
    });
    format!("{:<12}{positions} positions, {nodes} nodes{table}", stage.name())
}

fn object(result: &StageResult) -> String {
    let used = result.pawn_table;
    let used = used.map(|used| json!({"looked_up": used.looked_up, "found": used.found}));
    json!({
        "stage": result.stage.name(),
        "positions": result.positions,
        "nodes": result.nodes,
        "pawn_table": used,
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_cover_all_positions_and_pawn_tables_are_counted() {
        let run = |personality: Personality| {
            Stage::ALL.map(|stage| search_stage(stage, 2_000, personality.into()).unwrap())
        };
        let found = run(Personality::Rdchess);
        let positions: u64 = found.iter().map(|one| one.positions).sum();
        assert_eq!(positions, bench::positions().count() as u64);
        for one in found {
            let used = one.pawn_table.expect("it has a table of kings and pawns");
            assert!(one.nodes > 0 && used.found > used.looked_up / 2, "{one:?}");
            assert!(used.found < used.looked_up, "{one:?}");
        }
        assert!(run(Personality::Micromax).iter().all(|one| one.pawn_table.is_none()));
    }
}
