//! Resumption of stored runs.

use std::path::{Path, PathBuf};

use super::ReadyRun;
use super::messages::resume_command;
use super::preflight::{check_engines, check_files};
use super::start::{load_inputs, resolve_plan};
use crate::failure::Failure;
use crate::games_file::{Content, GamesFile};
use crate::requested_run::RequestedRun;
use arbiter_plan::{Plan, RunKind};
use arbiter_report::{PgnHeader, replayed_state};
use arbiter_run::{Effect, Observer, RunState};
use arbiter_runner::check_unchanged;
use arbiter_settings::{OnResume, difference, filled, on_resume};
use arbiter_store::{RunLock, Store};

/// Reads, locks and checks a stored run, so that it can be continued.
pub(super) fn resume_run(run: &str, mut requested: RequestedRun) -> Result<ReadyRun, Failure> {
    let store = Store::open(&requested.results)?;
    let name = store.named(run)?;
    // The lock is taken before the run is read, because a process that holds the lock may change
    // the run.
    let lock = RunLock::take(&requested.results, &name)?;
    let stored = store.run(&name)?;
    let mut plan = stored.plan.clone();
    if plan.kind != requested.kind {
        return Err(Failure::invalid(format!(
            "run '{name}' was not started with 'arbiter {}'\nhint: {}",
            requested.kind,
            resume_command(&name, plan.kind, &requested.results)
        )));
    }
    requested.flags.build.restore(&plan)?;
    let settings_files = std::mem::take(&mut requested.settings_files);
    check_flags(&name, &plan, &mut requested)?;
    let format = requested.flags.format;
    let RequestedRun { results, compat: style, has_workers, concurrency: wanted, .. } = requested;
    let other_pgn = requested.pgn.map(|path| std::path::absolute(&path).unwrap_or(path));
    let other_pgn = other_pgn.filter(|path| Some(path) != plan.pgn.as_ref());
    let pgn = other_pgn.clone().or_else(|| plan.pgn.clone());
    let written = Plan { pgn, ..plan.clone() };
    check_files(&written, &settings_files, style.as_ref(), &results, Some(&name))?;
    let state = replay_stored(&store, &name, &plan)?;
    store.check_games(&name)?;
    let concurrency = wanted.unwrap_or(plan.concurrency);
    let affinity = requested.affinity.unwrap_or_else(|| plan.affinity.clone());
    let mut inputs = None;
    // A finished run needs neither its engines nor its book, and the files may no longer exist.
    if state.ending().is_none() {
        let is_local = !has_workers && wanted.is_none();
        if is_local && !store.pairs_by_worker(&name)?.is_empty() {
            return Err(played_by_workers(&name, plan.kind, &results));
        }
        let changed = Plan { concurrency, affinity: affinity.clone(), ..plan.clone() };
        let loaded = load_inputs(changed, has_workers, Some(&stored))?;
        let (then, now) = (&stored.fingerprints, &loaded.fingerprints);
        check_unchanged(&plan, then, now).map_err(Failure::invalid)?;
        inputs = Some(check_engines(&mut plan, loaded.inputs, false, style.as_ref())?);
        // The stored ending is removed only after all checks of the plan and the engines, so that a
        // run that fails a check keeps its ending.
        store.set_ending(&name, None)?;
    }
    let header = PgnHeader::of(&plan, &stored.fingerprints, stored.head.created_ms);
    let content = Content::Pgn(Box::new(header));
    let open = |path: &Option<PathBuf>, content: Content, offset: u64| {
        path.as_deref().map(|path| GamesFile::open(path, content, offset)).transpose()
    };
    let pgn = match other_pgn {
        // A new PGN file receives all games of the run, after any existing contents.
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
    Ok(ReadyRun { name, plan, inputs, store, files, state, results, format, style, _lock: lock })
}

/// Fails if a flag differs from the settings of the run to resume.
fn check_flags(name: &str, plan: &Plan, requested: &mut RequestedRun) -> Result<(), Failure> {
    let mut given = std::mem::take(&mut requested.given);
    let is_checked = |flag: &str| match on_resume(flag) {
        OnResume::Free => false,
        // In a tuning run, these flags apply to the confirmation of the tuned values, which is a
        // separate run.
        OnResume::Bound => plan.kind != RunKind::Tune,
        _ => true,
    };
    given.retain(|flag| is_checked(flag));
    if given.is_empty() {
        return Ok(());
    }
    let other = |before: &str, now: &str, hint: &str| {
        let reason = format!("run '{name}' was started with {before}, not {now}\nhint: {hint}");
        Err(Failure::invalid(reason))
    };
    let hint = "remove the flag, or start another run with --name";
    let has = |class| given.iter().any(|flag| on_resume(flag) == class);
    let names_engines = ["engine", "eval", "dev", "base"].iter().any(|flag| given.contains(*flag));
    if !names_engines {
        requested.request.engines.clear();
    }
    // With --resume-or-start, the command line may also start the run, so it names all engines.
    let is_whole = requested.flags.resume_or_start && names_engines;
    requested.request = filled(std::mem::take(&mut requested.request), plan, is_whole);
    requested.flags.name = None;
    let mut wanted = resolve_plan(requested)?;
    let mut stored = plan.clone();
    for (wanted, stored) in wanted.engines.iter_mut().zip(&mut stored.engines) {
        // The protocol may have been detected when the run started, without a flag that selects it.
        wanted.launch.protocol = stored.launch.protocol;
        // The order of options does not matter.
        wanted.options.sort();
        stored.options.sort();
    }
    let matters = |flag: &str| match on_resume(flag) {
        OnResume::Free => false,
        OnResume::Bound => given.contains(flag) || given.contains("sprt"),
        OnResume::Length if flag == "pairs" && given.contains("games") => true,
        class @ (OnResume::Engines | OnResume::Parameters) => has(class),
        OnResume::Length | OnResume::Fixed | OnResume::Written => given.contains(flag),
    };
    if let Some([before, now]) = difference(&stored, &wanted, matters) {
        let longer = more_pairs(&stored, &wanted).filter(|_| before.starts_with("--pairs "));
        return other(&before, &now, longer.as_deref().unwrap_or(hint));
    }
    let written = |plan: &Plan| (plan.annotation.clone(), plan.epd.clone(), plan.transcripts);
    if has(OnResume::Written) && written(plan) != written(&wanted) {
        other("other settings for the records of games", "these", hint)
    } else {
        Ok(())
    }
}

/// Returns the hint for a longer match: the additional pairs can be played as another run with
/// other openings.
fn more_pairs(stored: &Plan, wanted: &Plan) -> Option<String> {
    let more = wanted.design.pairs.checked_sub(stored.design.pairs).filter(|more| *more > 0)?;
    let is_match =
        stored.kind == RunKind::Match && stored.engines.len() == 2 && stored.design.rounds == 1;
    let next = stored.opening_start + stored.design.pairs + 1;
    is_match.then(|| {
        format!(
            "the number of pairs cannot change; play {more} more pairs as another run, with the \
             next openings: --name NAME --pairs {more} --seed {} --openings start={next}",
            stored.seed
        )
    })
}

/// Returns the error for a run that workers have played, if no flag selects workers or this machine
/// for the resumed run.
fn played_by_workers(run: &str, kind: RunKind, results: &Path) -> Failure {
    let again = resume_command(run, kind, results);
    Failure::invalid(format!(
        "workers have played pairs of run '{run}'\nhint: to let workers continue: {again} --on \
         FILE|URL; to continue on this machine: {again} --concurrency N"
    ))
}

/// Compares a games file with the stored games, and appends missing games.
fn reconcile(
    file: &mut GamesFile,
    store: &Store,
    run: &str,
    state: &RunState,
    has_workers: bool,
) -> Result<(), Failure> {
    // If a worker is excluded, its pairs are removed from the file, which requires the start offset
    // of each pair. The start offsets of skipped pairs are unknown, so no pair is skipped if
    // workers play.
    let written = if has_workers { None } else { store.last_note(run, &file.path)? };
    let counted = state.counted_pairs().count() as u64;
    let written = written.filter(|written| written.pairs <= counted);
    let skipped = written.map_or(Ok(0), |written| file.skip(&written))?;
    let later = state.counted_pairs().skip(usize::try_from(skipped).unwrap_or(usize::MAX));
    let pairs = later.map(|pair| {
        let missing = || Failure::environment(format!("pair {pair} of run '{run}' is missing"));
        store.pair(run, pair)?.ok_or_else(missing)
    });
    let were_taken_back = store.excluded_workers(run)?.iter().any(|excluded| excluded.pairs > 0);
    file.reconcile(pairs, were_taken_back)?;
    // A failure is harmless: without the stored prefix, the next comparison takes longer, because
    // it renders all games.
    let _ = file.written_prefix().map(|written| store.note_written(run, &written));
    Ok(())
}

/// Returns the state of a run after its stored pairs. Fails if the iterations of a tuning run
/// differ from the stored iterations. Iterations that are missing from the store, because the
/// process was killed, are stored.
pub(crate) fn replay_stored(store: &Store, run: &str, plan: &Plan) -> Result<RunState, Failure> {
    let stored = store.iterations(run)?;
    let mut iterations = Vec::new();
    let state = replayed_state(store, run, plan, |effect| {
        if let Effect::Iterated(iteration) = effect {
            iterations.push(iteration);
        }
    })?;
    for (iteration, stored) in iterations.iter().zip(&stored) {
        // The tolerance covers rounding errors.
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-9 * a.abs().max(1.0);
        let is_same = iteration.number == stored.number
            && iteration.score == stored.score
            && iteration.theta.iter().zip(&stored.theta).all(is_near);
        if !is_same {
            let number = iteration.number + 1;
            return Err(Failure::environment(format!(
                "run '{run}': stored iteration {number} differs from the one computed from its \
                 pairs\nhint: resume the run with the version that started it"
            )));
        }
    }
    for iteration in iterations.iter().skip(stored.len()) {
        store.append_iteration(run, iteration)?;
    }
    Ok(state)
}
