//! Stored runs as reports need them: the events of a run applied again, and what only the store
//! knows.

use std::collections::BTreeMap;

use arbiter_openings::Order;
use arbiter_openings::Quarantine;
use arbiter_plan::command::command;
use arbiter_plan::gate::Outcome;
use arbiter_plan::plan::Plan;
use arbiter_plan::provenance::Provenance;
use arbiter_plan::run::counts::PairTally;
use arbiter_plan::run::event::Ending;
use arbiter_plan::run::noise::Disturbances;
use arbiter_plan::run::state::{Effect, Event, RunState};
use arbiter_store::{Fingerprints, Store, StoreError, StoredGate, StoredRun};

use crate::document::{self, Document, Origin};
use crate::gates::Past;
use crate::statistics::GameStatistics;
use crate::summary::Summary;
use crate::table::Table;

/// What became of steps of `arbiter ci`.
pub fn history_table(gates: &[StoredGate]) -> Table {
    crate::gates::history(&past(gates))
}

/// The steps, as the table of them takes them.
pub fn past(gates: &[StoredGate]) -> Vec<Past<'_>> {
    gates
        .iter()
        .map(|gate| Past {
            started: time(gate.created_ms),
            test: &gate.test,
            base: gate.base.as_deref(),
            outcome: &gate.outcome,
        })
        .collect()
}

/// All there is to say of a run; of its games only with a statistics of them.
pub fn document(
    stored: &StoredRun,
    summary: &Summary,
    statistics: Option<&GameStatistics>,
    gates: &[Outcome],
) -> Document {
    let started = Some(time(stored.head.created_ms));
    let origin = origin(&stored.plan, &stored.version, started, &stored.fingerprints, gates);
    document::of_run(summary, &origin, statistics)
}

/// Where a run comes from.
pub fn origin<'a>(
    plan: &'a Plan,
    version: &'a str,
    started: Option<String>,
    fingerprints: &'a Fingerprints,
    gates: &'a [Outcome],
) -> Origin<'a> {
    Origin {
        plan,
        version,
        started,
        host: fingerprints.host.as_deref(),
        book_hash: &fingerprints.book,
        engine_hashes: &fingerprints.engines,
        openings: match plan.order {
            Order::Random => "in random order".to_owned(),
            Order::Sequential => "in the order of the book".to_owned(),
        },
        adjudication: plan.rules.words(),
        command: command(plan),
        gates,
    }
}

/// What became of the gates of the commits that play, each as it was carried out last.
pub fn gates_of(store: &Store, stored: &StoredRun) -> Result<Vec<Outcome>, StoreError> {
    let commits: Vec<String> = stored
        .plan
        .engines
        .iter()
        .filter_map(|engine| engine.provenance.as_ref())
        .map(Provenance::identity)
        .collect();
    if commits.is_empty() {
        return Ok(Vec::new());
    }
    let mut latest: BTreeMap<(usize, String), Outcome> = BTreeMap::new();
    for gate in store.gates(None)? {
        if let Some(engine) = commits.iter().position(|commit| *commit == gate.test) {
            let step = gate.outcome.step.clone();
            latest.insert((engine, step), gate.outcome);
        }
    }
    Ok(latest.into_values().collect())
}

/// The summary of a stored run, from the same events that made it.
pub fn stored_summary(store: &Store, stored: &StoredRun) -> Result<Summary, StoreError> {
    let state = replayed(store, &stored.head.run, &stored.plan)?;
    summary_of(store, stored, &state)
}

/// The summary of a stored run in the state that its pairs led to.
pub fn summary_of(
    store: &Store,
    stored: &StoredRun,
    state: &RunState,
) -> Result<Summary, StoreError> {
    let (run, plan) = (stored.head.run.as_str(), &stored.plan);
    let ending = state.ending().or(stored.head.ending);
    let left_out = &stored.fingerprints.quarantine;
    let disturbances = store.disturbances(run)?;
    let summary = summary(run, plan, left_out, disturbances, state, ending);
    with_stored(store, plan, summary)
}

/// The same with what only the store knows: what the run is about, who was excluded, and how promptly
/// engines answered; not in a run that no clock bounds, as the report of the same games is to be the same.
pub fn with_stored(store: &Store, plan: &Plan, summary: Summary) -> Result<Summary, StoreError> {
    let about = store.run(&summary.run)?.head.about;
    let excluded = store.excluded_workers(&summary.run)?;
    let latencies = match plan.is_timed() {
        true => store.latencies(&summary.run)?,
        false => summary.latencies,
    };
    Ok(Summary { about, excluded, latencies, ..summary })
}

/// What there is to say of a run.
pub fn summary(
    run: &str,
    plan: &Plan,
    quarantine: &Quarantine,
    disturbances: Disturbances,
    state: &RunState,
    ending: Option<Ending>,
) -> Summary {
    let (counts, sprt_statuses) = (state.counts(), state.sprt_statuses());
    let summary = Summary::new(run, plan, counts, sprt_statuses, ending, state.schedule());
    let spsa = state.spsa().cloned();
    Summary { quarantine: quarantine.clone(), disturbances, spsa, ..summary }
}

/// The state of a run after the pairs that are on disk.
pub fn replayed(store: &Store, run: &str, plan: &Plan) -> Result<RunState, StoreError> {
    watched(store, run, plan, |_| ())
}

/// The same, with what followed from each pair.
pub fn watched(
    store: &Store,
    run: &str,
    plan: &Plan,
    observe: impl FnMut(Effect),
) -> Result<RunState, StoreError> {
    let mut state = RunState::of(plan);
    apply(store, run, &mut state, &store.tallies(run)?, observe)?;
    Ok(state)
}

/// Counts pairs that are on disk.
pub fn apply(
    store: &Store,
    run: &str,
    state: &mut RunState,
    tallies: &[PairTally],
    mut observe: impl FnMut(Effect),
) -> Result<(), StoreError> {
    for tally in tallies {
        state.apply(Event::Committed(*tally)).into_iter().for_each(&mut observe);
    }
    // A pair was started because the schedule knew it from the pairs counted by then, and those
    // are on disk; so the schedule must know it again.
    let is_known = |tally: &&PairTally| {
        let pairing = state.schedule().pairing(tally.pair);
        pairing.is_some_and(|pairing| pairing.engines == tally.engines)
    };
    match tallies.iter().find(|tally| !is_known(tally)) {
        Some(tally) => Err(store.misfit(run, tally.pair)),
        None => Ok(()),
    }
}

/// A time of the store in UTC, as RFC 3339 has it.
pub fn time(unix_ms: i64) -> String {
    time_as(unix_ms, "%Y-%m-%dT%H:%M:%SZ")
}

/// The same in a form of `strftime`.
pub fn time_as(unix_ms: i64, form: &str) -> String {
    chrono::DateTime::from_timestamp_millis(unix_ms).unwrap_or_default().format(form).to_string()
}
