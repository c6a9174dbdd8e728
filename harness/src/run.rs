//! Execution of new and resumed runs.

mod dry_run;
mod files;
mod json_lines;
mod messages;
mod new_name;
mod preflight;
mod restore;
pub(crate) mod result;
mod same_flags;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

pub(crate) use self::files::engine_files;
#[cfg(feature = "json-schema")]
pub(crate) use self::json_lines::Line;
use self::json_lines::Stream;
use self::messages::{
    announce, default_resume_hint, failure, note_engines, note_worker_shares, resume_command, show,
    with_results,
};
use self::new_name::{NewName, new_name};
use self::preflight::check_engines;
pub(crate) use self::restore::replay_stored;
use crate::engine_builds::{BuildContext, own_binary};
use crate::fleet::check_for_workers;
use crate::games_file::{Content, GamesFile};
use crate::output::{OutputFormat, write_error};
use crate::requested_run::{RequestedRun, Resume};
use crate::{
    bundled_engine, control_server, exit_code::ExitCode, failure::Failure, fleet::Fleet,
    keyboard::Keyboard, metrics::Endpoint, runtime::runtime,
};
use arbiter_compat::{Printer, Style};
use arbiter_game::adjudicate::Tables;
use arbiter_game::engine::EngineSetup;
use arbiter_game::tablebases::Syzygy;
use arbiter_openings::Book;
use arbiter_plan::{
    Engine, Plan, PlanError, Program, Request, RunKind, default_concurrency, load_book,
};
use arbiter_process::{Links, open_output};
use arbiter_report::{Boards, Live, PgnHeader, RecentEvents, log_error, note, summary_of};
use arbiter_run::{JobMaker, Observer, PlayedPair, RunEnd, RunState};
use arbiter_runner::{
    Finished, LiveGames, LocalExecutor, LocalOptions, OptionsFound, Run, Signals, check_unchanged,
    cpu_sets_of, dispatch, engine_setups, take_fingerprints, unix_time_ms,
};
use arbiter_store::{Fingerprints, Offsets, RunLock, Store, StoreError};

/// Maximum number of queued commands to a run.
const CONTROL_REQUESTS: usize = 64;

/// Run that is ready to be played.
struct ReadyRun {
    name: String,
    plan: Plan,
    /// Inputs of the games; `None` if the run has ended.
    inputs: Option<Inputs>,
    store: Store,
    files: Vec<GamesFile>,
    state: RunState,
    results: PathBuf,
    /// Lock of the run for this process.
    _lock: RunLock,
}

/// Inputs of the games of a run.
struct Inputs {
    book: Book,
    tables: Option<Arc<dyn Tables>>,
    /// Setup of each engine.
    setups: Vec<EngineSetup>,
    /// Options that the preflight found for each engine.
    options: Vec<OptionsFound>,
}

/// Plays the requested run and prints the result, or makes a dry run.
pub(crate) fn run_command(kind: RunKind, requested: RequestedRun) -> Result<ExitCode, Failure> {
    if requested.is_dry_run {
        dry_run::print(kind, requested).map(|()| ExitCode::Passed)
    } else {
        play_and_name(kind, requested).map(|(_, code)| code)
    }
}

/// Plays the requested run, prints the result, and returns the name of the run.
pub(crate) fn play_and_name(
    kind: RunKind,
    mut requested: RequestedRun,
) -> Result<(String, ExitCode), Failure> {
    let (format, style) = (requested.format, requested.compat.clone());
    let retry_hint = requested.may_start.then_some("run the same command again to continue");
    let fleet = std::mem::take(&mut requested.cluster).fleet(requested.concurrency)?;
    if let Some(wanted) = &requested.resume
        && requested.may_start
        && !run_exists(&requested.results, &wanted.run)?
    {
        requested.resume = None;
    }
    let endpoint = requested.metrics.open()?;
    let ready = match requested.resume.take() {
        Some(wanted) => resume_run(kind, wanted, requested, fleet.is_some())?,
        None => start_new_run(kind, requested, fleet.is_some())?,
    };
    let name = ready.name.clone();
    execute(ready, fleet, endpoint, format, style, retry_hint).map(|code| (name, code))
}

