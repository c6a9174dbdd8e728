//! Bench of an engine. Coordinators and workers run the bench in the same way.

use std::time::Duration;

use super::wire::BenchResult;
use arbiter_build::{BenchRecipe, BenchTarget, run_bench};
use arbiter_game::engine::EngineSetup;
use arbiter_process::{Cancel, Spawner};

/// Time limit of a bench. Without a limit, a bench that hangs would block the slot, or the start of
/// the run, forever.
const LIMIT: Duration = Duration::from_secs(120);

/// Guard that cancels a bench when the guard is dropped.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Runs `copies` copies of `PROGRAM ARGS bench` in parallel, and returns the node count and speed
/// of the copies; the error is the reason why the bench failed.
pub async fn measure(setup: &EngineSetup, copies: usize) -> Result<BenchResult, String> {
    // A blocking task cannot be aborted, so dropping the future must stop the engines.
    let guard = CancelOnDrop(Cancel::default());
    let cancel = guard.0.clone();
    let setup = setup.clone();
    let work = move || {
        let recipe = BenchRecipe { timeout: Some(LIMIT), ..BenchRecipe::default() };
        let spawner = Spawner::start().map_err(|error| error.to_string())?;
        let EngineSetup { name, launch, .. } = &setup;
        let target =
            BenchTarget { name, launch, recipe: &recipe, spawner: &spawner, cancel: &cancel };
        run_bench(&target, copies).map_err(|error| error.to_string())
    };
    tokio::task::spawn_blocking(work).await.map_err(|error| error.to_string())?
}
