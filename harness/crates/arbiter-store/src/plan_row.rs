//! The stored form of a plan.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::output_row::OutputRow;
use super::provenance_row::{ProvenanceRow, ScaleRow};
use super::tables_row::TablesRow;
use super::tuning_row::TuningRow;
use arbiter_game::adjudicate::{DrawRule, ResignRule, Rules};
use arbiter_openings::order::Order;
use arbiter_openings::quarantine::Quarantine;
use arbiter_plan::ablation::Ablation;
use arbiter_plan::affinity::Affinity;
use arbiter_plan::manners::Manners;
use arbiter_plan::plan::{BookSource, Engine, Kind, Plan, Program};
use arbiter_protocol::WordError;
use arbiter_protocol::clock::{Conditions, Limits};
use arbiter_protocol::uci::session::Deadlines;
use arbiter_schedule::{Design, Format, OpeningPolicy};
use arbiter_stats::sprt::{Correction, Model, Sprt};

/// What the inputs of a run looked like when it began: hashes that a resumed run compares, so
/// that it never mixes the games of two programs or two books.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fingerprints {
    /// Of the opening book.
    pub book: String,
    /// Of the openings read from it; `None` in runs from before it was kept.
    pub openings: Option<String>,
    /// What of the book was left out.
    pub quarantine: Quarantine,
    /// Of each engine's program.
    pub engines: Vec<String>,
    /// The machine, in words; it may be another when a run goes on. `None` in runs from before it was
    /// kept.
    pub host: Option<String>,
}

/// Version of the stored plan. Fields may be added with a default; a change of meaning needs a new
/// version. Version 2 has a stopping rule with corrected bounds, which readers of version 1 would
/// not see.
const VERSION: u32 = 2;

/// The stored plan.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PlanRow {
    version: u32,
    kind: String,
    engines: Vec<EngineRow>,
    book: Option<PathBuf>,
    book_hash: String,
    #[serde(default)]
    openings_hash: Option<String>,
    #[serde(default)]
    quarantine: QuarantineRow,
    #[serde(default)]
    host: Option<String>,
    plies: Option<u32>,
    #[serde(default)]
    book_depth: Option<u32>,
    #[serde(default)]
    strict_book: bool,
    order: String,
    seed: u64,
    #[serde(default = "round_robin")]
    schedule: String,
    #[serde(default)]
    seeds: usize,
    #[serde(default = "one")]
    rounds: u64,
    pairs: u64,
    #[serde(default)]
    noswap: bool,
    #[serde(default)]
    reverse: bool,
    #[serde(default = "shared")]
    opening_policy: String,
    #[serde(default)]
    opening_start: u64,
    #[serde(default)]
    tie_breaks: u64,
    /// Runs from before there was a choice were played out.
    #[serde(default = "yes")]
    plays_out: bool,
    #[serde(default)]
    wait_ms: u64,
    concurrency: usize,
    #[serde(default)]
    affinity: Option<String>,
    sprt: Option<SprtRow>,
    #[serde(default)]
    ablation: Option<AblationRow>,
    #[serde(default)]
    tuning: Option<TuningRow>,
    fault_limit: f64,
    /// Absent in runs from before there was one: nothing was measured.
    #[serde(default)]
    noise_limit: Option<f64>,
    #[serde(default)]
    scale: Option<ScaleRow>,
    deadlines_ms: [u64; 4],
    #[serde(default)]
    draw: Option<DrawRow>,
    #[serde(default)]
    resign: Option<ResignRow>,
    #[serde(default)]
    move_cap: Option<u32>,
    #[serde(default)]
    tables: Option<TablesRow>,
    pgn: Option<PathBuf>,
    #[serde(default)]
    output: OutputRow,
}

