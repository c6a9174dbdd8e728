//! Start of a new run: resolves the plan, reads the plan's files, and stores the run.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::messages::note_engines;
use super::preflight::{check_engines, check_files};
use super::{Inputs, LoadedPlan, ReadyRun, run_exists};
use crate::engine_builds::{BuildContext, own_binary};
use crate::fleet::check_for_workers;
use crate::games_file::{Content, GamesFile};
use crate::output::{Rows, print_report, write_error};
use crate::requested_run::{RequestedRun, RunArgs};
use crate::{bundled_engine, failure::Failure};
use arbiter_game::adjudicate::Syzygy;
use arbiter_game::adjudicate::Tables;
use arbiter_openings::Book;
use arbiter_plan::{Engine, Plan, PlanError, Request, RunKind, default_concurrency, load_book};
use arbiter_process::{Links, open_output};
use arbiter_protocol::Protocol;
use arbiter_report::{PgnHeader, note, plan_document, plan_json, repeats_text, utc_time_as};
use arbiter_run::{RunState, load_thin_book};
use arbiter_runner::{cpu_sets_of, engine_setups, hash_file, take_fingerprints, unix_time_ms};
use arbiter_store::{Fingerprints, LockError, Offsets, RunLock, Store, StoreError, StoredRun};

/// Resolves the request to a plan, and stores the plan as a new run that is ready to be played.
pub(super) fn start_new_run(mut requested: RequestedRun) -> Result<ReadyRun, Failure> {
    let stderr_dir = requested.request.stderr_dir.clone();
    let loaded = load_plan(&mut requested)?;
    if let Some(dir) = stderr_dir {
        std::fs::create_dir_all(&dir).map_err(|error| {
            Failure::environment(format!("cannot make folder {}: {error}", dir.display()))
        })?;
    }
    store_run(loaded, requested)
}

/// Resolves the request to a plan, and reads the files of the plan.
fn load_plan(requested: &mut RequestedRun) -> Result<LoadedPlan, Failure> {
    let without_limits = requested.request.without_limits();
    let loaded = load_inputs(resolve_plan(requested)?, requested.has_workers, None)?;
    note_engines(&loaded, &without_limits);
    Ok(loaded)
}

/// Builds the engines of a request, and resolves the request to a plan.
pub(super) fn resolve_plan(requested: &mut RequestedRun) -> Result<Plan, Failure> {
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
    make_engines(requested.kind, requested)?;
    plan_of(requested.kind, std::mem::take(&mut requested.request))
}

/// Resolves a request whose engines have been built.
pub(super) fn plan_of(kind: RunKind, request: Request) -> Result<Plan, Failure> {
    let plan = Plan::resolve(kind, request).map_err(|error| match error {
        PlanError::NothingToRun => Failure::nothing_to_run(error),
        PlanError::EngineCount(_) => Failure::usage(error),
        PlanError::Invalid(_) => Failure::invalid(error),
    })?;
    let is_bundled = |engine: &&Engine| engine.program.is_none() && engine.provenance.is_none();
    for engine in plan.engines.iter().filter(is_bundled) {
        bundled_engine::check_features(&engine.options)
            .map_err(|reason| Failure::invalid(format!("engine '{}': {reason}", engine.name)))?;
    }
    Ok(plan)
}

/// Checks whether a plan is suitable for workers (if `has_workers` is `true`) or for this machine,
/// and then reads the files of the plan. `stored` is the run to be resumed.
pub(super) fn load_inputs(
    plan: Plan,
    has_workers: bool,
    stored: Option<&StoredRun>,
) -> Result<LoadedPlan, Failure> {
    let checked = if has_workers { check_for_workers(&plan) } else { cpu_sets_of(&plan).map(drop) };
    checked.map_err(Failure::invalid)?;
    let known = stored.and_then(|stored| Some((known_book(&plan, stored)?, &stored.fingerprints)));
    let (book, known) = match known {
        Some((book, known)) => (book, Some(known)),
        None => (load_book(&plan).map_err(Failure::invalid)?, None),
    };
    let openings = book.len();
    if plan.opening_start >= openings as u64 && !plan.is_lenient {
        return Err(Failure::invalid(format!(
            "--openings start={} exceeds the {openings} openings of {}",
            plan.opening_start + 1,
            book.name
        )));
    }
    let own_binary = own_binary()?;
    let fingerprints =
        take_fingerprints(&plan, &book, known, &own_binary).map_err(Failure::invalid)?;
    let tables = open_tables(&plan)?;
    let setups = engine_setups(&plan, &own_binary);
    let inputs = Inputs { book, tables, setups, options: Vec::new() };
    Ok(LoadedPlan { plan, fingerprints, inputs })
}

