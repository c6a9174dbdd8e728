//! What a worker and a run agree on before the first pair: what is played, with which programs.

use std::time::Duration;

use async_nats::Request;
use async_nats::jetstream::consumer::PullConsumer;
use tokio::time::sleep;

use super::Shared;
use crate::bench;
use crate::subject::{JOB_CONSUMER, Names};
use crate::wire::{self, BenchResult, JoinRequest, RunDescription};
use arbiter_game::outcome::printable;
use arbiter_game::player::Seat;
use arbiter_runner::seats::introduce;

/// Pause before a coordinator or server that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// How often they are asked before the run is left alone.
const TRIALS: u32 = 30;

/// The benchmark of each engine that was asked for one; an error says why there is none.
type Benches = Vec<Option<Result<BenchResult, String>>>;

/// What is agreed.
#[derive(Debug)]
pub(super) struct Contract {
    /// What all jobs have in common.
    pub(super) description: RunDescription,
    /// Slots that a game of it takes.
    pub(super) slots: u32,
    /// How its engines are started here.
    pub(super) seats: Vec<Seat>,
    /// Where its jobs are taken.
    pub(super) jobs: PullConsumer,
    /// What its subjects are called.
    pub(super) names: Names,
}

impl Contract {
    /// Fetches the description and the programs, and tries the engines out. The error says why the
    /// run is not played here.
    pub(super) async fn agree(shared: &Shared, token: &str) -> Result<Contract, String> {
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
            let program = shared.library.find(&shared.link, &names, &contestant.program).await;
            seat.launch.program =
                program.map_err(|error| format!("engine '{}': {error}", seat.name))?;
            seat.launch.bounds = seat.launch.bounds.and(shared.config.bounds);
            seats.push(seat);
        }
        for seat in &seats {
            // A program that does not start here, for want of a library, would lose all its games.
            introduce(seat).await.map_err(|error| error.to_string())?;
        }
        // As many copies as there will be games, if it is for speed.
        let copies =
            description.reference_nps.map_or(1, |_| shared.config.slots / slots.max(1) as usize);
        let benches = benches(&description, &seats, copies).await;
        for (contestant, bench) in description.contestants.iter().zip(&benches) {
            if let Some(Ok(BenchResult { nps, .. })) = bench {
                shared.board().bench(&contestant.seat.name, *nps);
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
        Ok(Contract { description, slots, seats, jobs, names })
    }
}

async fn fetch_description(shared: &Shared, names: &Names) -> Result<RunDescription, String> {
    let answer = ask(shared, names.description(), Vec::new()).await?;
    wire::verified(&answer, &shared.config.trusted)
}

/// What the benchmarks find here of engines that are to be compared.
async fn benches(description: &RunDescription, seats: &[Seat], copies: usize) -> Benches {
    let mut benches = Vec::new();
    for (contestant, seat) in description.contestants.iter().zip(seats) {
        benches.push(match contestant.is_benched {
            true => Some(bench::measure(seat, copies).await),
            false => None,
        });
    }
    benches
}

/// Says what the engines are like here, and asks whether that will do.
async fn join(shared: &Shared, names: &Names, benches: Benches) -> Result<(), String> {
    let join = JoinRequest { worker: shared.config.name.clone(), benches };
    let answer = ask(shared, names.join(&join.worker), join.write()).await?;
    if answer.is_empty() {
        return Ok(());
    }
    Err(printable(&String::from_utf8_lossy(&answer), 300))
}

/// What the coordinator answers.
async fn ask(shared: &Shared, subject: String, question: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut trials = 0;
    loop {
        let request = Request::new().payload(question.clone().into());
        match shared.link.client.send_request(subject.clone(), request).await {
            Ok(answer) => return Ok(answer.payload.to_vec()),
            Err(error) if trials >= TRIALS => return Err(format!("no answer: {error}")),
            Err(_) => sleep(AGAIN).await,
        }
        trials += 1;
    }
}
