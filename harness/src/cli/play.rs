//! Plays a run: a new one, or one that goes on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::runtime::Runtime;
use tokio::sync::mpsc;

use super::args::{Asked, Form, Resume};
use super::builds::{BuildArgs, Circumstances};
use super::compat::{Printer, Style};
use super::games_file::{Content, GamesFile, GamesFileError};
use super::keys::Keys;
use super::run_lock::{LockError, RunLock};
use super::{ExitCode, Failure, book, ctl, fingerprint, results};
use crate::adjudicate::Tables;
use crate::config::ablation::AblationError;
use crate::config::affinity::list;
use crate::config::plan::{Kind, Plan, PlanError, default_concurrency};
use crate::openings::{Book, quarantine};
use crate::report::live::Live;
use crate::report::openings::OpeningNames;
use crate::report::pgn::PgnHeader;
use crate::report::standings::rules_in_words;
use crate::report::terminal::note;
use crate::run::dispatch::{Finished, Run, RunError, dispatch, unix_time_ms};
use crate::run::event::Ending;
use crate::run::event::Observer;
use crate::run::executor::local::{Local, Room};
use crate::run::gallery::Gallery;
use crate::run::job::{JobMaker, PlayedPair, needed_openings};
use crate::run::seats::{places_of, seats, try_out};
use crate::run::signal::{Request, Signals};
use crate::run::state::RunState;
use crate::store::{Fingerprints, Offsets, Store, StoreError};
use crate::tablebases::Syzygy;

/// Commands to a running run that may wait for it.
const WISHES: usize = 64;

/// Threads of the async runtime. They only pass lines and decide; more would take time from
/// engines.
const RUNTIME_THREADS: usize = 1;

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        let code = match &error {
            StoreError::Exists(_) | StoreError::NoRun(_) | StoreError::Missing(_) => {
                ExitCode::Invalid
            }
            StoreError::Folder { .. }
            | StoreError::Sqlite { .. }
            | StoreError::Newer { .. }
            | StoreError::Corrupt { .. } => ExitCode::Environment,
        };
        Failure::new(code, error)
    }
}

impl From<GamesFileError> for Failure {
    fn from(error: GamesFileError) -> Failure {
        let code = match &error {
            GamesFileError::Io { .. } => ExitCode::Environment,
            GamesFileError::Foreign { .. } | GamesFileError::Busy { .. } => ExitCode::Invalid,
        };
        Failure::new(code, error)
    }
}

impl From<LockError> for Failure {
    fn from(error: LockError) -> Failure {
        match &error {
            LockError::Name(_) | LockError::Busy(_) => Failure::invalid(error),
            LockError::Io { .. } => Failure::environment(error),
        }
    }
}

/// A run that is ready to be played.
struct Prepared {
    name: String,
    plan: Plan,
    book: Book,
    store: Store,
    files: Vec<GamesFile>,
    state: RunState,
    tables: Option<Arc<dyn Tables>>,
    own_binary: PathBuf,
    results: PathBuf,
    /// Held as long as the run is ours.
    _lock: RunLock,
}

/// Plays what was asked for and prints the result.
pub fn play(kind: Kind, asked: Asked) -> ExitCode {
    let (format, style) = (asked.format, asked.compat);
    match prepare(kind, asked).and_then(|prepared| carry_out(prepared, format, style)) {
        Ok(code) => code,
        Err(failure) => failure.report(),
    }
}

fn prepare(kind: Kind, asked: Asked) -> Result<Prepared, Failure> {
    let own_binary = std::env::current_exe().map_err(Failure::environment)?;
    match asked.resume {
        Some(wanted) => resume(kind, wanted, asked.results, asked.build, own_binary),
        None => begin(kind, asked, own_binary),
    }
}

