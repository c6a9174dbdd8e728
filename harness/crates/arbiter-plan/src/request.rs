//! Request for a run, built from flags and `arbiter.toml`, and the resolution of a request to a
//! plan. Every setting of a request may be unset.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::spec::absolute;
use crate::{
    CpuContention, DEFAULT_NOISE_LIMIT, Engine, EngineSpec, Plan, RunKind, TournamentRequest,
    resolve_engine, tuning, usual_pairs,
};
use arbiter_game::annotation::Annotation;
use arbiter_openings::Order;
use arbiter_schedule::Format;
use arbiter_spsa::Tuning;
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Evidence, Model, Sprt};

/// Default maximum share of games, 0 to 1, that may end with an engine fault in a valid run.
pub const DEFAULT_FAULT_LIMIT: f64 = 0.05;

/// Default number of nodes per move in an ablation. This number suffices for a depth of a few
/// plies, and a node limit gives the same games on every machine.
const DEFAULT_ABLATE_NODES: u64 = 2_000;

/// Engines of the demonstration: the SPRT that is played if no engines are given.
const DEMONSTRATION: [&str; 2] = [
    "name=palimpsest,cmd=bundled,eval=palimpsest",
    "name=no-mobility,cmd=bundled,eval=palimpsest,option.Disable=mobility",
];

/// A requested run: settings that may be unset, and a draft of the plan with all other settings.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// Engines in the order of the request.
    pub engines: Vec<EngineSpec>,
    /// Settings for all engines.
    pub each: EngineSpec,
    /// Order of the openings.
    pub order: Option<Order>,
    /// Seed of all random choices.
    pub seed: Option<u64>,
    /// Format and length of the tournament.
    pub tournament: TournamentRequest,
    /// Number of concurrent games.
    pub concurrency: Option<usize>,
    /// Folder for the standard error of engines for which no file is set.
    pub stderr_dir: Option<PathBuf>,
    /// Maximum share of games, 0 to 1, that may end with an engine fault in a valid run.
    pub fault_limit: Option<f64>,
    /// Treatment of CPU contention.
    pub cpu_contention: CpuContention,
    /// Bounds of the SPRT.
    pub sprt: SprtRequest,
    /// `true` if an SPRT ends the games of each feature of an ablation.
    pub is_sequential: bool,
    /// Parameters and gain schedule of a tuning run; the numbers of iterations and pairs are in
    /// `tournament`.
    pub tuning: Option<Tuning>,
    /// Draft of the plan. The draft contains no final values for the settings in the other fields.
    /// Paths in the draft may be relative.
    pub draft: Plan,
}

/// Requested settings of an SPRT.
#[derive(Debug, Clone, Copy, Default)]
pub struct SprtRequest {
    /// Elo of the null hypothesis (H0), on the scale of `model`.
    pub elo0: Option<f64>,
    /// Elo of the alternative hypothesis (H1), on the scale of `model`.
    pub elo1: Option<f64>,
    /// Probability, 0 to 1, of accepting H1 if H0 is true.
    pub alpha: Option<f64>,
    /// Probability, 0 to 1, of accepting H0 if H1 is true.
    pub beta: Option<f64>,
    /// Elo scale of the hypotheses.
    pub model: Option<Model>,
    /// Correction of the bounds for overshoot.
    pub correction: Option<Correction>,
    /// Kind of evidence that the test uses.
    pub evidence: Option<Evidence>,
}

/// Reason why a request is rejected, as a message for the user.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The request has nothing to play.
    #[error("nothing to run: --pairs and --rounds must be at least 1")]
    NothingToRun,
    /// The number of engines is wrong.
    #[error("{0}")]
    EngineCount(String),
    /// A value is invalid, or two values contradict each other.
    #[error("{0}")]
    Invalid(String),
}

impl From<String> for PlanError {
    fn from(reason: String) -> PlanError {
        PlanError::Invalid(reason)
    }
}

impl Request {
    /// Returns the indices of the engines that have no limits and therefore get the default limit.
    pub fn without_limits(&self) -> Vec<usize> {
        let limits = |spec: &EngineSpec| spec.clone().or(&self.each).limits;
        let engines = self.engines.iter().enumerate();
        engines.filter(|(_, spec)| limits(spec).is_empty()).map(|(index, _)| index).collect()
    }