/// Reads the openings that a stored run will play. Returns `None` if the book has changed, or if a
/// new reading of the complete book could find other openings than at the start of the run.
fn known_book(plan: &Plan, stored: &StoredRun) -> Option<Book> {
    let Fingerprints { book: hash, quarantine, corrected, duplicates, .. } = &stored.fingerprints;
    let duplicates = (*duplicates)?;
    // Another version may read the file differently, and an engine that speaks xboard may be unable
    // to set up some openings.
    let is_known = stored.version == env!("CARGO_PKG_VERSION")
        && quarantine.is_empty()
        && plan.engines.iter().all(|engine| engine.launch.protocol == Protocol::Uci)
        && hash_file(plan.book.as_ref()?).is_ok_and(|now| now == *hash);
    let mut book = if is_known { load_thin_book(plan)? } else { return None };
    (book.corrected, book.duplicates) = (corrected.clone(), duplicates);
    Some(book)
}

/// Opens the tablebases that the plan's rules need; returns `None` if the rules need no tablebases.
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

/// Checks that a plan can be played, and stores the plan as a run.
pub(super) fn store_run(loaded: LoadedPlan, requested: RequestedRun) -> Result<ReadyRun, Failure> {
    let LoadedPlan { mut plan, fingerprints, inputs } = loaded;
    let RequestedRun { results, is_probed, compat: style, settings_files, .. } = requested;
    let RunArgs { name, about, format, .. } = requested.flags;
    if let Some(name) = &name {
        RunLock::check_new_name(name)?;
    }
    check_files(&plan, &settings_files, style.as_ref(), &results, name.as_deref())?;
    let store = Store::create(&results)?;
    let (name, created_ms, lock) = new_name(&store, &results, plan.kind, name)?;
    let inputs = check_engines(&mut plan, inputs, is_probed, style.as_ref()).map(Some)?;
    // Files are emptied only after the preflight, so that a run whose engines do not start leaves
    // the files unchanged.
    for path in style.iter().flat_map(|style| &style.replaces) {
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
    // The games files are opened before the run is stored, because the store contains the offsets
    // at which the games start.
    store.begin_run(&name, created_ms, &plan, &fingerprints, offsets, about.as_deref())?;
    let state = RunState::of(&plan);
    Ok(ReadyRun { name, plan, inputs, store, files, state, results, format, style, _lock: lock })
}

/// Returns the name of a new run, its start as Unix time in milliseconds, and the lock of the run.
/// The name is `chosen` if given; by default, the name consists of the kind and the start time of
/// the run. If another run has the default name, waits for the next millisecond. Fails if another
/// run has the name `chosen`.
fn new_name(
    store: &Store,
    results: &Path,
    kind: RunKind,
    chosen: Option<String>,
) -> Result<(String, i64, RunLock), Failure> {
    loop {
        let created_ms = unix_time_ms();
        let default = || format!("{kind}-{}", utc_time_as(created_ms, "%Y%m%d-%H%M%S-%3f"));
        let name = chosen.clone().unwrap_or_else(default);
        let failure: Failure = match RunLock::take(results, &name) {
            Ok(_) if store.run(&name).is_ok() => StoreError::Exists(name).into(),
            Ok(lock) => return Ok((name, created_ms, lock)),
            Err(error @ LockError::Busy(_)) => error.into(),
            Err(error) => return Err(error.into()),
        };
        if chosen.is_some() {
            return Err(failure);
        }
        // Runs that start in the same millisecond are not rare: of 240 matches, started six at a
        // time, 3 had the same start time as another match.
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Resolves the plan, reads the book, starts every engine that is not a revision, and prints the
/// plan. Nothing is stored, and no games file is opened.
pub(super) fn dry_run(mut requested: RequestedRun) -> Result<(), Failure> {
    requested.has_workers = requested.flags.cluster.has_workers();
    let loaded = load_plan(&mut requested)?;
    if requested.has_workers {
        note("workers would play; a dry run starts the engines on this machine without the server");
    }
    let LoadedPlan { mut plan, mut fingerprints, mut inputs } = loaded;
    let concurrency = (!requested.has_workers).then_some(plan.concurrency);
    let mut engines = plan.engines.iter();
    inputs.setups.retain(|_| engines.next().is_some_and(|engine| !is_stand_in(engine)));
    let book = check_engines(&mut plan, inputs, requested.is_probed, None)?.book;
    for (engine, hashes) in plan.engines.iter_mut().zip(&mut fingerprints.engines) {
        if is_stand_in(engine) {
            engine.program = Some("not built".into());
            hashes.program = "unknown".to_owned();
        }
    }
    if let Some(words) = repeats_text(&plan, &book) {
        note(&words);
    }
    let document = plan_document(&plan, &fingerprints, concurrency);
    let rows =
        Rows { list: Some("engines"), first: &["name", "limits", "program", "commit", "blake3"] };
    let json = || plan_json(&plan, &fingerprints, &book, concurrency);
    print_report(&requested.flags.format.of_document(&document, json, rows))
}

/// Returns whether an engine is the bundled engine in place of a revision, because a dry run does
/// not run the code of revisions.
fn is_stand_in(engine: &Engine) -> bool {
    engine.provenance.is_some() && engine.program.is_none()
}

/// Builds the engines that are revisions. Builds take a long time, so all other errors of the run
/// are reported first.
pub(crate) fn make_engines(kind: RunKind, requested: &mut RequestedRun) -> Result<(), Failure> {
    let (request, results) = (requested.request.clone(), requested.results.clone());
    let (settings_files, style) = (requested.settings_files.clone(), requested.compat.clone());
    let name = requested.flags.name.clone().filter(|_| requested.flags.resume.is_none());
    let check = Box::new(move |engines| {
        if let Some(name) = &name {
            RunLock::check_new_name(name)?;
            if run_exists(&results, name)? {
                return Err(StoreError::Exists(name.clone()).into());
            }
        }
        let plan = plan_of(kind, Request { engines, ..request })?;
        check_files(&plan, &settings_files, style.as_ref(), &results, name.as_deref())?;
        load_inputs(plan, false, None).map(drop)
    });
    let request = &requested.request;
    let outputs = request.draft.pgn.iter().chain(&request.draft.epd);
    let context = BuildContext {
        each: request.each.clone(),
        config: requested.config.clone(),
        without: outputs.chain(&request.stderr_dir).chain([&requested.results]).cloned().collect(),
        copies: requested.request.concurrency.unwrap_or_else(|| default_concurrency(true)),
        reference_nps: requested.reference_nps,
        is_dry_run: requested.flags.dry_run,
    };
    let engines = std::mem::take(&mut requested.request.engines);
    let built = requested.flags.build.prepare(engines, context, Some(check))?;
    requested.request.engines = built.engines;
    requested.request.draft.scale = built.scale;
    // The flags are cleared, so that a second call does not build the engines again.
    (requested.flags.build.dev, requested.flags.build.base) = (None, None);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_openings::{Quarantine, ReadOptions};
    use arbiter_run::thin_book;
    use arbiter_store::RunHead;

    #[test]
    fn only_an_unchanged_book_is_read_in_part() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("book.epd");
        let line = |n: usize| format!("4k3/8/8/8/8/8/8/4K2R w - - {} 1\n", n / 2);
        std::fs::write(&path, (0..40).map(line).collect::<String>()).unwrap();
        let mut plan = Plan::resolve(RunKind::Sprt, Request::default()).unwrap();
        (plan.book, plan.book_length) = (Some(path.clone()), Some(40));
        plan.design.pairs = 5;
        let mut whole = arbiter_openings::load(&path, ReadOptions::default()).unwrap();
        let own_binary = std::env::current_exe().unwrap();
        let fingerprints = take_fingerprints(&plan, &whole, None, &own_binary).unwrap();
        let head = RunHead { run: "a".into(), created_ms: 0, ending: None, pairs: 2, about: None };
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let offsets = Offsets::default();
        let stored = StoredRun { head, version, plan: plan.clone(), fingerprints, offsets };
        thin_book(&mut whole, &plan);
        assert_eq!((whole.duplicates, whole.openings().len()), (20, 5));
        assert_eq!(known_book(&plan, &stored), Some(whole));
        let other = |change: fn(&mut StoredRun)| {
            let mut changed = stored.clone();
            change(&mut changed);
            assert_eq!(known_book(&changed.plan, &changed), None);
        };
        other(|run| run.version = "0.1.0".into());
        other(|run| run.fingerprints.duplicates = None);
        other(|run| run.fingerprints.book = "0".into());
        other(|run| run.fingerprints.quarantine = Quarantine { count: 1, faults: Vec::new() });
        other(|run| run.plan.book_length = Some(41));
        other(|run| run.plan.design.pairs = 40);
        other(|run| run.plan.engines[1].launch.protocol = Protocol::Xboard);
    }

    #[test]
    fn runs_of_the_same_millisecond_have_different_names() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::create(dir.path()).unwrap();
        let take = |chosen: Option<&str>| {
            new_name(&store, dir.path(), RunKind::Match, chosen.map(str::to_owned))
        };
        let taken: Vec<_> = (0..20).map(|_| take(None).unwrap()).collect();
        assert!(taken.windows(2).all(|two| two[0].0 < two[1].0));
        let error = take(Some(&taken[7].0)).unwrap_err().message;
        assert!(error.contains("is being played"), "{error}");
    }
}