fn begin(kind: Kind, mut asked: Asked, own_binary: PathBuf) -> Result<Prepared, Failure> {
    make_engines(&mut asked)?;
    let stderr_dir = asked.request.stderr_dir.clone();
    let plan = Plan::resolve(kind, asked.request).map_err(|error| match error {
        PlanError::NothingToRun => Failure::new(ExitCode::Nothing, error),
        PlanError::EngineCount(..) | PlanError::Ablation(AblationError::EngineCount(_)) => {
            Failure::new(ExitCode::Usage, error)
        }
        _ => Failure::invalid(error),
    })?;
    places_of(&plan).map_err(Failure::invalid)?;
    if let Some(dir) = stderr_dir {
        std::fs::create_dir_all(&dir).map_err(|error| {
            Failure::environment(format!("cannot make folder {}: {error}", dir.display()))
        })?;
    }
    let book = book::load(&plan).map_err(Failure::invalid)?;
    let openings = book.len();
    if plan.opening_start >= openings as u64 {
        return Err(Failure::invalid(format!(
            "--opening-start {} is past the end of {}, which has {openings} openings",
            plan.opening_start + 1,
            book.name()
        )));
    }
    let fingerprints = fingerprint::take(&plan, &book, &own_binary).map_err(Failure::invalid)?;
    let created_ms = unix_time_ms();
    let tables = open_tables(&plan)?;
    let name = asked.name.unwrap_or_else(|| default_name(kind, created_ms));
    RunLock::check_name(&name)?;
    let store = Store::create(&asked.results)?;
    let lock = RunLock::take(&asked.results, &name)?;
    if let Ok(found) = store.run(&name) {
        return Err(StoreError::Exists(found.head.run).into());
    }
    let mut book = check_engines(&plan, book, &own_binary)?;
    let mut offsets = Offsets::default();
    let mut files = Vec::new();
    if let Some(path) = &plan.pgn {
        let (file, offset) = GamesFile::begin(path, pgn(&plan, &fingerprints, created_ms))?;
        offsets.pgn = offset;
        files.push(file);
    }
    if let Some(path) = &plan.epd {
        let (file, offset) = GamesFile::begin(path, Content::Epd)?;
        offsets.epd = offset;
        files.push(file);
    }
    let about = asked.about.as_deref();
    store.begin_run(&name, created_ms, &plan, &fingerprints, offsets, about)?;
    let schedule = plan.schedule();
    if let Some(needed) = needed_openings(&plan, &schedule, book.len()) {
        book.keep(&needed);
    }
    let state = RunState::new(schedule, plan.sprt);
    let results = asked.results;
    Ok(Prepared { name, plan, book, store, files, state, tables, own_binary, results, _lock: lock })
}

/// Builds engines that are revisions.
fn make_engines(asked: &mut Asked) -> Result<(), Failure> {
    let with = Circumstances {
        config: asked.config.clone(),
        results: Some(asked.results.clone()),
        copies: asked.request.concurrency.unwrap_or_else(default_concurrency),
        reference_nps: asked.reference_nps,
    };
    let engines = std::mem::take(&mut asked.request.engines);
    let prepared = asked.build.prepare(engines, &asked.request.each, with)?;
    asked.request.engines = prepared.engines;
    asked.request.scale = prepared.scale;
    Ok(())
}

fn resume(
    kind: Kind,
    wanted: Resume,
    results: PathBuf,
    build: BuildArgs,
    own_binary: PathBuf,
) -> Result<Prepared, Failure> {
    let name = wanted.run;
    let store = Store::open(&results)?;
    let stored = store.run(&name)?;
    let mut plan = stored.plan;
    if plan.kind != kind {
        return Err(Failure::invalid(format!(
            "run '{name}' is of another kind; resume it with the subcommand that began it"
        )));
    }
    let lock = RunLock::take(&results, &name)?;
    build.restore(&plan)?;
    let mut book = book::load(&plan).map_err(Failure::invalid)?;
    let tables = open_tables(&plan)?;
    let now = fingerprint::take(&plan, &book, &own_binary).map_err(Failure::invalid)?;
    fingerprint::compare(&plan, &stored.fingerprints, &now).map_err(Failure::invalid)?;
    let state = results::replayed(&store, &name, &plan)?;
    let concurrency = wanted.concurrency.unwrap_or(plan.concurrency);
    let affinity = wanted.affinity.unwrap_or_else(|| plan.affinity.clone());
    if state.ending().is_none() {
        let changed = Plan { concurrency, affinity: affinity.clone(), ..plan.clone() };
        places_of(&changed).map_err(Failure::invalid)?;
        book = check_engines(&plan, book, &own_binary)?;
        store.set_ending(&name, None)?;
    }
    if let Some(needed) = needed_openings(&plan, &plan.schedule(), book.len()) {
        book.keep(&needed);
    }
    let content = pgn(&plan, &stored.fingerprints, stored.head.created_ms);
    let wanted_pgn = wanted.pgn.map(|path| std::path::absolute(&path).unwrap_or(path));
    let pgn = match wanted_pgn.filter(|path| Some(path) != plan.pgn.as_ref()) {
        // Another file takes all games, after what it holds already.
        Some(path) => {
            let (pgn, offset) = GamesFile::begin(&path, content)?;
            plan.pgn = Some(path);
            store.set_plan(&name, &plan, &stored.fingerprints, offset)?;
            Some((pgn, offset))
        }
        None => match &plan.pgn {
            Some(path) => Some((GamesFile::open(path, content)?, stored.offsets.pgn)),
            None => None,
        },
    };
    let epd = match &plan.epd {
        Some(path) => Some((GamesFile::open(path, Content::Epd)?, stored.offsets.epd)),
        None => None,
    };
    let mut files = Vec::new();
    for (mut file, offset) in pgn.into_iter().chain(epd) {
        let pairs = state.counted().map(|pair| counted_pair(&store, &name, pair));
        file.reconcile(offset, pairs)?;
        files.push(file);
    }
    (plan.concurrency, plan.affinity) = (concurrency, affinity);
    Ok(Prepared { name, plan, book, store, files, state, tables, own_binary, results, _lock: lock })
}