    /// Turns an SPRT without engines into a demonstration that needs only this binary: Palimpsest
    /// against a copy that lacks one feature of its evaluation, with few nodes per move and distant
    /// hypotheses.
    fn or_demonstration(mut self) -> Request {
        for text in DEMONSTRATION {
            self.engines.push(EngineSpec::parse(text).expect("the texts are constants that parse"));
        }
        if self.each.limits.is_empty() {
            // With node limits, the demonstration gives the same result on every machine, busy or
            // not.
            self.each.limits.nodes = Some(1_500);
        }
        // Distant hypotheses and a low maximum number of pairs keep the demonstration short.
        self.sprt.elo1 = self.sprt.elo1.or(Some(20.0));
        self.tournament.pairs = self.tournament.pairs.or(Some(500));
        self
    }

    /// Returns the request as a gauntlet, with the default node limit if no limit is set. Fails if
    /// the request has another format.
    fn for_ablation(mut self) -> Result<Request, PlanError> {
        if self.tournament.format.is_some_and(|format| format != Format::Gauntlet) {
            return Err("ablate always plays a gauntlet; omit schedule flags".to_owned().into());
        }
        self.tournament.format = Some(Format::Gauntlet);
        if self.each.limits.is_empty() {
            self.each.limits.nodes = Some(DEFAULT_ABLATE_NODES);
        }
        Ok(self)
    }
}

impl SprtRequest {
    pub(crate) fn resolve(self) -> Result<Sprt, String> {
        let test = Sprt::new(
            self.elo0.unwrap_or(DEFAULT_ELO0),
            self.elo1.unwrap_or(DEFAULT_ELO1),
            self.alpha.unwrap_or(DEFAULT_ERROR),
            self.beta.unwrap_or(DEFAULT_ERROR),
            self.model.unwrap_or(Model::Normalized),
        )
        .map_err(|error| format!("sprt: {error}"))?;
        let correction = self.correction.unwrap_or(test.usual_correction());
        Ok(test.with_correction(correction).with_evidence(self.evidence.unwrap_or_default()))
    }
}

impl Plan {
    /// Resolves a request. The error names the first setting that is invalid, or that contradicts
    /// another setting or the kind of run.
    pub fn resolve(kind: RunKind, request: Request) -> Result<Plan, PlanError> {
        let is_demonstration = kind == RunKind::Sprt && request.engines.is_empty();
        let request = if is_demonstration { request.or_demonstration() } else { request };
        check_count(kind, request.engines.len())?;
        let request = if kind == RunKind::Ablate { request.for_ablation()? } else { request };
        let mut engines = resolve_engines(kind, &request)?;
        if let Some(dir) = &request.stderr_dir {
            spread_stderr(&mut engines, &absolute(dir.clone()));
        }
        let draft = request.draft;
        let is_sequential = kind == RunKind::Sprt || request.is_sequential;
        let pairs = usual_pairs(kind, is_sequential);
        let mut tournament = request.tournament;
        // Single games are sufficient if the test uses games instead of pairs.
        tournament.has_game_evidence = request.sprt.evidence.is_some_and(|e| e != Evidence::Pairs);
        let design = tournament.design(kind, engines.len(), pairs)?;
        let tuning = request.tuning;
        let tuning = tuning.map(|t| Tuning { iterations: design.rounds, pairs: design.pairs, ..t });
        tuning.iter().try_for_each(|tuning| tuning::check(tuning, &engines[0]))?;
        let fault_limit = request.fault_limit.unwrap_or(DEFAULT_FAULT_LIMIT);
        if !(0.0..=1.0).contains(&fault_limit) {
            return Err(format!("fault limit {fault_limit} is not between 0 and 1").into());
        }
        let mut plan = Plan {
            kind,
            engines,
            has_no_book: draft.has_no_book && draft.book.is_none(),
            book: draft.book.map(absolute),
            order: request.order.unwrap_or(Order::Random),
            seed: request.seed.unwrap_or(1),
            opening_start: request.tournament.opening_start()?,
            design,
            sprt: is_sequential.then(|| request.sprt.resolve()).transpose()?,
            tuning: tuning.map(Arc::new),
            fault_limit,
            tables: draft.tables.into_iter().map(absolute).collect(),
            noise_limit: (request.cpu_contention != CpuContention::Off)
                .then_some(DEFAULT_NOISE_LIMIT),
            counts_disturbed: request.cpu_contention == CpuContention::Report,
            pgn: draft.pgn.map(absolute),
            annotation: Annotation { has_origin: true, ..draft.annotation },
            epd: draft.epd.map(absolute),
            ..draft
        };
        plan.concurrency =
            request.concurrency.unwrap_or_else(|| default_concurrency(plan.is_timed()));
        // The plan is stored as JSON, which allows only UTF-8.
        if let Some(path) = plan.paths().find(|path| path.to_str().is_none()) {
            return Err(format!("'{}' is not UTF-8; rename it", path.display()).into());
        }
        if plan.concurrency == 0 {
            return Err("concurrency must be at least 1".to_owned().into());
        }
        if plan.design.pairs == 0 || plan.design.rounds == 0 {
            return Err(PlanError::NothingToRun);
        }
        Ok(plan)
    }

