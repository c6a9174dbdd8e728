//! Simulated worker, which returns results immediately, without engines.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arbiter_cluster::wire::{
    self, Beacon, CoordinatorMessage, Heartbeat, Job, JobResult, JoinRequest, Notice,
    RunDescription, Work, WorkerStatus,
};
use arbiter_cluster::{
    ALL_COORDINATOR_MESSAGES, BEACONS, Connection, JOB_CONSUMER, PublicKey, Token, proof,
    worker_status,
};
use arbiter_game::driver::{GameSetup, referee};
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::GameRecord;
use arbiter_game::referee::Reply;
use arbiter_protocol::{Info, Score};
use arbiter_run::{Games, PairJob, PlayedPair};
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt;
use shakmaty::{ByColor, Position};

/// Maximum number of plies of a game after its opening.
const PLIES: usize = 100;

/// Interval at which a worker sends its status.
const STATUS_INTERVAL: Duration = Duration::from_secs(3);

/// Maximum time for which a request for a job waits.
const TAKE: Duration = Duration::from_secs(2);

/// Observations that all simulated workers share.
#[derive(Default)]
pub struct Fleet {
    /// Number of pairs whose results were sent to the server. Each slot waits for the reply of the
    /// server before it takes the next job, so there are never more results in flight than slots.
    pub played: AtomicU64,
    /// Time at which each worker received the first cancellation of the run.
    cancelled: Mutex<Vec<Instant>>,
}

impl Fleet {
    /// Returns the latest time at which a worker received its first cancellation of the run; `None`
    /// if no worker has received a cancellation.
    pub fn last_cancelled(&self) -> Option<Instant> {
        self.cancelled.lock().expect("nobody panics").iter().max().copied()
    }
}

/// Joins the first run that a beacon announces, and plays for this run in `slots` slots.
pub async fn work(
    fleet: Arc<Fleet>,
    connection: Connection,
    name: String,
    slots: usize,
    trust: PublicKey,
) {
    let mut beacons = connection.subscribe(BEACONS).await.expect("it may listen");
    let mut messages = connection.subscribe(ALL_COORDINATOR_MESSAGES).await.expect("it may listen");
    send_status(&connection, &name, slots).await;
    let beacon = loop {
        let message = beacons.next().await.expect("the server goes on");
        if let Ok(beacon) = wire::unverified::<Beacon>(&message.payload) {
            break beacon;
        }
    };
    let run_id = beacon.run_id;
    let (description, key) = loop {
        // The request is repeated, because the coordinator does not listen immediately after its
        // start.
        if let Ok(answer) = connection.client.request(run_id.description_subject(), "".into()).await
        {
            break wire::verified::<RunDescription>(&answer.payload, &[trust])
                .expect("it is signed");
        }
    };
    let nonce = Token::from_bytes([0; 32]);
    let join = wire::write(&JoinRequest { nonce, benches: Vec::new() });
    let answer = connection.client.request(run_id.join_subject(&name), join.into()).await;
    let answer = answer.expect("the coordinator answers").payload;
    let (token, _) = wire::read_join_answer(&answer, nonce, key).expect("whoever asks may play");
    let description = Arc::new(description);
    send_status(&connection, &name, slots).await;
    for _ in 0..slots {
        let jobs: PullConsumer = connection
            .jetstream
            .get_consumer_from_stream(JOB_CONSUMER, run_id.job_stream())
            .await
            .expect("the run has jobs");
        let slot = Slot {
            fleet: fleet.clone(),
            connection: connection.clone(),
            description: description.clone(),
            key,
            token,
            name: name.clone(),
        };
        tokio::spawn(slot.play(jobs));
    }
    let mut status_timer = tokio::time::interval(STATUS_INTERVAL);
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            _ = status_timer.tick() => send_status(&connection, &name, slots).await,
            message = messages.next() => match message
                .and_then(|message| wire::unverified::<CoordinatorMessage>(&message.payload).ok())
                .map(|message| message.notice)
            {
                Some(Notice::Cancel) if !std::mem::replace(&mut is_cancelled, true) => {
                    fleet.cancelled.lock().expect("nobody panics").push(Instant::now());
                }
                _ => {}
            },
        }
    }
}

