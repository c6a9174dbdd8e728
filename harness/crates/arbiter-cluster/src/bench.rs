//! The benchmark of an engine, run the same way by coordinators and workers.

use std::time::Duration;

use super::wire::BenchResult;
use arbiter_build::{BenchRecipe, BenchTarget, run_bench};
use arbiter_game::engine::EngineSetup;
use arbiter_process::Cancel;
use arbiter_process::Spawner;

/// How long a benchmark may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Stops the benchmark when nobody waits for it any more.
struct StopsWithUs(Cancel);

impl Drop for StopsWithUs {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Runs `PROGRAM ARGS bench` in so many copies at once; an error says why that is no benchmark.
pub async fn measure(seat: &EngineSetup, copies: usize) -> Result<BenchResult, String> {
    let guard = StopsWithUs(Cancel::default());
    let (cancel, seat) = (guard.0.clone(), seat.clone());
    let work = move || -> Result<BenchResult, String> {
        let recipe = BenchRecipe { timeout: Some(LIMIT), ..BenchRecipe::default() };
        let spawner = Spawner::start().map_err(|error| error.to_string())?;
        let target = BenchTarget {
            name: &seat.name,
            program: seat.launch.program.clone(),
            args: &seat.launch.args,
            recipe: &recipe,
            bounds: seat.launch.bounds,
        };
        let found =
            run_bench(&target, copies, &spawner, &cancel).map_err(|error| error.to_string())?;
        Ok(BenchResult { nodes: found.nodes, nps: found.nps })
    };
    let done = tokio::task::spawn_blocking(work).await;
    drop(guard);
    done.map_err(|error| error.to_string())?
}