/// The endgame tables that the plan's rules need.
pub fn open_tables(plan: &Plan) -> Result<Option<Arc<dyn Tables>>, Failure> {
    let Some(rule) = plan.rules.tablebase else { return Ok(None) };
    let tables =
        Syzygy::open(plan.tables.iter().map(PathBuf::as_path)).map_err(Failure::invalid)?;
    let most = tables.max_pieces();
    if rule.pieces as usize > most {
        note(&format!("syzygy: these tables have up to {most} pieces only"));
    }
    Ok(Some(Arc::new(tables)))
}

fn counted_pair(store: &Store, run: &str, pair: u64) -> Result<PlayedPair, Failure> {
    let missing = || Failure::environment(format!("run '{run}' has lost pair {pair}"));
    store.pair(run, pair)?.ok_or_else(missing)
}

/// The async runtime that drives engines.
pub fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(RUNTIME_THREADS)
        .enable_all()
        .build()
        .map_err(Failure::environment)
}

/// Tries all engines out. What comes back is the book without the openings that some engine cannot
/// be told; the same engines always leave out the same ones.
fn check_engines(plan: &Plan, book: Book, own_binary: &Path) -> Result<Book, Failure> {
    let seats = seats(plan, own_binary);
    let runtime = runtime()?;
    let left_out = runtime.block_on(async {
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        tokio::select! {
            trial = try_out(&seats, &book) => trial.map_err(|error| {
                match error.environment {
                    true => Failure::environment(error),
                    false => Failure::invalid(error),
                }
            }),
            request = signals.next() => {
                let code = match request {
                    Request::Interrupt => ExitCode::Interrupted,
                    Request::Terminate => ExitCode::Terminated,
                };
                Err(Failure::new(code, "interrupted before the first game"))
            }
        }
    })?;
    if !left_out.is_empty() {
        note(&format!(
            "{} of {} openings are left out: an engine without setboard cannot be told them",
            left_out.len(),
            book.len()
        ));
    }
    book.without(&left_out).ok_or_else(|| Failure::invalid("the engines share no opening"))
}

fn carry_out(
    mut prepared: Prepared,
    format: Form,
    style: Option<Style>,
) -> Result<ExitCode, Failure> {
    if prepared.state.ending().is_none() {
        announce(&prepared);
    }
    let request = match prepared.state.ending() {
        // Killed between the last pair and the note of its ending, perhaps.
        Some(ending) => {
            prepared.store.set_ending(&prepared.name, Some(ending))?;
            None
        }
        None => run(&mut prepared, style)?.request,
    };
    let Prepared { name, plan, book, state, store, results, .. } = &prepared;
    let disturbances = store.disturbances(name)?;
    let summary =
        results::summary(name, plan, book.quarantine(), disturbances, state, state.ending());
    let summary = results::with_stored(store, plan, summary)?;
    if style.is_none() {
        results::print(store, &summary, format)?;
    }
    note(&format!(
        "results in {}; show them again: {}",
        store.file().display(),
        show(name, results)
    ));
    if summary.ending == Some(Ending::Interrupted) {
        note(&format!("go on with: {}", resume_command(plan.kind, name, results)));
    }
    Ok(results::exit_code(&summary, request))
}

