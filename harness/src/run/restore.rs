//! The state of a stored run.

use crate::failure::Failure;
use arbiter_plan::Plan;
use arbiter_report::replayed_state;
use arbiter_run::{Effect, RunState};
use arbiter_store::Store;

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
