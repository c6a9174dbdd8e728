//! Preparation of a worker for a run: description, programs, benches, admission.

use std::time::Duration;

use async_nats::jetstream::consumer::{PullConsumer, pull};
use async_nats::{Request, jetstream};
use serde_json::json;
use tokio::time::sleep;

use super::{Shared, program_store};
use crate::bench;
use crate::subject::{JOB_CONSUMER, RunId};
use crate::trust::{PublicKey, Token};
use crate::wire::{
    self, BenchResult, Benches, JoinRequest, RunDescription, RunEngine, RunFile, WorkerStatus,
};
use arbiter_game::annotation::Keeping;
use arbiter_game::engine::EngineSetup;
use arbiter_runner::{ask_engine, engine_setup};

/// Pause before an unanswered request is repeated. A coordinator that is being restarted does not
/// reply for a while.
const RETRY_PAUSE: Duration = Duration::from_secs(1);

/// Maximum number of retries of a request. The limit prevents a slot from waiting for a run that no
/// longer exists.
const MAX_TRIES: u32 = 30;

/// Everything that a worker needs to play jobs of a run.
#[derive(Debug)]
pub(super) struct RunSetup {
    /// Description of the run.
    pub(super) description: RunDescription,
    /// Key that has signed the description, and signs all jobs.
    pub(super) key: PublicKey,
    /// Token that the worker was given when it joined.
    pub(super) token: Token,
    /// Number of slots that a game takes.
    pub(super) slots: u32,
    /// Setups of the engines on this machine.
    pub(super) engines: Vec<EngineSetup>,
    /// Consumer of the run's jobs.
    pub(super) jobs: PullConsumer,
}

impl RunSetup {
    /// Fetches the description and the programs, starts each engine once, runs benches, and joins
    /// the run. The error is the reason why the worker does not play the run.
    pub(super) async fn make(shared: &Shared, run_id: &RunId) -> Result<RunSetup, String> {
        let answer = request(shared, run_id.description_subject(), Vec::new()).await?;
        let verified = wire::verified(&answer, &shared.config.trusted)?;
        let (mut description, key): (RunDescription, _) = verified;
        if description.run_id != *run_id {
            return Err("its description belongs to another run".to_owned());
        }
        let WorkerStatus { slots: all_slots, memory_mib, .. } = shared.config.status;
        // The requirements are checked before programs are fetched, because a machine that is too
        // small does not need the programs.
        let slots = description.requirements.slots(all_slots, memory_mib)?;
        let mut engines = Vec::new();
        for run_engine in &description.engines {
            engines.push(setup(shared, &description, run_engine).await?);
        }
        for engine in &engines {
            // A program that cannot start on this machine, for example because a library is
            // missing, would lose all its games.
            ask_engine(engine, |_| ()).await.map_err(|error| error.to_string())?;
        }
        // If times are scaled by the bench speed, the bench must run under the same load as the
        // games: with one copy for each game that the worker can play in parallel.
        let copies = description.reference_nps.map_or(1, |_| all_slots / slots.max(1)) as usize;
        let mut benches = Benches::new();
        let mut measured = None;
        for (run_engine, engine) in description.engines.iter().zip(&engines) {
            if !run_engine.is_benched {
                benches.push(None);
                continue;
            }
            let bench = bench::measure(engine, copies).await;
            if let Ok(BenchResult { nps, .. }) = bench {
                shared.known_runs().bench(&engine.name, nps);
                measured = Some(nps);
            }
            benches.push(Some(bench));
        }
        let mut nonce = [0; 32];
        // A new nonce makes recorded answers to earlier requests invalid.
        getrandom::fill(&mut nonce).map_err(|error| format!("no random numbers: {error}"))?;
        let nonce = Token::from_bytes(nonce);
        let join = wire::write(&JoinRequest { nonce, benches });
        let answer = request(shared, run_id.join_subject(&shared.config.name), join).await?;
        let (token, at) = wire::read_join_answer(&answer, nonce, key)?;
        shared.known_runs().join(run_id.clone(), key, at);
        if let Some(factor) = measured.and_then(|nps| description.scale_to(nps)) {
            let run = &description.run;
            let worker = &shared.config.name;
            log::info!(worker:%, run:%; "times of run {run} scaled by {factor:.3} for this machine");
        }
        let jobs = jobs(shared.connection.jetstream.clone(), run_id);
        Ok(RunSetup { description, key, token, slots, engines, jobs })
    }
}

/// Returns the consumer of a run's jobs, without a request to the server.
fn jobs(context: jetstream::Context, run_id: &RunId) -> PullConsumer {
    // Workers have no permission to request the consumer's description from the server, so all
    // values except the names are invented. The client uses only the names.
    let none = json!({ "consumer_seq": 0, "stream_seq": 0 });
    let info = json!({
        "stream_name": run_id.job_stream(), "name": JOB_CONSUMER, "created": "1970-01-01T00:00:00Z",
        "config": { "deliver_policy": "all", "ack_policy": "explicit", "replay_policy": "instant" },
        "delivered": none, "ack_floor": none,
        "num_ack_pending": 0, "num_redelivered": 0, "num_waiting": 0, "num_pending": 0,
    });
    let info = serde_json::from_value(info).expect("the literal has all required fields");
    PullConsumer::new(pull::Config::default(), info, context)
}

/// Returns the setup of an engine on this machine; fetches the engine's program and option files if
/// these files are missing.
async fn setup(
    shared: &Shared,
    description: &RunDescription,
    RunEngine { engine, program, option_files, .. }: &RunEngine,
) -> Result<EngineSetup, String> {
    let fetched = async |file: &RunFile| {
        let path = program_store::get(shared, &description.run_id, file).await;
        path.map_err(|error| format!("engine '{}': {}: {error}", engine.name, file.name))
    };
    let path = fetched(program).await?;
    let mut files = Vec::new();
    for file in option_files {
        files.push(fetched(file).await?);
    }
    let mut setup = EngineSetup {
        deadlines: description.deadlines,
        pattern: description.annotation.pattern.clone(),
        is_recorded: description.transcripts != Keeping::None,
        ..engine_setup(&engine.clone().with_option_files(files.iter().cloned()), &path)
    };
    setup.launch.program = path;
    setup.launch.limits = setup.launch.limits.and(shared.config.limits);
    setup.launch.sandbox.clone_from(&shared.config.sandbox);
    if let Some(sandbox) = &mut setup.launch.sandbox {
        sandbox.readable.extend(files);
    }
    Ok(setup)
}

/// Sends a request, repeatedly if necessary, and returns the reply.
async fn request(shared: &Shared, subject: String, body: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut tries = 0;
    loop {
        let request = Request::new().payload(body.clone().into());
        match shared.connection.client.send_request(subject.clone(), request).await {
            Ok(answer) => return Ok(answer.payload.to_vec()),
            Err(error) if tries >= MAX_TRIES => return Err(format!("no reply: {error}")),
            Err(_) => sleep(RETRY_PAUSE).await,
        }
        tries += 1;
    }
}
