//! The coordinator of a run: sends its pairs to workers and receives their results.
//!
//! One task owns all state. It talks to the dispatcher over its [`CoordinatorEnd`] and to the server
//! over NATS; [`InFlight`] decides what happens to results.

mod admission;
mod describe;
mod streams;
mod worker_policy;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::{Client, Message, Subscriber, jetstream};
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

pub use self::describe::{Identity, check, check_engines, describe, describe_suite};
use self::streams::{Outgoing, ProgramUploader, StreamEvent};
pub use self::worker_policy::WorkerHistory;
use self::worker_policy::WorkerPolicy;
use super::assignment::Assignment;
use super::connection::{AccessError, Connection};
use super::in_flight::{Disposition, InFlight, Receipt};
use super::range_set::RangeSet;
use super::subject::{ALL_WORKER_STATUSES, BEACONS, is_inbox, sender};
use super::trust::Key;
use super::wire::{
    self, Beacon, BenchResult, CoordinatorMessage, Heartbeat, JobResult, Payload, ProgramRequest,
    RunDescription, WorkerStatus,
};
use arbiter_plan::Remark;
use arbiter_runner::{CoordinatorEnd, JobCommand, JobEvent};

/// Time between two ticks of the coordinator.
const TICK: Duration = Duration::from_millis(250);

/// Ticks between two beacons.
const BEACON_TICKS: u64 = 4;

/// Time without a status after which a worker is taken to be gone.
const WORKER_TIMEOUT: Duration = Duration::from_secs(10);

/// How long the coordinator waits for the server when it ends or gives pairs up.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Most remarks that one process stores, so that a worker cannot fill the disk.
const MAX_REMARKS: usize = 10_000;

/// A run that workers are to play.
#[derive(Debug)]
pub struct RunSpec {
    /// What its jobs have in common.
    pub description: RunDescription,
    /// The key that signs the description.
    pub key: Key,
    /// The files of its programs, by their hashes.
    pub programs: HashMap<blake3::Hash, PathBuf>,
    /// Its priority among other runs; the highest number comes first.
    pub priority: u8,
    /// The results of the benchmarks here, of engines for which workers run theirs.
    pub benches: Vec<Option<BenchResult>>,
    /// What the store knows of workers.
    pub history: WorkerHistory,
}

/// The subjects to which the coordinator is subscribed.
struct Subscriptions {
    descriptions: Subscriber,
    programs: Subscriber,
    heartbeats: Subscriber,
    statuses: Subscriber,
    joins: Subscriber,
}

struct Coordinator<A: Assignment> {
    connection: Connection,
    description: RunDescription,
    /// The description as it is sent.
    signed: Vec<u8>,
    priority: u8,
    in_flight: InFlight<A>,
    end: CoordinatorEnd<A, A::Done>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    /// Results that are not acknowledged yet.
    unacknowledged: BTreeMap<Receipt, jetstream::Message>,
    /// Results that were acknowledged; the server may not know it.
    acknowledged: RangeSet,
    /// The last status of each worker, and when it was received.
    workers: BTreeMap<String, (WorkerStatus, Duration)>,
    policy: WorkerPolicy,
    programs: Arc<ProgramUploader>,
    /// Whether all results from before the start were received.
    is_drained: bool,
    /// Time since the start, at the last tick.
    now: Duration,
    remarks: usize,
}

/// Starts to coordinate a run, at the end `end` of its channel.
pub async fn coordinate<A: Assignment>(
    connection: Connection,
    spec: RunSpec,
    end: CoordinatorEnd<A, A::Done>,
) -> Result<(), AccessError> {
    let RunSpec { description, key, programs, priority, benches, history } = spec;
    let id = &description.run_id;
    streams::open(&connection, id, description.lease).await?;
    let programs = ProgramUploader::new(programs, streams::programs(&connection).await?);
    let subscriptions = Subscriptions {
        descriptions: connection.subscribe(&id.description_subject()).await?,
        programs: connection.subscribe(&id.program_subject()).await?,
        heartbeats: connection.subscribe(&id.heartbeat_subject(">")).await?,
        statuses: connection.subscribe(ALL_WORKER_STATUSES).await?,
        joins: connection.subscribe(&id.join_subject(">")).await?,
    };
    let (event_sender, events) = mpsc::unbounded_channel();
    let (outgoing, queue) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    let context = &connection.jetstream;
    tasks.spawn(streams::send_jobs(context.clone(), id.clone(), queue, event_sender.clone()));
    tasks.spawn(streams::receive_results(context.clone(), id.clone(), event_sender));
    let coordinator = Coordinator {
        signed: wire::sign(&description, &key),
        policy: WorkerPolicy::new(&description, &benches, history),
        connection,
        description,
        priority,
        in_flight: InFlight::default(),
        end,
        outgoing,
        unacknowledged: BTreeMap::new(),
        acknowledged: RangeSet::default(),
        workers: BTreeMap::new(),
        programs: Arc::new(programs),
        is_drained: false,
        now: Duration::ZERO,
        remarks: 0,
    };
    tokio::spawn(coordinator.run(subscriptions, events, tasks));
    Ok(())
}

