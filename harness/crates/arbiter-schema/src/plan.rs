//! Plans.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DefaultOnNull, DisplayFromStr, serde_conv};

use crate::convert::{DeadlinesMs, Millis};
use crate::engine::EngineRow;
use arbiter_game::adjudicate::{Rules, TablebaseRule};
use arbiter_game::annotation::{Annotation, Field, Keeping, LinePattern, Notation};
use arbiter_openings::Order;
use arbiter_openings::Quarantine;
use arbiter_plan::ablation::Ablation;
use arbiter_plan::affinity::Affinity;
use arbiter_plan::plan::{BookSource, Engine, Kind, Plan};
use arbiter_plan::provenance::Scale;
use arbiter_protocol::Deadlines;
use arbiter_schedule::{Design, Format, OpeningPolicy};
use arbiter_spsa::Parameter;
use arbiter_spsa::Tuning;
use arbiter_spsa::table;
use arbiter_stats::{Correction, Model, Sprt, SprtError};

/// Version of the stored plan. Fields may be added with a default; a change of meaning needs a new
/// version. Version 2 has a stopping rule with corrected bounds, which readers of version 1 would
/// not see.
const VERSION: u32 = 2;

/// What the inputs of a run looked like when it began: hashes that a resumed run compares, so
/// that it never mixes the games of two programs or two books.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Fingerprints {
    /// Of the opening book.
    #[serde(rename = "book_hash")]
    pub book: String,
    /// Of the openings read from it; `None` in runs from before it was kept.
    #[serde(rename = "openings_hash")]
    pub openings: Option<String>,
    /// What of the book was left out.
    #[serde(default, with = "QuarantineDef")]
    pub quarantine: Quarantine,
    /// Of each engine's program.
    #[serde(skip)]
    pub engines: Vec<String>,
    /// The machine, in words; it may be another when a run goes on. `None` in runs from before it was
    /// kept.
    pub host: Option<String>,
}

/// The stored plan. What is not where the plan has it stands here, and is skipped in [`PlanDef`].
#[derive(Debug, Serialize, Deserialize)]
pub struct PlanRow {
    version: u32,
    engines: Vec<EngineRow>,
    #[serde(flatten)]
    fingerprints: Fingerprints,
    tables: Option<TablesRow>,
    #[serde(default)]
    output: OutputRow,
    #[serde(flatten, with = "PlanDef")]
    plan: Plan,
}

/// Where endgame tables are, and which games they end.
#[derive(Debug, Serialize, Deserialize)]
struct TablesRow {
    paths: Vec<PathBuf>,
    #[serde(flatten)]
    rule: TablebaseRule,
}

