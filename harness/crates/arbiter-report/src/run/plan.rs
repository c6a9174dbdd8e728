//! Plan of a run, as JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::figures::rules_text;
use crate::parts::to_value;
use arbiter_names::quantity;
use arbiter_openings::Book;
use arbiter_plan::{CpuContention, Engine, Plan, Program, RunKind};
use arbiter_schedule::{Design, Format};
use arbiter_settings::command_line;
use arbiter_stats::Sprt;
use arbiter_store::Fingerprints;

/// Plan of a run, with every default: --dry-run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.plan/1")]
pub(crate) struct PlanFigures<'a> {
    /// Kind of the run.
    kind: RunKind,
    /// Engines that play.
    engines: Vec<EngineFigures<'a>>,
    /// File of the opening book; `null` for the bundled one.
    book: Option<String>,
    /// BLAKE3 hash of the book.
    book_blake3: &'a str,
    /// Number of openings in the book.
    openings: usize,
    /// Number of openings that repeat an earlier one.
    duplicate_openings: usize,
    /// Most different pairs that two engines with repeatable play can have; `null` under a clock.
    different_pairs: Option<usize>,
    /// Number from which every random choice derives.
    seed: u64,
    /// Format of the tournament.
    format: Format,
    /// Passes through the schedule; rounds of a Swiss.
    rounds: u64,
    /// Pairs of an encounter.
    pairs: u64,
    /// Rules of the tournament in words.
    schedule: String,
    /// Number of games in parallel.
    concurrency: usize,
    /// SPRT, if the run is one.
    sprt: Option<Sprt>,
    /// Rules of adjudication, each in words.
    adjudication: Vec<String>,
    /// Share of games that may end by faults of engines before the run is invalid, 0 to 1.
    fault_limit: f64,
    /// Treatment of pairs that the machine disturbed.
    cpu_contention: CpuContention,
    /// Command line that plays the run.
    command: String,
}

/// Engine with its settings.
#[derive(Debug, Serialize, JsonSchema)]
struct EngineFigures<'a> {
    /// Name of the engine.
    name: &'a str,
    /// Path of the program; `null` for the bundled one.
    program: Option<String>,
    /// Arguments of the program.
    args: &'a [String],
    /// Options that are set.
    options: BTreeMap<&'a str, String>,
    /// BLAKE3 hashes of the files that options name, by the options.
    option_files: BTreeMap<&'a str, &'a str>,
    /// Limits of the engine, in words.
    limits: String,
    /// Milliseconds by which the engine may overrun its clock.
    margin_ms: f64,
    /// Commit that the engine was built from.
    commit: Option<&'a str>,
    /// BLAKE3 hash of the program.
    blake3: &'a str,
}

/// Returns the most different pairs of two engines with repeatable play; `None` under a clock.
fn different_pairs(plan: &Plan, book: &Book) -> Option<usize> {
    (!plan.is_timed()).then(|| book.len() - book.duplicates())
}

/// Returns a warning if a run without a clock asks for more pairs than its openings allow.
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
    let fate = if plan.counts_repeats() { "counted" } else { "not counted" };
    Some(format!("{openings} and {limit}: at most {pairs}{each}; repeated pairs are {fate}"))
}

/// Returns the plan of a run from a book, with every default explicit.
pub fn plan_json(plan: &Plan, fingerprints: &Fingerprints, book: &Book) -> Value {
    let engines = plan.engines.iter().zip(fingerprints.by_engine());
    to_value(&PlanFigures {
        kind: plan.kind,
        engines: engines.map(|(engine, (hash, files))| figures(engine, hash, files)).collect(),
        book: plan.book.as_ref().map(|path| path.display().to_string()),
        book_blake3: &fingerprints.book,
        openings: book.len(),
        duplicate_openings: book.duplicates(),
        different_pairs: different_pairs(plan, book),
        seed: plan.seed,
        format: plan.design.format,
        rounds: plan.design.rounds,
        pairs: plan.design.pairs,
        schedule: rules_text(&plan.design, plan.engines.len()),
        concurrency: plan.concurrency,
        sprt: plan.sprt,
        adjudication: plan.rules.describe(),
        fault_limit: plan.fault_limit,
        cpu_contention: plan.cpu_contention(),
        command: command_line(plan),
    })
}

fn figures<'a>(engine: &'a Engine, hash: &'a str, files: &'a [String]) -> EngineFigures<'a> {
    let told = engine.options.iter().zip(engine.told_options());
    let files = engine.option_files().zip(files);
    EngineFigures {
        name: &engine.name,
        program: match &engine.program {
            Program::Bundled => None,
            Program::Path(path) => Some(path.display().to_string()),
        },
        args: &engine.args,
        options: told.map(|((name, _), (_, told))| (&**name, told)).collect(),
        option_files: files.map(|((name, _), hash)| (name, &**hash)).collect(),
        limits: engine.conditions.limits.to_string(),
        margin_ms: engine.conditions.margin.as_secs_f64() * 1e3,
        commit: engine.provenance.as_ref().map(|from| from.commit.as_str()),
        blake3: hash,
    }
}