#[derive(Debug, Serialize, Deserialize)]
struct EngineRow {
    name: String,
    /// `None` is the bundled engine.
    program: Option<PathBuf>,
    program_hash: String,
    args: Vec<String>,
    dir: Option<PathBuf>,
    options: Vec<(String, String)>,
    /// A time control as typed, such as `8+0.08`.
    tc: Option<String>,
    movetime_ns: Option<u64>,
    nodes: Option<u64>,
    depth: Option<u32>,
    #[serde(default)]
    nodestime: Option<u64>,
    margin_ns: u64,
    #[serde(default)]
    manners: MannersRow,
    #[serde(default)]
    provenance: Option<ProvenanceRow>,
}

/// What is absent is as it was before there was a choice.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct MannersRow {
    protocol: Option<String>,
    init: Vec<String>,
    restart: Option<String>,
    ponder: bool,
    stderr: Option<PathBuf>,
    memory_mib: Option<u64>,
}

impl MannersRow {
    fn of(manners: &Manners) -> MannersRow {
        MannersRow {
            protocol: Some(manners.protocol.to_string()),
            init: manners.init.clone(),
            restart: Some(manners.restart.to_string()),
            ponder: manners.ponder,
            stderr: manners.stderr.clone(),
            memory_mib: manners.memory_mib,
        }
    }

