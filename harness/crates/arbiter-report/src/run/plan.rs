//! Plan of a run as JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::figures::rules_text;
use crate::parts::to_value;
use arbiter_names::quantity;
use arbiter_openings::Book;
use arbiter_plan::{CpuContention, Engine, Plan, RunKind};
use arbiter_schedule::{Design, Format};
use arbiter_settings::command_line;
use arbiter_stats::Sprt;
use arbiter_store::{EngineHashes, Fingerprints};

/// Plan of a run with every default, printed by --dry-run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.plan/1")]
pub(crate) struct PlanFigures<'a> {
    /// Kind of the run.
    kind: RunKind,
    /// Engines of the run.
    engines: Vec<EngineFigures<'a>>,
    /// Path of the opening book; `null` for the bundled book.
    book: Option<String>,
    /// BLAKE3 hash of the book.
    book_blake3: &'a str,
    /// Number of openings in the book.
    openings: usize,
    /// Number of openings that repeat an earlier opening.
    duplicate_openings: usize,
    /// Maximum number of different pairs of two deterministic engines; `null` in games with a time
    /// limit.
    different_pairs: Option<usize>,
    /// Seed of all random choices.
    seed: u64,
    /// Format of the tournament.
    format: Format,
    /// Number of passes through the schedule, or of rounds of a Swiss.
    rounds: u64,
    /// Number of pairs per encounter.
    pairs: u64,
    /// Rules of the tournament, as text.
    schedule: String,
    /// Number of games in parallel; `null` if workers play, because the slots of the workers
    /// determine the number.
    concurrency: Option<usize>,
    /// SPRT of the run, if any.
    sprt: Option<Sprt>,
    /// Adjudication rules, as text.
    adjudication: Vec<String>,
    /// Maximum share, 0 to 1, of games that end by an engine fault in a valid run.
    fault_limit: f64,
    /// Treatment of pairs with CPU contention.
    cpu_contention: CpuContention,
    /// Command line that plays the run.
    command: String,
}

/// Engine with its settings.
#[derive(Debug, Serialize, JsonSchema)]
struct EngineFigures<'a> {
    /// Name of the engine.
    name: &'a str,
    /// Path of the program; `null` for the bundled engine.
    program: Option<String>,
    /// Arguments of the program.
    args: &'a [String],
    /// UCI options that the run sets, by name.
    options: BTreeMap<&'a str, String>,
    /// BLAKE3 hashes of the option files, by name of the option.
    option_files: BTreeMap<&'a str, &'a str>,
    /// Search limits of the engine, as text.
    limits: String,
    /// Time by which the engine may overrun its clock, in milliseconds.
    margin_ms: f64,
    /// Commit that the engine was built from; `null` if the engine was not built.
    commit: Option<&'a str>,
    /// BLAKE3 hash of the program.
    blake3: &'a str,
}

/// Returns the maximum number of distinct pairs that two deterministic engines can play; `None` for
/// games with a time limit.
fn different_pairs(plan: &Plan, book: &Book) -> Option<usize> {
    (!plan.is_timed()).then(|| book.len() - book.duplicates)
}

/// Returns a warning if a run without time limits requests more pairs than the book has distinct
/// openings.
pub fn repeats_text(plan: &Plan, book: &Book) -> Option<String> {
    let most = different_pairs(plan, book)?;
    let Design { rounds, pairs, .. } = plan.design;
    if most as u64 >= rounds.saturating_mul(pairs) {
        return None;
    }
    let limits = || plan.engines.iter().map(|engine| engine.conditions.limits);
    let limit = if limits().all(|limits| limits.nodes.is_some()) {
        "a node limit"
    } else if limits().all(|limits| limits.depth.is_some()) {
        "a depth limit"
    } else {
        "no clock"
    };
    let openings = quantity(book.len(), "opening");
    let pairs = quantity(most, "distinct pair");
    let each = if plan.engines.len() > 2 { " per encounter" } else { "" };
    let fate = if plan.is_lenient { "counted" } else { "not counted" };
    Some(format!("{openings} and {limit}: at most {pairs}{each}; repeated pairs are {fate}"))
}

/// Returns the plan of a run as JSON, with every default explicit. `concurrency` is `None` if
/// workers play the games.
pub fn plan_json(
    plan: &Plan,
    fingerprints: &Fingerprints,
    book: &Book,
    concurrency: Option<usize>,
) -> Value {
    let engines = plan.engines.iter().zip(&fingerprints.engines);
    to_value(&PlanFigures {
        kind: plan.kind,
        engines: engines.map(|(engine, hashes)| figures(engine, hashes)).collect(),
        book: plan.book.as_ref().map(|path| path.display().to_string()),
        book_blake3: &fingerprints.book,
        openings: book.len(),
        duplicate_openings: book.duplicates,
        different_pairs: different_pairs(plan, book),
        seed: plan.seed,
        format: plan.design.format,
        rounds: plan.design.rounds,
        pairs: plan.design.pairs,
        schedule: rules_text(&plan.design, plan.engines.len(), plan.sprt.is_some()),
        concurrency,
        sprt: plan.sprt,
        adjudication: plan.rules.describe(),
        fault_limit: plan.fault_limit,
        cpu_contention: plan.cpu_contention(),
        command: command_line(plan),
    })
}

fn figures<'a>(engine: &'a Engine, hashes: &'a EngineHashes) -> EngineFigures<'a> {
    let options = engine.options.iter().zip(engine.sent_options());
    let files = engine.option_files().zip(&hashes.option_files);
    EngineFigures {
        name: &engine.name,
        program: engine.program.as_ref().map(|path| path.display().to_string()),
        args: &engine.args,
        options: options.map(|((name, _), (_, value))| (&**name, value)).collect(),
        option_files: files.map(|((name, _), hash)| (name, &**hash)).collect(),
        limits: engine.conditions.limits.to_string(),
        margin_ms: engine.conditions.margin.as_secs_f64() * 1e3,
        commit: engine.provenance.as_ref().map(|from| from.commit.as_str()),
        blake3: &hashes.program,
    }
}