/// Whether a request may be replied to; others are not looked at.
fn may_reply(request: &Message) -> bool {
    request.reply.as_ref().is_some_and(is_inbox)
}

/// Replies to a request, if that may be done.
async fn reply(client: &Client, request: Message, answer: Vec<u8>) {
    if let Some(inbox) = request.reply.filter(is_inbox) {
        let _ = client.publish(inbox, answer.into()).await;
    }
}

impl<A: Assignment> Coordinator<A> {
    /// Coordinates until the dispatcher finishes the run.
    async fn run(
        mut self,
        mut subscriptions: Subscriptions,
        mut events: mpsc::UnboundedReceiver<StreamEvent>,
        mut tasks: JoinSet<()>,
    ) {
        let mut ticks = interval(TICK);
        let start = ticks.tick().await;
        let mut count = 0;
        self.send_beacon().await;
        loop {
            tokio::select! {
                command = self.end.commands.recv() => match command {
                    Some(JobCommand::Finish(reply)) => {
                        tasks.shutdown().await;
                        self.clean_up().await;
                        let _ = reply.send(());
                        return;
                    }
                    Some(command) => self.carry_out(command).await,
                    None => return,
                },
                Some(event) = events.recv() => self.handle_stream_event(event).await,
                Some(message) = subscriptions.heartbeats.next() => self.receive_heartbeat(&message),
                Some(message) = subscriptions.statuses.next() => self.receive_status(&message),
                Some(request) = subscriptions.joins.next() => if may_reply(&request) {
                    let answer = self.answer_join(&request).await;
                    reply(&self.connection.client, request, answer.into_bytes()).await;
                },
                Some(request) = subscriptions.descriptions.next() => {
                    reply(&self.connection.client, request, self.signed.clone()).await;
                }
                Some(request) = subscriptions.programs.next() => if may_reply(&request) {
                    let (programs, client) = (self.programs.clone(), self.connection.client.clone());
                    tasks.spawn(async move {
                        let uploaded = match wire::read::<ProgramRequest>(&request.payload) {
                            Ok(wanted) => programs.upload(wanted.hash).await,
                            Err(error) => Err(error.to_string()),
                        };
                        reply(&client, request, uploaded.err().unwrap_or_default().into_bytes()).await;
                    });
                },
                // Ended tasks would be kept until the run ends.
                Some(ended) = tasks.join_next() => if let Err(error) = ended
                    && error.is_panic()
                {
                    std::panic::resume_unwind(error.into_panic());
                },
                reason = self.connection.denied() => {
                    self.notify(JobEvent::Lost(format!("the NATS server refuses: {reason}")));
                }
                now = ticks.tick() => {
                    self.now = now - start;
                    count += 1;
                    self.tick(count).await;
                }
            }
        }
    }

    async fn carry_out(&mut self, command: JobCommand<A>) {
        match command {
            JobCommand::Play(pair, job) => {
                match self.in_flight.order(pair, *job, self.now) {
                    Ok(attempt) => self.send(pair, attempt),
                    Err(parked) => {
                        for (worker, result, receipt) in parked {
                            self.receive_result(worker, result, receipt).await;
                        }
                        // If none was accepted, a new job takes the place of one that may be in the
                        // stream from before, and be held by a worker.
                        if self.in_flight.is_waiting(pair) {
                            self.resend(pair);
                        }
                    }
                }
            }
            JobCommand::Stored(pair) => {
                if let Some(accepted) = self.in_flight.stored(pair) {
                    self.acknowledge_job(&accepted.ack, pair, AckKind::Ack).await;
                    self.acknowledge_result(accepted.receipt).await;
                    self.send_to_workers(&CoordinatorMessage::Stored(pair)).await;
                    self.check_workers(pair).await;
                }
            }
            JobCommand::CancelAll(reply) => {
                self.send_to_workers(&CoordinatorMessage::Cancel).await;
                self.in_flight.cancel();
                // Without a connection nothing can be sent.
                if self.connection.is_connected() {
                    let _ = timeout(SHUTDOWN_TIMEOUT, self.connection.client.flush()).await;
                }
                let _ = reply.send(());
            }
            // Ends the loop that calls this.
            JobCommand::Finish(_) => {}
        }
    }

