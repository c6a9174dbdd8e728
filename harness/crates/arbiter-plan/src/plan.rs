//! Plan of a run, with every default explicit. A plan is stored with its run, and a resumed run
//! uses only the stored plan.

mod error;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, Same};

use crate::{
    Ablation, Affinity, BookReading, CpuContention, DEFAULT_NOISE_LIMIT, EngineSpec,
    LaunchSettings, Provenance, Request, Scale, launch, option_file, program, tuning,
};
use arbiter_game::adjudicate::Rules;
use arbiter_game::annotation::{Annotation, Keeping};
use arbiter_openings::Order;
use arbiter_protocol::times::{DeadlinesMs, Millis};
use arbiter_protocol::{Conditions, Deadlines, Limits, Protocol};
use arbiter_schedule::{Design, Schedule};
use arbiter_spsa::{SpsaState, Tuning};
use arbiter_stats::{Evidence, Sprt};

pub use self::error::PlanError;

/// Value of `cmd=` for the bundled engine.
pub const BUNDLED: &str = "bundled";

/// Default time margin, larger than the delays of pipe and scheduler.
pub const DEFAULT_MARGIN: Duration = Duration::from_millis(10);

/// Default number of pairs of a match.
const DEFAULT_PAIRS: u64 = 100;

/// Default maximum number of pairs of an SPRT. Without a limit, a test whose true strength is
/// between the hypotheses might never end in practice.
pub const DEFAULT_SPRT_PAIRS: u64 = 50_000;

/// Default number of pairs per encounter of a tournament.
const DEFAULT_TOURNAMENT_PAIRS: u64 = 2;

/// Default number of pairs for each feature of an ablation without an SPRT.
const DEFAULT_ABLATE_PAIRS: u64 = 200;

/// Default share of games, 0 to 1, that may end with an engine fault before the run is invalid.
pub const DEFAULT_FAULT_LIMIT: f64 = 0.05;

/// Default time control of engines without a limit.
pub const DEFAULT_TC: &str = "8+0.08";

/// Kind of a run, named after its subcommand in the store and in reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// Sequential test (SPRT) of the first engine against the second.
    Sprt,
    /// Match of a fixed number of pairs.
    #[default]
    Match,
    /// Tournament of two or more engines.
    Tournament,
    /// Measurement of the Elo value of each feature of an engine.
    Ablate,
    /// Tuning of an engine's parameters.
    Tune,
}

impl RunKind {
    /// All kinds.
    pub const ALL: [RunKind; 5] =
        [RunKind::Sprt, RunKind::Match, RunKind::Tournament, RunKind::Ablate, RunKind::Tune];
}

arbiter_names::named!(RunKind);

/// Program of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Program {
    /// Palimpsest, the engine inside this binary.
    Bundled,
    /// Executable file.
    Path(PathBuf),
}

/// Engine with all settings resolved.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Engine {
    /// Name, unique in the run.
    pub name: String,
    /// Program to start.
    pub program: Program,
    /// Command-line arguments.
    pub args: Vec<String>,
    /// Working directory.
    pub dir: Option<PathBuf>,
    /// UCI options to set, in order.
    pub options: Vec<(String, String)>,
    /// Start, protocol and lifetime of the engine.
    #[serde(rename = "manners")]
    pub launch: LaunchSettings,
    /// Limits of the engine's searches, time margin and point of view of scores.
    #[serde(flatten)]
    pub conditions: Conditions,
    /// Provenance of the program, if it was built from a revision.
    pub provenance: Option<Provenance>,
}