    fn into_manners(self) -> Result<Manners, String> {
        let wrong = |error: WordError| format!("plan: {error}");
        let protocol = self.protocol.map(|word| word.parse()).transpose().map_err(wrong)?;
        let restart = self.restart.map(|word| word.parse()).transpose().map_err(wrong)?;
        Ok(Manners {
            protocol: protocol.unwrap_or_default(),
            init: self.init,
            restart: restart.unwrap_or_default(),
            ponder: self.ponder,
            stderr: self.stderr,
            memory_mib: self.memory_mib,
        })
    }
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct QuarantineRow {
    count: u64,
    faults: Vec<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct DrawRow {
    move_number: u32,
    move_count: u32,
    score_cp: u32,
}

#[derive(Debug, Serialize, Deserialize)]
struct ResignRow {
    move_count: u32,
    score_cp: u32,
    two_sided: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct SprtRow {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: String,
    #[serde(default = "uncorrected")]
    overshoot: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct AblationRow {
    option: String,
    features: Vec<String>,
}

impl PlanRow {
    pub(super) fn of(plan: &Plan, fingerprints: &Fingerprints) -> PlanRow {
        let hashes = fingerprints.engines.iter();
        let limits = plan.deadlines;
        PlanRow {
            version: VERSION,
            kind: plan.kind.as_str().to_owned(),
            engines: plan.engines.iter().zip(hashes).map(|(e, h)| EngineRow::of(e, h)).collect(),
            book: match &plan.book {
                BookSource::Bundled => None,
                BookSource::File(path) => Some(path.clone()),
            },
            book_hash: fingerprints.book.clone(),
            openings_hash: fingerprints.openings.clone(),
            quarantine: QuarantineRow {
                count: fingerprints.quarantine.count,
                faults: fingerprints.quarantine.faults.clone(),
            },
            host: fingerprints.host.clone(),
            plies: plan.plies,
            book_depth: plan.book_depth,
            strict_book: plan.strict_book,
            order: order_name(plan.order).to_owned(),
            seed: plan.seed,
            schedule: plan.design.format.as_str().to_owned(),
            seeds: plan.design.seeds,
            rounds: plan.design.rounds,
            pairs: plan.design.pairs,
            noswap: plan.design.is_single,
            reverse: plan.design.is_reversed,
            opening_policy: plan.design.openings.as_str().to_owned(),
            opening_start: plan.opening_start,
            tie_breaks: plan.design.tie_breaks,
            plays_out: plan.design.plays_out,
            wait_ms: plan.wait.as_millis() as u64,
            concurrency: plan.concurrency,
            affinity: Some(plan.affinity.to_string()),
            sprt: plan.sprt.map(|sprt| SprtRow {
                elo0: sprt.elo0(),
                elo1: sprt.elo1(),
                alpha: sprt.alpha(),
                beta: sprt.beta(),
                model: model_name(sprt.model()).to_owned(),
                overshoot: sprt.correction().as_str().to_owned(),
            }),
            ablation: plan.ablation.as_ref().map(|ablation| AblationRow {
                option: ablation.option.clone(),
                features: ablation.features.clone(),
            }),
            tuning: plan.tuning.as_deref().map(TuningRow::of),
            fault_limit: plan.fault_limit,
            noise_limit: plan.noise_limit,
            scale: plan.scale.map(ScaleRow::of),
            deadlines_ms: [limits.uciok, limits.readyok, limits.bestmove, limits.stop]
                .map(|limit| limit.as_millis() as u64),
            draw: plan.rules.draw.map(|DrawRule { move_number, move_count, score_cp }| DrawRow {
                move_number,
                move_count,
                score_cp,
            }),
            resign: plan.rules.resign.map(|ResignRule { move_count, score_cp, two_sided }| {
                ResignRow { move_count, score_cp, two_sided }
            }),
            move_cap: plan.rules.move_cap,
            tables: plan.rules.tablebase.map(|rule| TablesRow::of(rule, &plan.tables)),
            pgn: plan.pgn.clone(),
            output: OutputRow::of(plan),
        }
    }

    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a plan is numbers and text")
    }

    pub(super) fn from_json(text: &str) -> Result<PlanRow, String> {
        let row: PlanRow = serde_json::from_str(text).map_err(|error| format!("plan: {error}"))?;
        match row.version {
            1..=VERSION => Ok(row),
            version => Err(format!("plan has version {version}; update arbiter")),
        }
    }

    fn fingerprints(&self) -> Fingerprints {
        let QuarantineRow { count, faults } = &self.quarantine;
        Fingerprints {
            book: self.book_hash.clone(),
            openings: self.openings_hash.clone(),
            quarantine: Quarantine { count: *count, faults: faults.clone() },
            host: self.host.clone(),
            engines: self.engines.iter().map(|engine| engine.program_hash.clone()).collect(),
        }
    }

    pub(super) fn into_plan(self) -> Result<(Plan, Fingerprints), String> {
        let fingerprints = self.fingerprints();
        let [uciok, readyok, bestmove, stop] = self.deadlines_ms.map(Duration::from_millis);
        let sprt = self.sprt.map(|row| row.into_sprt()).transpose()?;
        let (annotation, epd, transcripts) = self.output.into_output()?;
        let (tablebase, tables) = self.tables.map(TablesRow::into_rule).transpose()?.unzip();
        let rules =
            Rules {
                draw: self.draw.map(|DrawRow { move_number, move_count, score_cp }| DrawRule {
                    move_number,
                    move_count,
                    score_cp,
                }),
                resign: self.resign.map(|ResignRow { move_count, score_cp, two_sided }| {
                    ResignRule { move_count, score_cp, two_sided }
                }),
                move_cap: self.move_cap,
                tablebase,
            };
        let design = Design {
            format: parse(&self.schedule, &Format::ALL, Format::as_str)?,
            seeds: self.seeds,
            rounds: self.rounds,
            pairs: self.pairs,
            is_single: self.noswap,
            is_reversed: self.reverse,
            openings: parse(&self.opening_policy, &OpeningPolicy::ALL, OpeningPolicy::as_str)?,
            tie_breaks: self.tie_breaks,
            plays_out: self.plays_out,
        };
        let engines = self.engines.into_iter().map(EngineRow::into_engine);
        let plan = Plan {
            kind: parse(&self.kind, &Kind::ALL, Kind::as_str)?,
            engines: engines.collect::<Result<_, _>>()?,
            book: self.book.map_or(BookSource::Bundled, BookSource::File),
            plies: self.plies,
            book_depth: self.book_depth,
            strict_book: self.strict_book,
            order: parse(&self.order, &[Order::Sequential, Order::Random], order_name)?,
            seed: self.seed,
            design,
            opening_start: self.opening_start,
            wait: Duration::from_millis(self.wait_ms),
            concurrency: self.concurrency,
            affinity: self
                .affinity
                .map_or(Ok(Affinity::None), |text| text.parse())
                .map_err(|error| format!("plan: {error}"))?,
            sprt,
            ablation: self.ablation.map(AblationRow::into_ablation),
            tuning: self.tuning.map(TuningRow::into_tuning).transpose()?.map(Arc::new),
            fault_limit: self.fault_limit,
            noise_limit: self.noise_limit,
            scale: self.scale.map(ScaleRow::into_scale),
            rules,
            tables: tables.unwrap_or_default(),
            deadlines: Deadlines { uciok, readyok, bestmove, stop },
            pgn: self.pgn,
            annotation,
            epd,
            transcripts,
        };
        Ok((plan, fingerprints))
    }
}

impl EngineRow {
    fn of(engine: &Engine, hash: &str) -> EngineRow {
        let Conditions { limits, margin } = engine.conditions;
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        EngineRow {
            name: engine.name.clone(),
            program: match &engine.program {
                Program::Bundled => None,
                Program::Path(path) => Some(path.clone()),
            },
            program_hash: hash.to_owned(),
            args: engine.args.clone(),
            dir: engine.dir.clone(),
            options: engine.options.clone(),
            tc: limits.clock.map(|clock| clock.to_string()),
            movetime_ns: limits.movetime.map(nanos),
            nodes: limits.nodes,
            depth: limits.depth,
            nodestime: limits.nodestime,
            margin_ns: nanos(margin),
            manners: MannersRow::of(&engine.manners),
            provenance: engine.provenance.as_ref().map(ProvenanceRow::of),
        }
    }

    fn into_engine(self) -> Result<Engine, String> {
        let clock = self.tc.map(|tc| tc.parse()).transpose().map_err(|e| format!("plan: {e}"))?;
        let limits = Limits {
            clock,
            movetime: self.movetime_ns.map(Duration::from_nanos),
            nodes: self.nodes,
            depth: self.depth,
            nodestime: self.nodestime,
        };
        Ok(Engine {
            name: self.name,
            program: self.program.map_or(Program::Bundled, Program::Path),
            args: self.args,
            dir: self.dir,
            options: self.options,
            manners: self.manners.into_manners()?,
            provenance: self.provenance.map(ProvenanceRow::into_provenance),
            conditions: Conditions { limits, margin: Duration::from_nanos(self.margin_ns) },
        })
    }
}

impl AblationRow {
    fn into_ablation(self) -> Ablation {
        let AblationRow { option, features } = self;
        Ablation { option, features }
    }
}

impl SprtRow {
    fn into_sprt(self) -> Result<Sprt, String> {
        let model =
            parse(&self.model, &[Model::Normalized, Model::Logistic, Model::Bayesian], model_name)?;
        let correction =
            parse(&self.overshoot, &[Correction::Dynamic, Correction::None], Correction::as_str)?;
        Sprt::new(self.elo0, self.elo1, self.alpha, self.beta, model)
            .map(|test| test.with_correction(correction))
            .map_err(|error| format!("plan: {error}"))
    }
}

fn parse<T: Copy>(text: &str, all: &[T], name: fn(T) -> &'static str) -> Result<T, String> {
    let found = all.iter().copied().find(|value| name(*value) == text);
    found.ok_or_else(|| format!("plan: '{text}' is not known"))
}

/// What runs did before there was a choice.
fn round_robin() -> String {
    Format::RoundRobin.as_str().to_owned()
}

fn one() -> u64 {
    1
}

fn yes() -> bool {
    true
}

fn shared() -> String {
    OpeningPolicy::Shared.as_str().to_owned()
}

/// How tests stopped before there was a choice.
fn uncorrected() -> String {
    Correction::None.as_str().to_owned()
}

fn order_name(order: Order) -> &'static str {
    match order {
        Order::Sequential => "sequential",
        Order::Random => "random",
    }
}

fn model_name(model: Model) -> &'static str {
    match model {
        Model::Normalized => "normalized",
        Model::Logistic => "logistic",
        Model::Bayesian => "bayesian",
    }
}

#[cfg(test)]
mod tests;