    /// Returns all files and folders in the plan.
    fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        let engines = self.engines.iter().flat_map(|engine| {
            engine.program.iter().chain(&engine.dir).chain(&engine.launch.stderr)
        });
        engines.chain(&self.book).chain(&self.pgn).chain(&self.epd).chain(&self.tables)
    }
}

fn check_count(kind: RunKind, count: usize) -> Result<(), PlanError> {
    let (needed, example) = match kind {
        RunKind::Ablate if count != 1 => ("one engine", "bundled:material"),
        RunKind::Tune if count != 1 => ("one engine", "./mine"),
        RunKind::Sprt if count != 2 => ("two engines", "./new ./old"),
        RunKind::Match | RunKind::Tournament if count < 2 => {
            ("at least two engines", "./new ./old")
        }
        _ => return Ok(()),
    };
    Err(PlanError::EngineCount(format!(
        "{kind} needs {needed}, got {count}; write, for example, `arbiter {kind} {example}`"
    )))
}

fn resolve_engines(kind: RunKind, request: &Request) -> Result<Vec<Engine>, String> {
    let mut engines: Vec<Engine> = Vec::new();
    for (index, spec) in request.engines.iter().enumerate() {
        let engine = resolve_engine(index, spec.clone().or(&request.each))?;
        if let Some(other) = engines.iter().find(|other| other.name == engine.name) {
            let same = if *other == engine { "identical (program and settings) and " } else { "" };
            return Err(format!(
                "two engines are {same}named '{}'; rename one, as in ENGINE,name=other",
                engine.name
            ));
        }
        engines.push(engine);
    }
    let mut engines = match (&request.draft.ablation, &engines[..]) {
        (Some(ablation), [complete]) => ablation.engines(complete.clone())?,
        (_, [engine]) if kind == RunKind::Tune => tuning::sides(engine).into(),
        _ => engines,
    };
    if let Some(scale) = request.draft.scale {
        for Engine { conditions, .. } in &mut engines {
            conditions.limits = scale.applied(conditions.limits);
        }
    }
    Ok(engines)
}

/// Assigns a file for standard error to each engine that has no such file. The file is in `dir`,
/// and is named after the engine.
pub(super) fn spread_stderr(engines: &mut [Engine], dir: &Path) {
    for index in 0..engines.len() {
        if engines[index].launch.stderr.is_some() {
            continue;
        }
        // A name may contain characters that are not allowed in a file name, such as a slash.
        let harmless = |c: char| if c.is_alphanumeric() || "-_.+".contains(c) { c } else { '_' };
        let name: String = engines[index].name.chars().map(harmless).collect();
        let mut file = dir.join(format!("{name}.log"));
        // Two names may differ only in replaced characters. A number then makes the file name
        // unique.
        if engines[..index].iter().any(|other| other.launch.stderr.as_ref() == Some(&file)) {
            file = dir.join(format!("{name}.{}.log", index + 1));
        }
        engines[index].launch.stderr = Some(file);
    }
}

/// Returns the default number of concurrent games: one per processor; with time limits, one
/// processor is reserved for the harness and the system. The number is at least 1.
pub fn default_concurrency(is_timed: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    (cores - usize::from(is_timed)).max(1)
}

#[cfg(test)]
mod tests;