/// Resolved settings of a run. Fields that are skipped in serialization are stored in other columns
/// of the plan's row.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Plan {
    /// Kind of the run.
    pub kind: RunKind,
    /// Engines of the run; figures are from the point of view of the first engine.
    #[serde(skip)]
    pub engines: Vec<Engine>,
    /// File of the opening book; `None` is the bundled book unless `has_no_book`.
    pub book: Option<PathBuf>,
    /// `true` if all games start from the initial position, without a book.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_no_book: bool,
    /// Settings for reading the book.
    #[serde(flatten)]
    pub reading: BookReading,
    /// Number of openings in the book; `None` before the book is read, and in runs from stores of
    /// format 13.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub book_length: Option<u64>,
    /// Order of the openings.
    pub order: Order,
    /// Seed of all random choices.
    pub seed: u64,
    /// First opening of the run, from 0 in the order of the book.
    pub opening_start: u64,
    /// Design of the tournament.
    #[serde(flatten)]
    pub design: Design,
    /// Pause between two games in a slot.
    #[serde(rename = "wait_ms", with = "Millis")]
    pub wait: Duration,
    /// Number of concurrent games.
    pub concurrency: usize,
    /// Assignment of processors to games.
    #[serde(with = "As::<DisplayFromStr>")]
    pub affinity: Affinity,
    /// Sequential test that ends each matchup; `None` without a test.
    pub sprt: Option<Sprt>,
    /// Counts of earlier games played by another program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior: Option<Prior>,
    /// Features that the engines after the first lack, if the run is an ablation.
    pub ablation: Option<Ablation>,
    /// Parameters and gain schedule, if the run is a tuning; then both engines are the same engine.
    #[serde(with = "As::<Option<Arc<Same>>>")]
    pub tuning: Option<Arc<Tuning>>,
    /// Share of games, 0 to 1, that may end with an engine fault before the run is invalid.
    pub fault_limit: f64,
    /// Scale factor of the engines' times, if the times differ from the request.
    pub scale: Option<Scale>,
    /// Adjudication rules, which end games early.
    #[serde(flatten)]
    pub rules: Rules,
    /// Folders of the tablebases that the rules need.
    #[serde(skip)]
    pub tables: Vec<PathBuf>,
    /// Maximum difference between the engines of a pair in the share of thinking time spent waiting
    /// for a processor; `None` without measurement.
    pub noise_limit: Option<f64>,
    /// `true` if pairs that CPU contention may have decided count, instead of being played again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub counts_disturbed: bool,
    /// `true` if options that an engine lacks or rejects are omitted, and if a first opening beyond
    /// the end of the book starts a later pass through the book; otherwise both are errors.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_lenient: bool,
    /// Maximum times for replies of engines.
    #[serde(rename = "deadlines_ms", with = "DeadlinesMs")]
    pub deadlines: Deadlines,
    /// PGN file for the games, in addition to the store.
    pub pgn: Option<PathBuf>,
    /// Contents of the PGN besides the moves.
    #[serde(skip)]
    pub annotation: Annotation,
    /// EPD file for final positions.
    #[serde(skip)]
    pub epd: Option<PathBuf>,
    /// Games whose transcripts are kept.
    #[serde(skip)]
    pub transcripts: Keeping,
}

/// Games of the first two engines that another program played. They count, but are not in the
/// store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prior {
    /// Numbers of pairs by both results (0: lost, 1: drawn, 2: won): `table[a][b]` pairs have the
    /// result `a` in the game with the first engine as White, and `b` in the other game.
    pub table: [[u64; 3]; 3],
    /// Numbers of games without a partner game, lost, drawn and won: first with the first engine as
    /// White, then with the first engine as Black.
    pub singles: [[u64; 3]; 2],
}

impl Prior {
    /// Returns the number of games.
    pub fn games(&self) -> u64 {
        2 * self.table.iter().flatten().sum::<u64>() + self.singles.iter().flatten().sum::<u64>()
    }
}