    /// Sends the job of a pair.
    fn send(&mut self, pair: u64, attempt: u32) {
        if let Some(job) = self.in_flight.job(pair) {
            let job = wire::write_job(&self.description.run_id, pair, &job.work(), attempt);
            // The receiver lives as long as the coordinator.
            let _ = self.outgoing.send(Outgoing { pair, attempt, job });
        }
    }

    /// Sends the job of a pair in flight again.
    fn resend(&mut self, pair: u64) {
        if let Some(attempt) = self.in_flight.resend(pair, self.now) {
            self.send(pair, attempt);
        }
    }

    async fn handle_stream_event(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Sent { pair, attempt, sequence } => {
                self.in_flight.sent(pair, attempt, sequence);
            }
            StreamEvent::Drained => {
                self.is_drained = true;
                self.update_room();
            }
            StreamEvent::Result(message) => {
                let Ok(receipt) = message.info().map(|info| info.stream_sequence) else { return };
                if self.acknowledged.contains(receipt) {
                    let _ = message.ack().await;
                    return;
                }
                let result = wire::read_result(&message);
                let worker = sender(&message.subject).to_owned();
                // If it was delivered before, only where to acknowledge it is new.
                if self.unacknowledged.insert(receipt, message).is_some() {
                    return;
                }
                let what = match result {
                    Ok((_, result)) if result.run_id == self.description.run_id => {
                        return self.receive_result(worker, result, receipt).await;
                    }
                    Ok((_, result)) => {
                        format!("a result of another run, {}", result.run_id.as_str())
                    }
                    Err(error) => error.to_string(),
                };
                let is_named = wire::is_worker_name(&worker);
                self.remark(if is_named { &worker } else { "unknown" }, None, what);
                self.acknowledge_result(receipt).await;
            }
        }
    }

    async fn receive_result(
        &mut self,
        worker: String,
        result: JobResult<A::Done>,
        receipt: Receipt,
    ) {
        let (pair, ack) = (result.number, result.ack.clone());
        self.in_flight.started(pair, self.now);
        let disposition = match self.policy.why_excluded(&worker) {
            Some(_) => Disposition::Reject("a result of a worker that is excluded".to_owned()),
            None => self.in_flight.receive(&worker, result, receipt),
        };
        let what = match disposition {
            Disposition::Accept { played, noise } => {
                // A disturbed pair may not count.
                if let Some(tally) = played.tally().filter(|_| noise.is_none()) {
                    self.policy.accepted(&worker, tally);
                }
                let worker = Some(worker);
                return self.notify(JobEvent::Played { pair, played, noise, worker });
            }
            Disposition::Park => return,
            Disposition::Duplicate(what) => {
                self.acknowledge_job(&ack, pair, AckKind::Ack).await;
                self.send_to_workers(&CoordinatorMessage::Stored(pair)).await;
                what
            }
            Disposition::Discard(what) => what,
            Disposition::Reject(why) => {
                self.acknowledge_job(&ack, pair, AckKind::Nak(None)).await;
                let (worker, told) = (worker.clone(), why.clone());
                let refused = CoordinatorMessage::Refused { worker, pair, why: told };
                self.send_to_workers(&refused).await;
                why
            }
            Disposition::Retry(what) => {
                self.resend(pair);
                what
            }
            Disposition::Fail(reason) => {
                self.remark(&worker, Some(pair), reason.clone());
                self.notify(JobEvent::Failed { pair, reason });
                return self.acknowledge_result(receipt).await;
            }
        };
        self.acknowledge_result(receipt).await;
        self.remark(&worker, Some(pair), what);
    }

    /// Acknowledges the job of a pair, or gives it back, at the subject that a worker named, if it is
    /// that of this job.
    async fn acknowledge_job(&self, subject: &str, pair: u64, answer: AckKind) {
        let Some(sequence) = self.description.run_id.acknowledged_job(subject) else { return };
        let is_its_own = match self.in_flight.owner(sequence) {
            Some(owner) => owner == pair,
            // A job that was acknowledged before must not be given back.
            None => matches!(answer, AckKind::Ack),
        };
        if is_its_own {
            let _ = self.connection.client.publish(subject.to_owned(), answer.into()).await;
        }
    }

    async fn acknowledge_result(&mut self, receipt: Receipt) {
        self.acknowledged.insert(receipt);
        if let Some(message) = self.unacknowledged.remove(&receipt) {
            // If that is lost, the result is delivered and acknowledged again.
            let _ = message.ack().await;
        }
    }

    async fn send_to_workers(&self, message: &CoordinatorMessage) {
        let subject = self.description.run_id.coordinator_subject();
        let _ = self.connection.client.publish(subject, wire::write(message).into()).await;
    }

    /// Sends an event to the dispatcher.
    fn notify(&self, event: JobEvent<A::Done>) {
        let _ = self.end.events.send(event);
    }

    fn remark(&mut self, worker: &str, pair: Option<u64>, what: String) {
        self.remarks += 1;
        if self.remarks <= MAX_REMARKS {
            self.notify(JobEvent::Noted(Remark { worker: worker.to_owned(), pair, what }));
        }
    }

    fn receive_heartbeat(&mut self, message: &Message) {
        if let Ok((worker, heartbeat)) = wire::read_from::<Heartbeat>(message)
            && let Some((pairing, half)) = self.in_flight.heartbeat(worker, heartbeat, self.now)
        {
            self.notify(JobEvent::Started { pairing, half });
        }
    }

    /// Why a worker does not play for this run, if it said so.
    fn refusal<'a>(&self, status: &'a WorkerStatus) -> Option<&'a str> {
        let mut refusals = status.refusals.iter();
        let refused = refusals.find(|(run_id, _)| *run_id == self.description.run_id);
        refused.map(|(_, why)| why.as_str())
    }

    fn receive_status(&mut self, message: &Message) {
        let Ok((worker, status)) = wire::read_from::<WorkerStatus>(message) else { return };
        let before = self.workers.get(&worker).and_then(|(before, _)| self.refusal(before));
        let refusal = self.refusal(&status);
        let is_new = before != refusal && self.policy.why_excluded(&worker).is_none();
        if let Some(why) = refusal.filter(|_| is_new) {
            let what = format!("does not play: {why}");
            self.remark(&worker, None, what);
        }
        self.workers.insert(worker, (status, self.now));
        self.update_room();
    }

    /// Allows as many pairs in flight as there are slots for them, and one more for each worker, so
    /// that a slot that ends a pair can begin another at once.
    fn update_room(&mut self) {
        let now = self.now;
        self.workers.retain(|_, (status, at)| !status.is_leaving && now < *at + WORKER_TIMEOUT);
        let plays = |(worker, (status, _)): &(&String, &(WorkerStatus, Duration))| {
            self.policy.why_excluded(worker).is_none() && self.refusal(status).is_none()
        };
        let threads = self.description.requirements.threads.max(1);
        let workers = self.workers.iter().filter(plays);
        let slots: usize =
            workers.map(|(_, (status, _))| (status.slots / threads) as usize + 1).sum();
        let room = match self.is_drained {
            true => slots.max(self.in_flight.room_for_parked()),
            false => 0,
        };
        self.end.room.send_if_modified(|before| std::mem::replace(before, room) != room);
    }

    async fn tick(&mut self, count: u64) {
        self.update_room();
        let RunDescription { lease, stall_timeout, .. } = self.description;
        for pair in self.in_flight.overdue(lease, stall_timeout, self.now) {
            let what = "nobody is heard to play it; sent out again";
            self.remark("unknown", Some(pair), what.to_owned());
            self.resend(pair);
        }
        if count.is_multiple_of(BEACON_TICKS) {
            self.send_beacon().await;
        }
    }

    async fn send_beacon(&self) {
        // Messages for a lost connection are queued, and would all be sent when it is back.
        if self.connection.is_connected() {
            let (queued, playing) = self.in_flight.counts();
            let (run_id, run) = (self.description.run_id.clone(), self.description.run.clone());
            let beacon = Beacon { run_id, run, priority: self.priority, queued, playing };
            let _ = self.connection.client.publish(BEACONS, wire::write(&beacon).into()).await;
        }
    }

    /// Tells the workers that the run is over, and removes its streams from the server.
    async fn clean_up(&self) {
        if self.connection.is_connected() {
            let cleaning = async {
                self.send_to_workers(&CoordinatorMessage::Cancel).await;
                let _ = self.connection.client.flush().await;
                streams::remove(&self.connection, &self.description.run_id).await;
            };
            let _ = timeout(SHUTDOWN_TIMEOUT, cleaning).await;
        }
    }
}
