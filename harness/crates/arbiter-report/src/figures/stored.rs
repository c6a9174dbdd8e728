//! Stored runs for reports: the state after the stored pairs, and data that only the store
//! contains.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::summary::Summary;
use arbiter_names::shown;
use arbiter_plan::{GateOutcome, Plan, Provenance};
use arbiter_run::{Effect, PairTally, RunEnd, RunInput, RunState};
use arbiter_store::{Store, StoreError, StoredRun};

/// Returns the latest outcome of each gate for the commits from which the run's engines were built.
/// Outcomes of this store take precedence over outcomes that were imported with the run.
pub fn gates_of_run(store: &Store, stored: &StoredRun) -> Result<Vec<GateOutcome>, StoreError> {
    let builds = stored.plan.engines.iter().filter_map(|engine| engine.provenance.as_ref());
    let commits: Vec<String> = builds.map(Provenance::identity).collect();
    // Live pages would otherwise read all gates with each version of a report.
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let mut latest = BTreeMap::new();
    for gate in store.gates_for_run(&stored.head.run)? {
        if let Some(engine) = commits.iter().position(|commit| *commit == gate.test) {
            latest.insert((engine, gate.outcome.gate.clone()), gate.outcome);
        }
    }
    Ok(latest.into_values().collect())
}

/// Returns a stored run for display. Engine names from earlier versions can contain characters that
/// terminals or browsers interpret; these characters are escaped.
pub fn shown_run(store: &Store, run: &str) -> Result<StoredRun, StoreError> {
    let mut stored = store.run(run)?;
    for engine in &mut stored.plan.engines {
        engine.name = shown(std::mem::take(&mut engine.name));
    }
    Ok(stored)
}

/// Reads one run of a list and converts a panic into an error, so that the remaining runs can still
/// be displayed. A run that was stored by another version or edited by hand may violate an
/// invariant and cause a panic.
pub fn read_one<T>(read: impl FnOnce() -> Result<T, StoreError>) -> Result<T, String> {
    let done = catch_unwind(AssertUnwindSafe(read)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| panic.downcast_ref().copied()).unwrap_or("an internal error").to_owned()
    });
    done?.map_err(|error| error.to_string())
}

/// Returns the summary of a stored run, computed from the run's stored pairs.
pub fn stored_summary(store: &Store, stored: &StoredRun) -> Result<Summary, StoreError> {
    let state = replayed_state(store, &stored.head.run, &stored.plan, |_| ())?;
    summary_of(store, stored, &state)
}

/// Reads a stored run in the same way as for a report. Fails if the stored ending does not follow
/// from the stored pairs.
pub fn check_stored(store: &Store, run: &str) -> Result<(), StoreError> {
    let stored = store.run(run)?;
    let found = stored_summary(store, &stored)?.ending;
    match stored.head.ending {
        None | Some(RunEnd::Interrupted) => Ok(()),
        ending if ending == found => Ok(()),
        _ => Err(store.ending_mismatch(run)),
    }
}

/// Returns the summary of a stored run; `state` is the state after the run's stored pairs.
pub fn summary_of(
    store: &Store,
    stored: &StoredRun,
    state: &RunState,
) -> Result<Summary, StoreError> {
    let StoredRun { plan, head, .. } = stored;
    let run = head.run.as_str();
    // Only an interruption does not follow from the pairs.
    let interrupted = head.ending.filter(|ending| *ending == RunEnd::Interrupted);
    let summary = Summary::new(run, plan, state, state.ending().or(interrupted));
    Ok(Summary {
        created_ms: head.created_ms,
        about: head.about.clone(),
        quarantine: stored.fingerprints.quarantine.clone(),
        corrected: stored.fingerprints.corrected.clone(),
        disturbances: store.disturbances(run)?,
        excluded: store.excluded_workers(run)?,
        remarks: store.remarks(run)?,
        // If an untimed run is repeated, the games and the report must be identical. Latencies
        // would differ, so the report omits latencies.
        latencies: if plan.is_timed() { store.latencies(run)? } else { summary.latencies },
        lint: store.lint(run)?,
        ..summary
    })
}

/// Returns the state of a run after its stored pairs, and calls `observe` with each effect of
/// counting a pair.
pub fn replayed_state(
    store: &Store,
    run: &str,
    plan: &Plan,
    observe: impl FnMut(Effect),
) -> Result<RunState, StoreError> {
    let mut state = RunState::of(plan);
    apply_tallies(store, run, &mut state, &store.tallies(run)?, observe)?;
    Ok(state)
}

/// Counts the stored pairs `tallies` in `state`, and calls `observe` with each effect. Fails if a
/// pair does not belong to the schedule.
pub fn apply_tallies(
    store: &Store,
    run: &str,
    state: &mut RunState,
    tallies: &[PairTally],
    mut observe: impl FnMut(Effect),
) -> Result<(), StoreError> {
    // The postponed pairs must be read after `tallies`. A pair that is postponed between the two
    // reads is then not in `tallies`.
    if state.is_fixed() {
        for pair in store.postponed_pairs(run)? {
            state.apply(RunInput::PutOff(pair)).into_iter().for_each(&mut observe);
        }
    }
    for tally in tallies {
        state.apply(RunInput::Committed(*tally)).into_iter().for_each(&mut observe);
    }
    // A pair starts only when all pairs that determine the place of the pair in the schedule have
    // been stored. If the schedule does not contain a stored pair, the store is damaged.
    for tally in tallies {
        let pairing = state.schedule().pairing(tally.pair);
        if pairing.is_none_or(|pairing| pairing.engines != tally.engines) {
            return Err(store.schedule_mismatch(run, tally.pair));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_one_run_are_reported() {
        assert_eq!(read_one(|| Ok(1)), Ok(1));
        assert_eq!(read_one::<()>(|| panic!("two engines")), Err("two engines".to_owned()));
        assert_eq!(read_one::<()>(|| panic!("{} engines", 3)), Err("3 engines".to_owned()));
        let missing = read_one::<()>(|| Err(StoreError::Missing("x.db".into())));
        assert!(missing.is_err_and(|why| why.contains("x.db")));
    }
}
