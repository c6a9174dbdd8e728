//! The benchmark of an engine, run the same way by coordinators and workers.

use std::time::Duration;

use futures_util::future::join_all;

use super::wire::Benched;
use crate::build::bench::{BenchRecipe, Reader, Subject, once};
use crate::game::player::Seat;
use crate::process::Spawner;
use crate::process::errand::Cancel;

/// How long a benchmark may take.
const LIMIT: Duration = Duration::from_secs(120);

/// Stops the benchmark when nobody waits for it any more.
struct StopsWithUs(Cancel);

impl Drop for StopsWithUs {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// What as many copies at once as there are games find, in the mean: machines are slower in all than
/// in one.
pub async fn measure_at_once(seat: &Seat, copies: usize) -> Result<Benched, String> {
    let found = join_all((0..copies.max(1)).map(|_| measure(seat))).await;
    let found = found.into_iter().collect::<Result<Vec<Benched>, String>>()?;
    let speeds = found.iter().map(|bench| bench.nps);
    let nps = speeds.sum::<f64>() / found.len() as f64;
    // There is one at least.
    let nodes = found.first().map_or(0, |bench| bench.nodes);
    match found.iter().find(|bench| bench.nodes != nodes) {
        Some(other) => Err(format!("{nodes} nodes in one copy, {} in another", other.nodes)),
        None => Ok(Benched { nodes, nps }),
    }
}

/// Runs `PROGRAM ARGS bench`; an error says why that is no benchmark.
pub async fn measure(seat: &Seat) -> Result<Benched, String> {
    let guard = StopsWithUs(Cancel::default());
    let (cancel, seat) = (guard.0.clone(), seat.clone());
    let work = move || -> Result<Benched, String> {
        let recipe = BenchRecipe { timeout: Some(LIMIT), ..BenchRecipe::default() };
        let reader = Reader::new(None)?;
        let spawner = Spawner::start().map_err(|error| error.to_string())?;
        let subject = Subject {
            name: &seat.name,
            program: seat.launch.program.clone(),
            args: &seat.launch.args,
            recipe: &recipe,
            bounds: seat.launch.bounds,
        };
        let found =
            once(&subject, &reader, &spawner, &cancel).map_err(|error| error.to_string())?;
        Ok(Benched { nodes: found.nodes, nps: found.nps })
    };
    let done = tokio::task::spawn_blocking(work).await;
    drop(guard);
    done.map_err(|error| error.to_string())?
}
