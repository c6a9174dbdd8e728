//! Resumption of stored runs.

use std::path::{Path, PathBuf};

use super::messages::resume_command;
use super::preflight::check_engines;
use super::start::load_inputs;
use super::{ReadyRun, files, same_flags};
use crate::failure::Failure;
use crate::games_file::{Content, GamesFile};
use crate::requested_run::RequestedRun;
use arbiter_plan::{Plan, RunKind};
use arbiter_report::{PgnHeader, replayed_state};
use arbiter_run::{Effect, Observer, PlayedPair, RunState};
use arbiter_runner::check_unchanged;
use arbiter_store::{RunLock, Store};

/// Reads, locks and checks a stored run, so that it can be continued.
pub(super) fn resume_run(
    kind: RunKind,
    run: &str,
    mut requested: RequestedRun,
    has_workers: bool,
) -> Result<ReadyRun, Failure> {
    let (results, style) = (requested.results.clone(), requested.compat.clone());
    let store = Store::open(&results)?;
    let name = store.named(run)?;
    // The lock is taken before the run is read, because a process that holds the lock may change
    // the run.
    let lock = RunLock::take(&results, &name)?;
    let stored = store.run(&name)?;
    let mut plan = stored.plan.clone();
    if plan.kind != kind {
        return Err(Failure::invalid(format!(
            "run '{name}' is of another kind\nhint: resume the run with the subcommand that \
             started the run"
        )));
    }
    requested.flags.build.restore(&plan)?;
    let settings_files = std::mem::take(&mut requested.settings_files);
    let wanted = requested.concurrency;
    let affinity = requested.affinity.take();
    let other_pgn = requested.pgn.take();
    same_flags::check(kind, &name, &plan, requested)?;
    let other_pgn = other_pgn.map(|path| std::path::absolute(&path).unwrap_or(path));
    let other_pgn = other_pgn.filter(|path| Some(path) != plan.pgn.as_ref());
    let pgn = other_pgn.clone().or_else(|| plan.pgn.clone());
    let written = Plan { pgn, ..plan.clone() };
    files::check(&written, &settings_files, style.as_ref(), &results, Some(&name))?;
    let state = replay_stored(&store, &name, &plan)?;
    store.check_games(&name)?;
    let concurrency = wanted.unwrap_or(plan.concurrency);
    let affinity = affinity.unwrap_or_else(|| plan.affinity.clone());
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
    Ok(ReadyRun { name, plan, inputs, store, files, state, results, _lock: lock })
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
    let pairs = later.map(|pair| counted_pair(store, run, pair));
    let were_taken_back = store.excluded_workers(run)?.iter().any(|excluded| excluded.pairs > 0);
    file.reconcile(pairs, were_taken_back)?;
    // A failure is harmless: without the stored prefix, the next comparison takes longer, because
    // it renders all games.
    let _ = file.written_prefix().map(|written| store.note_written(run, &written));
    Ok(())
}

fn counted_pair(store: &Store, run: &str, pair: u64) -> Result<PlayedPair, Failure> {
    let missing = || Failure::environment(format!("pair {pair} of run '{run}' is missing"));
    store.pair(run, pair)?.ok_or_else(missing)
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
