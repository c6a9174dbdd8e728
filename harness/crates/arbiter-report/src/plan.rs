//! What a run would do, as JSON.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::json::to_value;
use crate::standings::rules_in_words;
use arbiter_plan::{CpuContention, Engine, Plan, Program, RunKind, command_line};
use arbiter_schedule::Format;
use arbiter_stats::Sprt;
use arbiter_store::Fingerprints;

/// What a run would do, with every default: --dry-run.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.plan/1")]
pub(crate) struct PlanFigures<'a> {
    /// Kind of the run.
    kind: RunKind,
    /// The engines.
    engines: Vec<EngineFigures<'a>>,
    /// File of the opening book; `null` for the bundled one.
    book: Option<String>,
    /// BLAKE3 hash of the book.
    book_blake3: &'a str,
    /// Openings of the book.
    openings: usize,
    /// Number from which every random choice derives.
    seed: u64,
    /// Format of the tournament.
    format: Format,
    /// How often everybody meets; rounds of a Swiss.
    rounds: u64,
    /// Pairs of an encounter.
    pairs: u64,
    /// The rules of the tournament in words.
    schedule: String,
    /// Games at once.
    concurrency: usize,
    /// The SPRT, if it is one.
    sprt: Option<Sprt>,
    /// Rules of adjudication, each in words.
    adjudication: Vec<String>,
    /// Share of games that may end by faults of engines before the run is invalid, 0 to 1.
    fault_limit: f64,
    /// What becomes of pairs that the machine disturbed.
    cpu_contention: CpuContention,
    /// The command line that plays it.
    command: String,
}

/// An engine.
#[derive(Debug, Serialize, JsonSchema)]
struct EngineFigures<'a> {
    /// Its name.
    name: &'a str,
    /// Its program; `null` for the bundled one.
    program: Option<String>,
    /// Arguments.
    args: &'a [String],
    /// Options that are set.
    options: BTreeMap<&'a str, String>,
    /// BLAKE3 hashes of the files that options name, by the options.
    option_files: BTreeMap<&'a str, &'a str>,
    /// What bounds it, in words.
    limits: String,
    /// Milliseconds by which it may overrun its clock.
    margin_ms: f64,
    /// The commit that it was built from.
    commit: Option<&'a str>,
    /// BLAKE3 hash of the program.
    blake3: &'a str,
}

/// The plan, with every default explicit; `openings` is how many the book has.
pub fn plan_json(plan: &Plan, fingerprints: &Fingerprints, openings: usize) -> Value {
    let engines = plan.engines.iter().zip(fingerprints.by_engine());
    to_value(&PlanFigures {
        kind: plan.kind,
        engines: engines.map(|(engine, (hash, files))| figures(engine, hash, files)).collect(),
        book: plan.book.as_ref().map(|path| path.display().to_string()),
        book_blake3: &fingerprints.book,
        openings,
        seed: plan.seed,
        format: plan.design.format,
        rounds: plan.design.rounds,
        pairs: plan.design.pairs,
        schedule: rules_in_words(&plan.design, plan.engines.len()),
        concurrency: plan.concurrency,
        sprt: plan.sprt,
        adjudication: plan.rules.words(),
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