fn run(prepared: &mut Prepared, style: Option<Style>) -> Result<Finished, Failure> {
    let Prepared { name, plan, book, store, files, state, tables, own_binary, results, .. } =
        prepared;
    let seats = seats(plan, own_binary);
    let places = places_of(plan).map_err(Failure::invalid)?;
    let jobs = JobMaker::new(plan, book, tables.clone());
    let names = plan.engines.iter().map(|engine| engine.name.clone()).collect();
    let (wish, wishes) = mpsc::channel(WISHES);
    let keys = if style.is_some() { None } else { Keys::listen(wish.clone()) };
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(files.iter_mut().map(|file| file as &mut dyn Observer));
    let schedule = state.schedule().clone();
    let mut view: Box<dyn Observer> = match style {
        Some(style) => Box::new(Printer::new(style, plan, schedule)),
        None => Box::new(Live::new(schedule, plan.sprt, names, keys.is_some())),
    };
    observers.push(&mut *view);
    let run = Run { name, store, jobs, observers, wishes };
    let runtime = runtime()?;
    runtime.block_on(async {
        let gallery = Gallery::default();
        let socket = ctl::Server::listen(results, name, wish, gallery.clone());
        let mut signals = Signals::listen().map_err(Failure::environment)?;
        let room = Room {
            slots: plan.concurrency,
            wait: plan.wait,
            noise_limit: plan.noise_limit,
            places,
        };
        let local = Local::new(room, seats);
        let executor = local.map_err(Failure::environment)?.seen_in(gallery);
        let finished = dispatch(run, state, executor, &mut signals).await;
        socket.close().await;
        finished.map_err(|error| {
            let go_on = resume_command(plan.kind, name, results);
            let message = format!("{error}; finished pairs are kept, go on with: {go_on}");
            match error {
                RunError::Store(_) | RunError::Observer(_) | RunError::Environment { .. } => {
                    Failure::environment(message)
                }
            }
        })
    })
}

/// Says what will be played.
fn announce(prepared: &Prepared) {
    let Prepared { name, plan, book, state, .. } = prepared;
    // The others of an ablation are named by the feature they lack.
    let shown = if plan.ablation.is_some() { 1 } else { plan.engines.len() };
    let engines: Vec<String> = plan.engines[..shown]
        .iter()
        .map(|engine| format!("{} ({})", engine.name, engine.conditions.limits))
        .collect();
    note(&format!("run {name}: {}", engines.join(" v ")));
    if let Some(ablation) = &plan.ablation {
        note(&format!("against itself without {}", ablation.features.join(", ")));
    }
    let left_out = book.quarantine();
    for line in left_out.first(quarantine::KEPT) {
        note(&format!("left out: {line}"));
    }
    let without = match left_out.count {
        0 => String::new(),
        count => format!(" ({count} bad left out)"),
    };
    note(&format!(
        "{} openings from {}{without}, seed {}, {} games at once",
        book.len(),
        book.name(),
        plan.seed,
        plan.concurrency,
    ));
    note(&rules_in_words(&plan.design, plan.engines.len()));
    for rule in plan.rules.words() {
        note(&rule);
    }
    let games = places_of(plan).unwrap_or_default();
    let games: Vec<String> = games.iter().take(plan.concurrency).map(|cpus| list(cpus)).collect();
    if !games.is_empty() {
        note(&format!("processors of the games at once: {}", games.join(" | ")));
    }
    if let Some(sprt) = plan.sprt {
        note(&format!(
            "SPRT: {} Elo {} against {}, alpha {}, beta {}, overshoot correction {}",
            sprt.model().as_str(),
            sprt.elo0(),
            sprt.elo1(),
            sprt.alpha(),
            sprt.beta(),
            sprt.correction().as_str()
        ));
    }
    let counted = state.counted().count();
    if counted > 0 {
        note(&format!("{counted} pairs are counted already"));
    }
}

fn pgn(plan: &Plan, fingerprints: &Fingerprints, created_ms: i64) -> Content {
    let created = jiff::Timestamp::from_millisecond(created_ms).unwrap_or_default();
    let annotation = &plan.annotation;
    let is_named = annotation.has_origin && !annotation.is_minimal;
    Content::Pgn(Box::new(PgnHeader {
        event: match plan.kind {
            Kind::Sprt => "Arbiter SPRT".to_owned(),
            Kind::Match => "Arbiter match".to_owned(),
            Kind::Tournament => format!("Arbiter {}", plan.design.format.as_str()),
            Kind::Ablate => "Arbiter ablation".to_owned(),
        },
        date: created.strftime("%Y.%m.%d").to_string(),
        engines: plan.engines.iter().map(|engine| engine.name.clone()).collect(),
        limits: plan.engines.iter().map(|engine| engine.conditions.limits).collect(),
        hashes: fingerprints.engines.clone(),
        seed: plan.seed,
        annotation: annotation.clone(),
        names: is_named.then(OpeningNames::new),
    }))
}

fn default_name(kind: Kind, created_ms: i64) -> String {
    let created = jiff::Timestamp::from_millisecond(created_ms).unwrap_or_default();
    // Milliseconds keep runs that a script starts together apart.
    format!("{}-{}", kind.as_str(), created.strftime("%Y%m%d-%H%M%S-%3f"))
}

fn resume_command(kind: Kind, name: &str, results: &Path) -> String {
    format!("arbiter {} --results {} --resume {name}", kind.as_str(), quoted(results))
}

fn show(name: &str, results: &Path) -> String {
    format!("arbiter results --results {} show {name}", quoted(results))
}

/// A path as a shell wants it.
fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}
