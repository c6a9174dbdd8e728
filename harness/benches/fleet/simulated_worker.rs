//! A worker that answers at once.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arbiter_cluster::wire::{
    self, Beacon, CoordinatorMessage, Heartbeat, JobResult, Report, RunDescription, Work,
    WorkerStatus,
};
use arbiter_cluster::{
    ALL_COORDINATOR_MESSAGES, BEACONS, Connection, JOB_CONSUMER, PublicKey, worker_status,
};
use arbiter_game::driver::GameSetup;
use arbiter_game::outcome::{Outcome, Termination};
use arbiter_game::record::{GameRecord, MoveRecord, Thought};
use arbiter_plan::{Games, PairJob, PlayedPair};
use arbiter_protocol::Score;
use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt;
use shakmaty::{ByColor, Position};

/// Half-moves of a game after its opening.
const PLIES: usize = 100;

/// How often a worker sends its status.
const STATUS_INTERVAL: Duration = Duration::from_secs(3);

/// How long a request for a job waits for one.
const TAKE: Duration = Duration::from_secs(2);

/// What all workers have seen.
#[derive(Default)]
pub struct Fleet {
    /// Pairs that the coordinator has on its disk.
    pub stored: AtomicU64,
    cancelled: Mutex<Vec<Instant>>,
}

impl Fleet {
    /// When the last worker heard that the run is given up, of those that did so the first time.
    pub fn last_cancelled(&self) -> Option<Instant> {
        self.cancelled.lock().expect("nobody panics").iter().max().copied()
    }
}

/// Plays for the first run that there is.
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
        if let Ok(beacon) = wire::read::<Beacon>(&message.payload) {
            break beacon;
        }
    };
    let run_id = beacon.run_id;
    let description = loop {
        // The coordinator may not listen yet.
        if let Ok(answer) = connection.client.request(run_id.description_subject(), "".into()).await
        {
            break wire::verified(&answer.payload, &[trust]).expect("it is signed");
        }
    };
    let description = Arc::new(description);
    send_status(&connection, &name, slots).await;
    for _ in 0..slots {
        let jobs: PullConsumer = connection
            .jetstream
            .get_consumer_from_stream(JOB_CONSUMER, run_id.job_stream())
            .await
            .expect("the run has jobs");
        let slot = Slot {
            connection: connection.clone(),
            description: description.clone(),
            name: name.clone(),
        };
        tokio::spawn(slot.play(jobs));
    }
    let is_first = name == "w0";
    let mut status_timer = tokio::time::interval(STATUS_INTERVAL);
    let mut is_cancelled = false;
    loop {
        tokio::select! {
            _ = status_timer.tick() => send_status(&connection, &name, slots).await,
            message = messages.next() => match message.and_then(|message| wire::read(&message.payload).ok()) {
                Some(CoordinatorMessage::Stored(_)) if is_first => {
                    fleet.stored.fetch_add(1, Ordering::Relaxed);
                }
                Some(CoordinatorMessage::Cancel) if !std::mem::replace(&mut is_cancelled, true) => {
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

struct Slot {
    connection: Connection,
    description: Arc<RunDescription>,
    name: String,
}

impl Slot {
    /// Answers one job after another.
    async fn play(self, jobs: PullConsumer) {
        loop {
            let fetched = jobs.fetch().max_messages(1).expires(TAKE).messages().await;
            let Ok(mut batch) = fetched else { return };
            let Some(Ok(message)) = batch.next().await else { continue };
            let (work, _, attempt) =
                wire::read_job(&message.payload, &self.description).expect("jobs can be read");
            let Work::Pair(job) = work else { panic!("the run has no questions") };
            for half in [None, Some(0), Some(1)] {
                let heartbeat = wire::write(&Heartbeat { pair: job.pairing.pair, half });
                let subject = self.description.run_id.heartbeat_subject(&self.name);
                let _ = self.connection.client.publish(subject, heartbeat.into()).await;
            }
            let reply = message.reply.as_ref().expect("jobs are acknowledged");
            let result = JobResult {
                run_id: self.description.run_id.clone(),
                ack: reply.to_string(),
                number: job.pairing.pair,
                attempt,
                report: Report::Played(played(&job), None),
            };
            let ack = result.ack.clone();
            let bytes = wire::write_result(result, self.connection.max_payload());
            let result = PublishMessage::build().payload(bytes.into()).message_id(&ack);
            let subject = self.description.run_id.result_subject(job.pairing.pair, &self.name);
            match self.connection.jetstream.send_publish(subject, result).await {
                Ok(sent) => drop(sent.await),
                Err(_) => return,
            }
        }
    }
}

/// What could have become of a job.
fn played(job: &PairJob) -> PlayedPair {
    let mut random = job.pairing.pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let first = game(&job.games.first, &mut random);
    let second = job.games.second.as_ref().map(|setup| game(setup, &mut random));
    PlayedPair { pairing: job.pairing, games: Games { first, second } }
}

fn game(setup: &GameSetup, random: &mut u64) -> GameRecord {
    let mut position = setup.start.clone();
    let mut moves = Vec::new();
    for uci in &setup.book {
        position.play_unchecked(uci.to_move(&position).expect("openings are legal"));
        moves.push(MoveRecord { uci: *uci, thought: None });
    }
    for _ in 0..PLIES {
        let legal = position.legal_moves();
        if legal.is_empty() {
            break;
        }
        // Xorshift (G. Marsaglia, 2003).
        *random ^= *random << 13;
        *random ^= *random >> 7;
        *random ^= *random << 17;
        let number = *random >> 1;
        let chosen = legal[number as usize % legal.len()];
        let thought = Thought {
            score: Some(Score::Centipawns((number >> 8) as i32 % 700)),
            depth: Some(8 + (number >> 20) as u32 % 12),
            seldepth: Some(30),
            nodes: Some(200_000 + (number >> 30) % 400_000),
            elapsed: Duration::from_micros(50_000 + (number >> 40) % 90_000),
            reported: Some(Duration::from_millis(50 + (number >> 44) % 90)),
            ..Thought::default()
        };
        moves.push(MoveRecord { uci: chosen.to_uci(setup.mode), thought: Some(thought) });
        position.play_unchecked(chosen);
    }
    GameRecord {
        engines: setup.engines,
        fen: setup.fen.clone(),
        chess960: false,
        moves,
        outcome: Outcome::drawn(Termination::DrawAdjudication, "drawn by adjudication"),
        duration: Duration::from_secs(9),
        ready: ByColor::default(),
        movetime: ByColor::default(),
        late: None,
        transcript: None,
    }
}
