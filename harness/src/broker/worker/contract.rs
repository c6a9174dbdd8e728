//! What a worker and a run agree on before the first pair: what is played, with which programs.

use std::time::Duration;

use async_nats::Request;
use async_nats::jetstream::consumer::PullConsumer;
use tokio::time::sleep;

use super::Shared;
use crate::broker::subject::{Names, TAKERS};
use crate::broker::wire::{self, Head};
use crate::game::player::Seat;
use crate::run::seats::introduce;

/// Pause before a coordinator or server that did not answer is asked again.
const AGAIN: Duration = Duration::from_secs(1);

/// How often they are asked before the run is left alone.
const TRIALS: u32 = 30;

/// What is agreed.
#[derive(Debug)]
pub(super) struct Contract {
    /// What all jobs have in common.
    pub(super) head: Head,
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
        let head = fetch_head(shared, &names).await?;
        if head.token != token {
            return Err("its description is that of another run".to_owned());
        }
        let mut seats = Vec::new();
        for contestant in &head.contestants {
            let mut seat = contestant.seat.clone();
            let program = shared.library.find(&shared.link, &names, &contestant.program).await;
            seat.launch.program =
                program.map_err(|error| format!("engine '{}': {error}", seat.name))?;
            let limits = [seat.launch.memory_bytes, shared.config.memory_bytes];
            seat.launch.memory_bytes = limits.into_iter().flatten().min();
            seats.push(seat);
        }
        for seat in &seats {
            // A program that does not start here, for want of a library, would lose all its games.
            introduce(seat).await.map_err(|error| error.to_string())?;
        }
        let jobs = shared.link.stream.get_consumer_from_stream(TAKERS, names.jobs()).await;
        let jobs = jobs.map_err(|error| format!("its jobs cannot be had: {error}"))?;
        Ok(Contract { head, seats, jobs, names })
    }
}

async fn fetch_head(shared: &Shared, names: &Names) -> Result<Head, String> {
    let mut trials = 0;
    let answer = loop {
        let asked = shared.link.client.send_request(names.head(), Request::new()).await;
        match asked {
            Ok(answer) => break answer,
            Err(error) if trials >= TRIALS => return Err(format!("no answer: {error}")),
            Err(_) => sleep(AGAIN).await,
        }
        trials += 1;
    };
    wire::verified(&answer.payload, &shared.config.trusted)
}