/// Returns whether a run with this name exists.
fn run_exists(results: &Path, run: &str) -> Result<bool, Failure> {
    match Store::open(results).and_then(|store| store.run(run)) {
        Ok(_) => Ok(true),
        Err(StoreError::NoRun { .. } | StoreError::Missing(_)) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Plays a plan as a new run with this name.
pub(crate) fn play_plan(
    plan: Plan,
    results: &Path,
    name: String,
    about: &str,
    format: OutputFormat,
) -> Result<ExitCode, Failure> {
    let new = RequestedRun {
        results: results.to_owned(),
        name: Some(name),
        about: Some(about.to_owned()),
        ..RequestedRun::default()
    };
    execute(store_run(load_inputs(plan, false)?, new)?, None, None, format, None, None)
}

/// Plan with the contents of its files, before anything is stored.
struct LoadedPlan {
    plan: Plan,
    fingerprints: Fingerprints,
    inputs: Inputs,
}

/// Resolves the request to a plan, and reads the files of the plan.
fn load_plan(
    kind: RunKind,
    requested: &mut RequestedRun,
    has_workers: bool,
) -> Result<LoadedPlan, Failure> {
    let without_limits = requested.request.without_limits();
    let loaded = load_inputs(resolve_plan(kind, requested)?, has_workers)?;
    note_engines(&loaded, &without_limits);
    Ok(loaded)
}

/// Builds the engines of a request, and resolves the request to a plan.
fn resolve_plan(kind: RunKind, requested: &mut RequestedRun) -> Result<Plan, Failure> {
    if let Some(path) = &requested.request.draft.book {
        std::fs::metadata(path).map_err(|error| {
            let path = path.display();
            Failure::invalid(if requested.request.draft.has_no_book {
                format!("-openings file={path}: {error}")
            } else {
                format!("{path}: {error}\nhint: omit --openings to use the bundled book")
            })
        })?;
    }
    make_engines(kind, requested)?;
    plan_of(kind, std::mem::take(&mut requested.request))
}

/// Resolves a request whose engines have been built.
fn plan_of(kind: RunKind, request: Request) -> Result<Plan, Failure> {
    let plan = Plan::resolve(kind, request).map_err(|error| match error {
        PlanError::NothingToRun => Failure::new(ExitCode::NothingToRun, error),
        PlanError::EngineCount(_) => Failure::new(ExitCode::Usage, error),
        PlanError::Invalid(_) => Failure::invalid(error),
    })?;
    let is_bundled =
        |engine: &&Engine| engine.program == Program::Bundled && engine.provenance.is_none();
    for engine in plan.engines.iter().filter(is_bundled) {
        bundled_engine::check_features(&engine.options)
            .map_err(|reason| Failure::invalid(format!("engine '{}': {reason}", engine.name)))?;
    }
    Ok(plan)
}

/// Reads the files of a plan. If `has_workers`, workers play the plan; otherwise this machine does.
fn load_inputs(plan: Plan, has_workers: bool) -> Result<LoadedPlan, Failure> {
    let checked = if has_workers { check_for_workers(&plan) } else { cpu_sets_of(&plan).map(drop) };
    checked.map_err(Failure::invalid)?;
    let book = load_book(&plan).map_err(Failure::invalid)?;
    let openings = book.len();
    if plan.opening_start >= openings as u64 && !plan.is_lenient {
        return Err(Failure::invalid(format!(
            "--openings start={} exceeds the {openings} openings of {}",
            plan.opening_start + 1,
            book.name()
        )));
    }
    let own_binary = own_binary()?;
    let fingerprints = take_fingerprints(&plan, &book, &own_binary).map_err(Failure::invalid)?;
    let tables = open_tables(&plan)?;
    let setups = engine_setups(&plan, &own_binary);
    let inputs = Inputs { book, tables, setups, options: Vec::new() };
    Ok(LoadedPlan { plan, fingerprints, inputs })
}

fn start_new_run(
    kind: RunKind,
    mut requested: RequestedRun,
    has_workers: bool,
) -> Result<ReadyRun, Failure> {
    let stderr_dir = requested.request.stderr_dir.clone();
    let loaded = load_plan(kind, &mut requested, has_workers)?;
    if let Some(dir) = stderr_dir {
        std::fs::create_dir_all(&dir).map_err(|error| {
            Failure::environment(format!("cannot make folder {}: {error}", dir.display()))
        })?;
    }
    store_run(loaded, requested)
}

/// Checks that a plan can be played, and stores it as a run.
fn store_run(loaded: LoadedPlan, requested: RequestedRun) -> Result<ReadyRun, Failure> {
    let LoadedPlan { mut plan, fingerprints, inputs } = loaded;
    let RequestedRun { results, name, about, is_probed, compat, files, .. } = requested;
    if let Some(name) = &name {
        RunLock::check_new_name(name)?;
    }
    files::check(&plan, &files, &results, name.as_deref())?;
    let store = Store::create(&results)?;
    let NewName { name, created_ms, lock } = new_name(&store, &results, plan.kind, name)?;
    let inputs = check_engines(&mut plan, inputs, is_probed, compat.as_ref()).map(Some)?;
    for path in compat.iter().flat_map(|style| &style.replaces) {
        let file = open_output(path, File::options().write(true), Links::Followed);
        let emptied = file.and_then(|file| file.set_len(0));
        emptied.map_err(|error| write_error(path, &error))?;
    }
    let begin = |path: &Option<PathBuf>, content| {
        path.as_deref().map(|path| GamesFile::begin(path, content)).transpose()
    };
    let header = PgnHeader::of(&plan, &fingerprints, created_ms);
    let pgn = begin(&plan.pgn, Content::Pgn(Box::new(header)))?;
    let epd = begin(&plan.epd, Content::Epd(plan.annotation.dialect))?;
    let offset = |file: &Option<GamesFile>| file.as_ref().map_or(0, |file| file.end);
    let offsets = Offsets { pgn: offset(&pgn), epd: offset(&epd) };
    let files = pgn.into_iter().chain(epd).collect();
    let about = about.as_deref();
    store.begin_run(&name, created_ms, &plan, &fingerprints, offsets, about)?;
    let state = RunState::of(&plan);
    Ok(ReadyRun { name, plan, inputs, store, files, state, results, _lock: lock })
}

/// Builds engines from revisions. Builds take a long time, so all other errors of the run are
/// reported first.
pub(crate) fn make_engines(kind: RunKind, requested: &mut RequestedRun) -> Result<(), Failure> {
    let (request, results) = (requested.request.clone(), requested.results.clone());
    let files = requested.files.clone();
    let name = requested.name.clone().filter(|_| requested.resume.is_none());
    let check = Box::new(move |engines| {
        if let Some(name) = &name {
            RunLock::check_new_name(name)?;
            if run_exists(&results, name)? {
                return Err(StoreError::Exists(name.clone()).into());
            }
        }
        let plan = plan_of(kind, Request { engines, ..request })?;
        files::check(&plan, &files, &results, name.as_deref())?;
        load_inputs(plan, false).map(drop)
    });
    let own = &requested.request;
    let outputs = own.draft.pgn.iter().chain(&own.draft.epd);
    let context = BuildContext {
        config: requested.config.clone(),
        without: outputs.chain(&own.stderr_dir).chain([&requested.results]).cloned().collect(),
        copies: requested.request.concurrency.unwrap_or_else(|| default_concurrency(true)),
        reference_nps: requested.reference_nps,
        is_dry_run: requested.is_dry_run,
    };
    let engines = std::mem::take(&mut requested.request.engines);
    let built = requested.build.prepare(engines, &requested.request.each, context, Some(check))?;
    requested.request.engines = built.engines;
    requested.request.draft.scale = built.scale;
    // The flags are cleared, so that a second call does not build the engines again.
    (requested.build.dev, requested.build.base) = (None, None);
    Ok(())
}

fn resume_run(
    kind: RunKind,
    wanted: Resume,
    mut requested: RequestedRun,
    has_workers: bool,
) -> Result<ReadyRun, Failure> {
    let (results, style) = (requested.results.clone(), requested.compat.clone());
    let store = Store::open(&results)?;
    let name = store.named(&wanted.run)?;
    // The lock is taken before the run is read, because a process that holds the lock may change
    // the run.
    let lock = RunLock::take(&results, &name)?;
    let stored = store.run(&name)?;
    let mut plan = stored.plan;
    if plan.kind != kind {
        return Err(Failure::invalid(format!(
            "run '{name}' is of another kind\nhint: resume it with the subcommand that started it"
        )));
    }
    requested.build.restore(&plan)?;
    let others = std::mem::take(&mut requested.files);
    same_flags::check(kind, &name, &plan, requested)?;
    let other_pgn = wanted.pgn.map(|path| std::path::absolute(&path).unwrap_or(path));
    let other_pgn = other_pgn.filter(|path| Some(path) != plan.pgn.as_ref());
    let pgn = other_pgn.clone().or_else(|| plan.pgn.clone());
    files::check(&Plan { pgn, ..plan.clone() }, &others, &results, Some(&name))?;
    let state = replay_stored(&store, &name, &plan)?;
    store.check_games(&name)?;
    let concurrency = wanted.concurrency.unwrap_or(plan.concurrency);
    let affinity = wanted.affinity.unwrap_or_else(|| plan.affinity.clone());
    let mut inputs = None;
    // A finished run needs neither its engines nor its book, and these may no longer exist.
    if state.ending().is_none() {
        let is_local = !has_workers && wanted.concurrency.is_none();
        if is_local && !store.pairs_by_worker(&name)?.is_empty() {
            return Err(played_by_workers(&name, plan.kind, &results));
        }
        let changed = Plan { concurrency, affinity: affinity.clone(), ..plan.clone() };
        let loaded = load_inputs(changed, false)?;
        let (then, now) = (&stored.fingerprints, &loaded.fingerprints);
        check_unchanged(&plan, then, now).map_err(Failure::invalid)?;
        inputs = Some(check_engines(&mut plan, loaded.inputs, false, style.as_ref())?);
        store.set_ending(&name, None)?;
    }
    let header = PgnHeader::of(&plan, &stored.fingerprints, stored.head.created_ms);
    let content = Content::Pgn(Box::new(header));
    let open = |path: &Option<PathBuf>, content: Content, offset: u64| {
        path.as_deref().map(|path| GamesFile::open(path, content, offset)).transpose()
    };
    let pgn = match other_pgn {
        // A new file receives all games of the run, after its existing contents.
        Some(path) => {
            let pgn = GamesFile::begin(&path, content)?;
            plan.pgn = Some(path);
            store.set_plan(&name, &plan, &stored.fingerprints, pgn.end)?;
            Some(pgn)
        }
        None => open(&plan.pgn, content, stored.offsets.pgn)?,
    };
    let epd = open(&plan.epd, Content::Epd(plan.annotation.dialect), stored.offsets.epd)?;
    let mut files: Vec<GamesFile> = pgn.into_iter().chain(epd).collect();
    for file in &mut files {
        reconcile(file, &store, &name, &state, has_workers)?;
    }
    (plan.concurrency, plan.affinity) = (concurrency, affinity);
    Ok(ReadyRun { name, plan, inputs, store, files, state, results, _lock: lock })
}

/// Returns the error for a run that workers have played, if no flag says where to resume it.
fn played_by_workers(run: &str, kind: RunKind, results: &Path) -> Failure {
    let again = resume_command(run, kind, results);
    Failure::invalid(format!(
        "workers have played pairs of run '{run}'\nhint: to let workers continue: {again} --on \
         FILE|URL; to continue on this machine: {again} --concurrency N"
    ))
}

/// Appends the games that are missing from a games file.
fn reconcile(
    file: &mut GamesFile,
    store: &Store,
    run: &str,
    state: &RunState,
    has_workers: bool,
) -> Result<(), Failure> {
    // If a worker is excluded, its pairs are removed from the file, which requires the start of
    // each pair. The starts of skipped pairs are unknown.
    let written = if has_workers { None } else { store.last_note(run, &file.path)? };
    let counted = state.counted_pairs().count() as u64;
    let written = written.filter(|written| written.pairs <= counted);
    let known = written.map_or(Ok(0), |written| file.skip(&written))?;
    let later = state.counted_pairs().skip(usize::try_from(known).unwrap_or(usize::MAX));
    let pairs = later.map(|pair| counted_pair(store, run, pair));
    let were_taken_back = store.excluded_workers(run)?.iter().any(|excluded| excluded.pairs > 0);
    file.reconcile(pairs, were_taken_back)?;
    // The note only saves time: without it, the next comparison renders all games.
    let _ = file.written_prefix().map(|written| store.note_written(run, &written));
    Ok(())
}

/// Opens the tablebases that the plan's rules need.
pub(crate) fn open_tables(plan: &Plan) -> Result<Option<Arc<dyn Tables>>, Failure> {
    let Some(rule) = plan.rules.tablebase else { return Ok(None) };
    let tables =
        Syzygy::open(plan.tables.iter().map(PathBuf::as_path)).map_err(Failure::invalid)?;
    let most = tables.max_pieces();
    if rule.pieces as usize > most {
        note(&format!("syzygy: these tables cover at most {most} pieces"));
    }
    Ok(Some(Arc::new(tables)))
}

fn counted_pair(store: &Store, run: &str, pair: u64) -> Result<PlayedPair, Failure> {
    let missing = || Failure::environment(format!("pair {pair} of run '{run}' is missing"));
    store.pair(run, pair)?.ok_or_else(missing)
}

fn execute(
    mut ready: ReadyRun,
    fleet: Option<Fleet>,
    endpoint: Option<Endpoint>,
    format: OutputFormat,
    style: Option<Style>,
    retry_hint: Option<&str>,
) -> Result<ExitCode, Failure> {
    let resume_hint =
        retry_hint.map_or_else(|| default_resume_hint(&ready, fleet.as_ref()), str::to_owned);
    if let Some(style) = &style {
        let saved = style.save(&ready.name, &ready.results, &ready.plan, ready.state.counts());
        saved.map_err(Failure::environment)?;
    }
    if let Some(Inputs { book, .. }) = &ready.inputs {
        announce(&ready, book, fleet.as_ref());
    }
    let (request, unnoted) = match ready.state.ending() {
        // The process may have been killed after the last pair but before the ending was stored, so
        // the ending is stored now.
        Some(ending) => {
            let unnoted = ready.store.set_ending(&ready.name, Some(ending)).err();
            if let Some(style) = &style {
                let printed = Printer::print_again(style, &ready.plan, &ready.state, ending);
                printed.map_err(Failure::environment)?;
            }
            (None, unnoted)
        }
        None => play_pairs(&mut ready, fleet, endpoint, format, style.as_ref(), &resume_hint)
            .map(|finished| (finished.stop_cause, finished.unnoted))?,
    };
    // The verdict follows from the stored pairs, so a failure to store the ending is not an error
    // of the command.
    if let Some(error) = unnoted {
        log_error(format!("{error}; all pairs are stored, but not the final status of the run"));
    }
    let ReadyRun { name, state, store, results, .. } = &ready;
    let summary = summary_of(store, &store.run(name)?, state)?;
    if style.is_none() {
        result::print(store, &summary, format)?;
    }
    note_worker_shares(store, name)?;
    note(&format!(
        "results in {}; show them: {}; as a page: {} {name} --out {name}.html",
        store.file().display(),
        show(name, results),
        with_results("report", results)
    ));
    if summary.ending == Some(RunEnd::Interrupted) {
        note(&resume_hint);
    }
    Ok(result::exit_code(&summary, request))
}

/// Plays the run; `resume_hint` is shown after an error.
fn play_pairs(
    ready: &mut ReadyRun,
    fleet: Option<Fleet>,
    endpoint: Option<Endpoint>,
    format: OutputFormat,
    style: Option<&Style>,
    resume_hint: &str,
) -> Result<Finished, Failure> {
    let ReadyRun { name, plan, inputs, store, files, state, results, .. } = ready;
    let inputs = inputs.as_mut().expect("inputs are only missing if the run has ended");
    let Inputs { book, tables, setups, options } = inputs;
    let setups = std::mem::take(setups);
    #[cfg(feature = "cluster")]
    let (created_ms, history) =
        (store.run(name)?.head.created_ms, crate::fleet::worker_history(store, name, plan)?);
    let jobs = JobMaker::new(plan, book, tables.clone());
    let (control, control_requests) = mpsc::channel(CONTROL_REQUESTS);
    // The other programs have no key commands.
    let keys = if style.is_some() { None } else { Keyboard::listen(control.clone()) };
    let live_games = LiveGames::default();
    let mut observers: Vec<&mut dyn Observer> = Vec::new();
    observers.extend(files.iter_mut().map(|file| file as &mut dyn Observer));
    let mut view: Box<dyn Observer> = match style {
        Some(style) => {
            let printer = Printer::new(style, plan, options, state.schedule().clone());
            let printer = printer.with_run(options, name, results, control.clone());
            Box::new(printer.map_err(Failure::environment)?)
        }
        None => {
            let games = live_games.clone();
            let shown = move |most| {
                let (shown, count) = games.snapshots(most);
                Boards::of(&shown, count)
            };
            Box::new(Live::new(plan, state, keys.is_some(), shown))
        }
    };
    observers.push(&mut *view);
    let mut recent = RecentEvents::new(plan, unix_time_ms());
    let seen = recent.clone();
    observers.push(&mut recent);
    let mut stream = Stream(plan);
    observers.extend((format == OutputFormat::Ndjson).then_some(&mut stream as &mut dyn Observer));
    let runtime = runtime()?;
    let metrics = endpoint.map(|endpoint| endpoint.observer(runtime.handle(), fleet.as_ref()));
    let mut metrics = metrics.transpose()?;
    observers.extend(metrics.as_mut().map(|metrics| metrics as &mut dyn Observer));
    let stops_at_once = style.is_some();
    let run = Run { name, store, jobs, stops_at_once, plan, observers, control_requests };
    runtime.block_on(async {
        let socket =
            control_server::Server::listen(results, name, control, live_games.clone(), seen);
        // Shells disable SIGINT for programs that scripts start in the background, but the other
        // programs can be interrupted even then.
        let signals =
            if style.is_some() { Signals::listen_in_any_case() } else { Signals::listen() };
        let mut signals = signals.map_err(Failure::environment)?;
        let finished = match fleet {
            None => {
                let local = local(plan, setups, live_games, stops_at_once)?;
                dispatch(run, state, local, &mut signals).await
            }
            #[cfg(feature = "cluster")]
            Some(fleet) => {
                let opening = fleet.executor(plan, name, created_ms, setups, history);
                let put_away = arbiter_runner::Executor::finish;
                let when = preflight::BEFORE_GAMES;
                let remote = crate::fleet::opened(opening, &mut signals, put_away, when).await?;
                dispatch(run, state, remote, &mut signals).await
            }
        };
        socket.close().await;
        finished.map_err(|error| failure(&error, &show(name, results), resume_hint))
    })
}

/// Returns the executor of a run on this machine.
fn local(
    plan: &Plan,
    setups: Vec<EngineSetup>,
    live_games: LiveGames,
    tells_games: bool,
) -> Result<LocalExecutor, Failure> {
    let room = LocalOptions {
        slots: plan.concurrency,
        wait: plan.wait,
        measures_waiting: plan.noise_limit.is_some(),
        tells_games,
        cpu_sets: cpu_sets_of(plan).map_err(Failure::invalid)?,
    };
    LocalExecutor::new(room, setups, live_games).map_err(Failure::environment)
}
