//! What a worker prepares before it plays the first pair of a run: description, programs, benchmarks.

use std::time::Duration;

use async_nats::Request;
use async_nats::jetstream::consumer::PullConsumer;
use tokio::time::sleep;

use super::Shared;
use crate::bench;
use crate::subject::{JOB_CONSUMER, Names};
use crate::wire::{self, BenchResult, JoinRequest, RunDescription};
use arbiter_game::engine::EngineSetup;
use arbiter_game::outcome::printable;
use arbiter_runner::preflight::ask_engine;

/// Pause before a request without an answer is repeated.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Repetitions of a request before the run is given up.
const MAX_TRIES: u32 = 30;

/// The benchmark of each engine for which the run needs one; an error says why it failed.
type Benches = Vec<Option<Result<BenchResult, String>>>;

/// What is needed to play jobs of a run.
#[derive(Debug)]
pub(super) struct RunSetup {
    /// The run's description.
    pub(super) description: RunDescription,
    /// Slots that a game takes.
    pub(super) slots: u32,
    /// How the engines are started on this machine.
    pub(super) seats: Vec<EngineSetup>,
    /// The consumer of its jobs.
    pub(super) jobs: PullConsumer,
    /// Names of its subjects.
    pub(super) names: Names,
}

impl RunSetup {
    /// Fetches the description and the programs, starts each engine once, runs benchmarks, and asks
    /// the coordinator whether the worker may play. An error says why the run is not played here.
    pub(super) async fn make(shared: &Shared, token: &str) -> Result<RunSetup, String> {
        let names = Names::new(token);
        let mut description = fetch_description(shared, &names).await?;
        if description.token != token {
            return Err("its description is that of another run".to_owned());
        }
        let slots =
            description.needs.slots(shared.config.slots, shared.config.machine.memory_mib)?;
        let mut seats = Vec::new();
        for contestant in &description.contestants {
            let mut seat = contestant.seat.clone();
            let program = shared.programs.get(&shared.link, &names, &contestant.program).await;
            seat.launch.program =
                program.map_err(|error| format!("engine '{}': {error}", seat.name))?;
            seat.launch.bounds = seat.launch.bounds.and(shared.config.bounds);
            seats.push(seat);
        }
        for seat in &seats {
            // A program that does not start here, as a library is missing, would lose all games.
            ask_engine(seat, |_| ()).await.map_err(|error| error.to_string())?;
        }
        // If times are scaled by it, as many copies as there will be games.
        let copies =
            description.reference_nps.map_or(1, |_| shared.config.slots / slots.max(1) as usize);
        let benches = benches(&description, &seats, copies).await;
        for (contestant, bench) in description.contestants.iter().zip(&benches) {
            if let Some(Ok(BenchResult { nps, .. })) = bench {
                shared.known_runs().bench(&contestant.seat.name, *nps);
            }
        }
        let measured = benches.iter().flatten().rfind(|bench| bench.is_ok()).cloned();
        join(shared, &names, benches).await?;
        if let Some(Ok(bench)) = measured
            && let Some(factor) = description.scale_to(bench.nps)
        {
            let run = &description.run;
            shared.note(format!("times of run {run} scaled by {factor:.3} for this machine"));
        }
        let jobs = shared.link.stream.get_consumer_from_stream(JOB_CONSUMER, names.jobs()).await;
        let jobs = jobs.map_err(|error| format!("its jobs cannot be had: {error}"))?;
        Ok(RunSetup { description, slots, seats, jobs, names })
    }
}

async fn fetch_description(shared: &Shared, names: &Names) -> Result<RunDescription, String> {
    let answer = request(shared, names.description(), Vec::new()).await?;
    wire::verified(&answer, &shared.config.trusted)
}

/// Runs the benchmarks that the run needs, `copies` of each at the same time.
async fn benches(description: &RunDescription, seats: &[EngineSetup], copies: usize) -> Benches {
    let mut benches = Vec::new();
    for (contestant, seat) in description.contestants.iter().zip(seats) {
        benches.push(match contestant.is_benched {
            true => Some(bench::measure(seat, copies).await),
            false => None,
        });
    }
    benches
}

/// Sends the benchmarks and asks whether the worker may play; an error is the coordinator's reason.
async fn join(shared: &Shared, names: &Names, benches: Benches) -> Result<(), String> {
    let join = JoinRequest { worker: shared.config.name.clone(), benches };
    let answer = request(shared, names.join(&join.worker), join.write()).await?;
    if answer.is_empty() {
        return Ok(());
    }
    Err(printable(&String::from_utf8_lossy(&answer), 300))
}

/// Sends a request and returns the answer.
async fn request(shared: &Shared, subject: String, question: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut tries = 0;
    loop {
        let request = Request::new().payload(question.clone().into());
        match shared.link.client.send_request(subject.clone(), request).await {
            Ok(answer) => return Ok(answer.payload.to_vec()),
            Err(error) if tries >= MAX_TRIES => return Err(format!("no answer: {error}")),
            Err(_) => sleep(RETRY_PAUSE).await,
        }
        tries += 1;
    }
}