impl Plan {
    /// Resolves a request. The error names the first invalid setting, or setting that contradicts
    /// another setting or the kind of run.
    pub fn resolve(kind: RunKind, request: Request) -> Result<Plan, PlanError> {
        let request = match kind {
            RunKind::Sprt if request.engines.is_empty() => request.or_demonstration(),
            RunKind::Ablate => request.for_ablation()?,
            _ => request,
        };
        check_count(kind, request.engines.len())?;
        let mut engines = resolve_engines(kind, &request)?;
        if let Some(dir) = &request.stderr_dir {
            launch::spread_stderr(&mut engines, &absolute(dir.clone()));
        }
        let draft = request.draft;
        let ablation = draft.ablation.filter(|_| kind == RunKind::Ablate);
        let is_sequential =
            if ablation.is_some() { request.is_sequential } else { kind == RunKind::Sprt };
        let pairs = usual_pairs(kind, is_sequential);
        let mut tournament = request.tournament;
        // Single games are sufficient if the test uses games instead of pairs.
        tournament.has_game_evidence = request.sprt.evidence.is_some_and(|e| e != Evidence::Pairs);
        let design = tournament.design(kind, engines.len(), pairs)?;
        let tuning = request.tuning.filter(|_| kind == RunKind::Tune);
        let tuning = tuning.map(|t| Tuning { iterations: design.rounds, pairs: design.pairs, ..t });
        tuning.iter().try_for_each(|tuning| tuning::check(tuning, &engines[0]))?;
        let fault_limit = request.fault_limit.unwrap_or(DEFAULT_FAULT_LIMIT);
        if !(0.0..=1.0).contains(&fault_limit) {
            return Err(format!("fault limit {fault_limit} is not between 0 and 1").into());
        }
        let is_timed = is_timed(&engines);
        let plan = Plan {
            kind,
            engines,
            has_no_book: draft.has_no_book && draft.book.is_none(),
            book: draft.book.map(absolute),
            order: request.order.unwrap_or(Order::Random),
            seed: request.seed.unwrap_or(1),
            opening_start: request.tournament.opening_start()?,
            design,
            concurrency: request.concurrency.unwrap_or_else(|| default_concurrency(is_timed)),
            sprt: is_sequential.then(|| request.sprt.resolve()).transpose()?,
            ablation,
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
    fn paths(&self) -> impl Iterator<Item = &Path> {
        let engines = self.engines.iter().flat_map(|engine| {
            let program = match &engine.program {
                Program::Bundled => None,
                Program::Path(path) => Some(path.as_path()),
            };
            let launch = &engine.launch;
            program.into_iter().chain(engine.dir.as_deref()).chain(launch.stderr.as_deref())
        });
        let tables = self.tables.iter().map(PathBuf::as_path);
        let files = self.book.iter().chain(&self.pgn).chain(&self.epd).map(PathBuf::as_path);
        engines.chain(files).chain(tables)
    }

    /// Returns the schedule before the first result.
    pub fn schedule(&self) -> Schedule {
        let schedule = Schedule::new(self.design, self.engines.len(), self.seed);
        match &self.tuning {
            Some(tuning) => schedule.with_rounds_ahead(tuning.ahead),
            None => schedule,
        }
    }

    /// Returns the tuning state before the first result; `None` unless the run is a tuning.
    pub fn spsa(&self) -> Option<SpsaState> {
        self.tuning.as_ref().map(|tuning| SpsaState::new(tuning.clone(), self.seed))
    }

    /// Returns the engines with the names that the user gave, without the engines derived by an
    /// ablation or a tuning.
    pub fn own_engines(&self) -> impl Iterator<Item = (&str, &Engine)> {
        let is_one = self.ablation.is_some() || self.tuning.is_some();
        let own = if is_one { 1 } else { self.engines.len() };
        self.engines.iter().take(own).map(|engine| match &self.tuning {
            Some(_) => (tuning::base_name(&engine.name), engine),
            None => (engine.name.as_str(), engine),
        })
    }

    /// Returns the treatment of CPU contention.
    pub fn cpu_contention(&self) -> CpuContention {
        match (self.noise_limit, self.counts_disturbed) {
            (None, _) => CpuContention::Off,
            (Some(_), true) => CpuContention::Report,
            (Some(_), false) => CpuContention::Discard,
        }
    }

    /// Returns whether pairs that repeat earlier pairs count, as in fastchess.
    pub fn counts_repeats(&self) -> bool {
        self.is_lenient
    }

    /// Returns whether any engine has a time limit that is not counted in nodes; without one,
    /// deterministic engines repeat their games.
    pub fn is_timed(&self) -> bool {
        is_timed(&self.engines)
    }
}

fn is_timed(engines: &[Engine]) -> bool {
    engines.iter().any(|engine| engine.conditions.limits.is_timed())
}

/// Returns the default number of pairs per encounter.
pub fn usual_pairs(kind: RunKind, is_sequential: bool) -> u64 {
    match kind {
        _ if is_sequential => DEFAULT_SPRT_PAIRS,
        RunKind::Ablate => DEFAULT_ABLATE_PAIRS,
        RunKind::Tournament => DEFAULT_TOURNAMENT_PAIRS,
        RunKind::Tune => tuning::DEFAULT_TUNING_PAIRS,
        RunKind::Sprt | RunKind::Match => DEFAULT_PAIRS,
    }
}

fn check_count(kind: RunKind, count: usize) -> Result<(), PlanError> {
    let needed = match kind {
        RunKind::Tune if count != 1 => {
            let reason = format!("tune needs one engine, got {count}, as in `arbiter tune ./mine`");
            return Err(PlanError::EngineCount(reason));
        }
        RunKind::Sprt if count != 2 => "two",
        RunKind::Match | RunKind::Tournament if count < 2 => "at least two",
        _ => return Ok(()),
    };
    Err(PlanError::EngineCount(format!(
        "{kind} needs {needed} engines, got {count}, as in `arbiter {kind} ./new ./old`"
    )))
}

fn resolve_engines(kind: RunKind, request: &Request) -> Result<Vec<Engine>, PlanError> {
    let mut engines: Vec<Engine> = Vec::new();
    for (index, spec) in request.engines.iter().enumerate() {
        let engine = resolve_engine(index, spec.clone().or(&request.each))?;
        if let Some(other) = engines.iter().find(|other| other.name == engine.name) {
            let same = if *other == engine { "identical (program and settings) and " } else { "" };
            let what = format!("two engines are {same}named '{}'", engine.name);
            let reason = format!("{what}; rename one, as in ENGINE,name=other");
            return Err(reason.into());
        }
        engines.push(engine);
    }
    let mut engines = match (&request.draft.ablation, &engines[..]) {
        (Some(asked), [whole]) => asked.engines(whole.clone())?,
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

/// Resolves one engine; `index` is used for a default name. Fails if the program or an option file
/// cannot be found, or if settings contradict each other.
pub fn resolve_engine(index: usize, mut spec: EngineSpec) -> Result<Engine, PlanError> {
    let name = spec.name.take().unwrap_or_else(|| spec.default_name(index));
    let fail = |reason: &str| PlanError::Invalid(format!("engine '{name}'{reason}"));
    let is_bad = |s: &String| s.trim().is_empty() || s.chars().any(arbiter_names::is_hidden);
    if is_bad(&name) {
        return Err(format!(
            "invalid engine name '{}': it must not be empty or contain control characters",
            name.escape_debug()
        )
        .into());
    }
    if spec.options.iter().any(|(option, _)| option.eq_ignore_ascii_case("UCI_Chess960")) {
        return Err(fail(": arbiter sets UCI_Chess960 for each game, as the opening requires"));
    }
    if spec.rev.is_some() && spec.provenance.is_none() && spec.cmd.is_some() {
        return Err(fail(" has both cmd= and rev=; give one of them"));
    }
    for (option, value) in &mut spec.options {
        *value = option_file::resolved(value)
            .map_err(|reason| fail(&format!(": option {option}: {reason}")))?;
    }
    let cmd = spec.cmd.clone().ok_or_else(|| {
        fail(
            " has no program: name it first, as in stockfish,tc=1+0.01; use --each for all engines",
        )
    })?;
    let program = if cmd == BUNDLED {
        if let Some(eval) = spec.eval.take() {
            // The evaluation is the first option, where `engine_keys` looks for it.
            spec.options.insert(0, ("Eval".to_owned(), eval));
        }
        Program::Bundled
    } else if spec.eval.is_some() {
        return Err(fail(": eval= is only for cmd=bundled; use option.NAME= for other engines"));
    } else {
        let found = program::find_program(&cmd, spec.dir.as_deref());
        let found = found.map_err(|reason| fail(&format!(": {reason}")))?;
        // Arguments from the user are unchanged, because they may contain the argument for UCI.
        if spec.args.is_empty() && spec.protocol != Some(Protocol::Xboard) {
            spec.args = program::uci_arguments(&found);
        }
        Program::Path(found)
    };
    if let Some(dir) = spec.dir.as_ref().filter(|dir| !dir.is_dir()) {
        return Err(fail(&format!(": dir '{}' is not a folder", dir.display())));
    }
    let limits = resolve_limits(&spec).map_err(fail)?;
    let margin = spec.margin.unwrap_or(DEFAULT_MARGIN);
    if spec.init.iter().any(is_bad) {
        return Err(fail(": a line of init= is empty or contains control characters"));
    }
    Ok(Engine {
        name,
        program,
        args: spec.args,
        dir: spec.dir.map(absolute),
        options: spec.options,
        launch: LaunchSettings {
            protocol: spec.protocol.unwrap_or_default(),
            init: spec.init,
            restart: spec.restart.unwrap_or_default(),
            ponder: spec.ponder.unwrap_or(false),
            stderr: spec.stderr.map(absolute),
            memory_mib: spec.memory_mib,
            sandbox: spec.sandbox.unwrap_or_default(),
        },
        conditions: Conditions { limits, margin, white_pov: spec.white_pov.unwrap_or(false) },
        provenance: spec.provenance,
    })
}

fn resolve_limits(spec: &EngineSpec) -> Result<Limits, &'static str> {
    let mut limits = spec.limits;
    // `nodestime` only changes the unit of a clock and limits nothing by itself.
    let bare = Limits { nodestime: None, ..limits };
    if bare.is_empty() && spec.no_clock {
        return Err(": tc=inf requires another limit: give st, nodes or depth");
    }
    if bare.is_empty() {
        limits.clock = Some(DEFAULT_TC.parse().expect("a constant that parses"));
    }
    if limits.nodestime.is_some() && limits.clock.is_none() && limits.movetime.is_none() {
        return Err(": nodestime= requires a clock: give tc or st");
    }
    if spec.protocol == Some(Protocol::Xboard) {
        check_xboard(limits)?;
    }
    Ok(limits)
}

/// Returns an error if xboard cannot express the limits.
fn check_xboard(limits: Limits) -> Result<(), &'static str> {
    // `st` takes whole seconds.
    let is_broken = limits.movetime.is_some_and(|time| time.subsec_nanos() != 0);
    if limits.nodes.is_some() || limits.nodestime.is_some() || is_broken {
        Err(": the xboard protocol supports only tc, st in whole seconds, and depth")
    } else {
        Ok(())
    }
}

impl Engine {
    /// Sets the engine's protocol to xboard. Fails if xboard cannot express the limits of the
    /// engine.
    pub fn set_xboard(&mut self) -> Result<(), PlanError> {
        self.launch.protocol = Protocol::Xboard;
        let wrong = |reason| PlanError::Invalid(format!("engine '{}'{reason}", self.name));
        check_xboard(self.conditions.limits).map_err(wrong)
    }
}

/// Returns the absolute path, because a run may be resumed from another folder.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or(path)
}

/// Returns the default number of concurrent games: one per core; with time limits, one core is
/// reserved for the harness and the system.
pub fn default_concurrency(is_timed: bool) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    (cores - usize::from(is_timed)).max(1)
}

#[cfg(test)]
mod tests;