/// How games are written down.
#[derive(Debug, Default, Serialize, Deserialize)]
struct OutputRow {
    #[serde(flatten, with = "AnnotationDef")]
    annotation: Annotation,
    epd: Option<PathBuf>,
    /// Absent in runs from before transcripts were kept.
    transcripts: Option<Keeping>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Plan")]
struct PlanDef {
    kind: Kind,
    #[serde(skip)]
    engines: Vec<Engine>,
    #[serde(with = "BookDef")]
    book: BookSource,
    plies: Option<u32>,
    book_depth: Option<u32>,
    #[serde(default)]
    strict_book: bool,
    order: Order,
    seed: u64,
    #[serde(default)]
    opening_start: u64,
    #[serde(flatten, with = "DesignDef")]
    design: Design,
    #[serde(rename = "wait_ms", default, with = "Millis")]
    wait: Duration,
    concurrency: usize,
    #[serde(default, with = "As::<DefaultOnNull<DisplayFromStr>>")]
    affinity: Affinity,
    #[serde(default, with = "As::<Option<SprtConv>>")]
    sprt: Option<Sprt>,
    ablation: Option<Ablation>,
    #[serde(default, with = "As::<Option<Arc<TuningDef>>>")]
    tuning: Option<Arc<Tuning>>,
    fault_limit: f64,
    scale: Option<Scale>,
    #[serde(flatten)]
    rules: Rules,
    #[serde(skip)]
    tables: Vec<PathBuf>,
    /// Absent in runs from before there was one: nothing was measured.
    noise_limit: Option<f64>,
    #[serde(rename = "deadlines_ms", with = "DeadlinesMs")]
    deadlines: Deadlines,
    pgn: Option<PathBuf>,
    #[serde(skip)]
    annotation: Annotation,
    #[serde(skip)]
    epd: Option<PathBuf>,
    #[serde(skip)]
    transcripts: Keeping,
}

/// A path; `null` is the bundled book.
#[derive(Serialize, Deserialize)]
#[serde(remote = "BookSource", untagged)]
enum BookDef {
    Bundled,
    File(PathBuf),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Design")]
struct DesignDef {
    #[serde(rename = "schedule", default)]
    format: Format,
    #[serde(default)]
    seeds: usize,
    #[serde(default = "one")]
    rounds: u64,
    pairs: u64,
    #[serde(rename = "noswap", default)]
    is_single: bool,
    #[serde(rename = "reverse", default)]
    is_reversed: bool,
    #[serde(rename = "opening_policy", default)]
    openings: OpeningPolicy,
    #[serde(default)]
    tie_breaks: u64,
    /// Runs from before there was a choice were played out.
    #[serde(default = "yes")]
    plays_out: bool,
}

/// What games tell besides their moves. What is absent is as it was before there was a choice.
#[derive(Serialize, Deserialize)]
#[serde(remote = "Annotation")]
pub struct AnnotationDef {
    #[serde(default, with = "As::<DefaultOnNull>")]
    notation: Notation,
    #[serde(default)]
    fields: Vec<Field>,
    #[serde(default, with = "As::<Option<DisplayFromStr>>")]
    pattern: Option<LinePattern>,
    #[serde(rename = "minimal", default)]
    is_minimal: bool,
    #[serde(rename = "origin", default)]
    has_origin: bool,
    event: Option<String>,
    site: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Quarantine")]
struct QuarantineDef {
    count: u64,
    faults: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Tuning")]
struct TuningDef {
    #[serde(with = "As::<Vec<Line>>")]
    parameters: Vec<Parameter>,
    alpha: f64,
    gamma: f64,
    a_ratio: f64,
    iterations: u64,
    pairs: u64,
    ahead: u64,
}

crate::mirrors! {
    TuningDef: Tuning;
}

serde_conv!(
    /// A line of a table with kinds: text keeps every digit.
    Line,
    Parameter,
    table::line,
    |line: String| table::read_line(&line)
);

serde_conv!(SprtConv, Sprt, SprtRow::of, SprtRow::into_sprt);

#[derive(Serialize, Deserialize)]
struct SprtRow {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
    #[serde(rename = "overshoot", default = "uncorrected")]
    correction: Correction,
}

impl SprtRow {
    fn of(sprt: &Sprt) -> SprtRow {
        SprtRow {
            elo0: sprt.elo0,
            elo1: sprt.elo1,
            alpha: sprt.alpha,
            beta: sprt.beta,
            model: sprt.model,
            correction: sprt.correction,
        }
    }

    fn into_sprt(self) -> Result<Sprt, SprtError> {
        let test = Sprt::new(self.elo0, self.elo1, self.alpha, self.beta, self.model)?;
        Ok(test.with_correction(self.correction))
    }
}

/// How tests stopped before there was a choice.
fn uncorrected() -> Correction {
    Correction::None
}

fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

impl PlanRow {
    /// The stored form of a plan; the fingerprints have a hash for each of its engines.
    pub fn of(plan: &Plan, fingerprints: &Fingerprints) -> PlanRow {
        let hashes = fingerprints.engines.iter().cloned();
        let engines = plan.engines.iter().cloned().zip(hashes);
        let tables = |rule| TablesRow { paths: plan.tables.clone(), rule };
        PlanRow {
            version: VERSION,
            engines: engines
                .map(|(engine, program_hash)| EngineRow { engine, program_hash })
                .collect(),
            fingerprints: fingerprints.clone(),
            tables: plan.rules.tablebase.map(tables),
            output: OutputRow {
                annotation: plan.annotation.clone(),
                epd: plan.epd.clone(),
                transcripts: Some(plan.transcripts),
            },
            plan: plan.clone(),
        }
    }

    /// As JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a plan is numbers and text")
    }

    /// Reads JSON; the error says what is wrong with it.
    pub fn from_json(text: &str) -> Result<PlanRow, String> {
        let row: PlanRow = serde_json::from_str(text).map_err(|error| format!("plan: {error}"))?;
        match row.version {
            1..=VERSION => Ok(row),
            version => Err(format!("plan has version {version}; update arbiter")),
        }
    }

    /// The plan.
    pub fn into_plan(self) -> (Plan, Fingerprints) {
        let PlanRow { engines, mut fingerprints, tables, output, mut plan, .. } = self;
        (fingerprints.engines, plan.engines) =
            engines.into_iter().map(|row| (row.program_hash, row.engine)).unzip();
        if let Some(TablesRow { paths, rule }) = tables {
            (plan.tables, plan.rules.tablebase) = (paths, Some(rule));
        }
        (plan.annotation, plan.epd) = (output.annotation, output.epd);
        plan.transcripts = output.transcripts.unwrap_or(Keeping::None);
        (plan, fingerprints)
    }
}

#[cfg(test)]
mod tests;