async fn send_status(connection: &Connection, name: &str, slots: usize) {
    let slots = u32::try_from(slots).expect("few slots");
    let status = WorkerStatus {
        version: "bench".to_owned(),
        slots,
        playing: slots,
        cores: slots,
        memory_mib: 1,
        ..WorkerStatus::default()
    };
    let _ = connection.client.publish(worker_status(name), wire::write(&status).into()).await;
}

/// Slot of a simulated worker.
struct Slot {
    fleet: Arc<Fleet>,
    connection: Connection,
    description: Arc<RunDescription>,
    key: PublicKey,
    token: Token,
    name: String,
}

impl Slot {
    /// Takes jobs one after another, and sends a result for each.
    async fn play(self, jobs: PullConsumer) {
        loop {
            let fetched = jobs.fetch().max_messages(1).expires(TAKE).messages().await;
            let Ok(mut batch) = fetched else { return };
            let Some(Ok(message)) = batch.next().await else { continue };
            let job = wire::read_job(&message.payload, &self.description, self.key);
            let Job { attempt, nonce, work, .. } = job.expect("jobs can be read");
            let Work::Pair(job) = work else { panic!("the run has no questions") };
            let (pair, proof) = (job.pairing.pair, proof(&self.token, &nonce));
            for half in [None, Some(0), Some(1)] {
                let heartbeat =
                    wire::write(&Heartbeat { pair, attempt, proof, half, is_given_back: false });
                let subject = self.description.run_id.heartbeat_subject(&self.name);
                let _ = self.connection.client.publish(subject, heartbeat.into()).await;
            }
            let result = JobResult {
                run_id: self.description.run_id.clone(),
                number: job.pairing.pair,
                attempt,
                report: Ok(possible_result(&job)),
            };
            let bytes = wire::write_result(result, &proof, self.connection.max_payload());
            let id = blake3::hash(&bytes).to_string();
            let result = PublishMessage::build().payload(bytes.into()).message_id(&id);
            let subject = self.description.run_id.result_subject(job.pairing.pair, &self.name);
            match self.connection.jetstream.send_publish(subject, result).await {
                Ok(sent) => {
                    drop(sent.await);
                    self.fleet.played.fetch_add(1, Ordering::Relaxed);
                }
                Err(_) => return,
            }
        }
    }
}

/// Returns a valid result of a job, with random games.
fn possible_result(job: &PairJob) -> PlayedPair {
    let mut random = job.pairing.pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let first = game(&job.games.first, &mut random);
    let second = job.games.second.as_ref().map(|setup| game(setup, &mut random));
    PlayedPair { pairing: job.pairing, games: Games { first, second } }
}

/// Plays random moves until the game ends. After [`PLIES`] plies, the side to move resigns.
fn game(setup: &GameSetup, random: &mut u64) -> GameRecord {
    let mut position = setup.start.clone();
    for uci in &setup.book {
        position.play_unchecked(uci.to_move(&position).expect("openings are legal"));
    }
    let mut referee = referee(setup);
    for _ in 0..PLIES {
        if referee.outcome().is_some() {
            break;
        }
        // Xorshift (G. Marsaglia, 2003).
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        let number = *random >> 1;
        let legal = position.legal_moves();
        let chosen = legal[number as usize % legal.len()];
        // The numbers vary as in real searches, so that results have a realistic size.
        let info = Info {
            score: Some(Score::Centipawns((number >> 8) as i32 % 700)),
            depth: Some(8 + (number >> 20) as u32 % 12),
            seldepth: Some(30),
            nodes: Some(200_000 + (number >> 30) % 400_000),
            time: Some(Duration::from_millis(50 + (number >> 44) % 90)),
            ..Info::default()
        };
        let elapsed = Duration::from_micros(50_000 + (number >> 40) % 90_000);
        referee.judge(Reply::Move { text: chosen.to_uci(setup.mode).to_string(), elapsed, info });
        position.play_unchecked(chosen);
    }
    let given_up = || Outcome::lost(position.turn(), Termination::Resignation, "resigned");
    GameRecord {
        engines: setup.engines,
        fen: setup.fen.clone(),
        chess960: false,
        outcome: referee.outcome().cloned().unwrap_or_else(given_up),
        moves: referee.into_moves(),
        duration: Duration::from_secs(9),
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: None,
        waited: ByColor::default(),
        begun_ms: None,
        transcript: None,
    }
}
