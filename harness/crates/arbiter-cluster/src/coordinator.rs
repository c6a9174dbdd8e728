//! The machine that owns a run: sends its pairs out, and takes their results in.
//!
//! One task owns all state. It talks to the dispatcher over [`Ends`], to the server over NATS, and
//! decides nothing that [`InFlight`] could decide.

mod admission;
mod describe;
mod streams;
mod worker_policy;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::AckKind;
use async_nats::{Message, Subscriber, jetstream};
use futures_util::StreamExt;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

pub use self::describe::{Identity, check, check_engines, describe, describe_suite};
use self::streams::{Happening, Outgoing, Shelf};
pub use self::worker_policy::Known;
use self::worker_policy::WorkerPolicy;
use super::access::{AccessError, Link};
use super::assignment::Assignment;
use super::in_flight::{Disposition, InFlight, Receipt};
use super::range_set::RangeSet;
use super::subject::{ALL_WORKER_STATUSES, BEACON, Names, is_inbox, speaker};
use super::trust::Key;
use super::wire::{
    self, Beacon, BenchResult, CoordinatorMessage, Heartbeat, JobResult, ProgramRequest,
    RunDescription, WorkerStatus,
};
use arbiter_plan::run::event::Remark;
use arbiter_runner::executor::JobEvent;
use arbiter_runner::executor::remote::{Ends, Order};

/// How often the coordinator looks around.
const BEAT: Duration = Duration::from_millis(250);

/// Beats between two beacons.
const BEACON_BEATS: u64 = 4;

/// How long a worker that says nothing is taken to be there.
const ABSENCE: Duration = Duration::from_secs(10);

/// How long the server may take to put a run away.
const FAREWELL: Duration = Duration::from_secs(3);

/// Remarks that are kept of one process; who floods us is not to fill the disk.
const MAX_REMARKS: usize = 10_000;

/// A run to be played by others.
#[derive(Debug)]
pub struct Spec {
    /// What its jobs have in common.
    pub description: RunDescription,
    /// What heartbeats that.
    pub key: Key,
    /// Where its programs are, by their hashes.
    pub programs: BTreeMap<String, PathBuf>,
    /// How important it is among others; the highest number comes first.
    pub priority: u8,
    /// What the benchmarks of its engines found here, of those that workers have to compare.
    pub benches: Vec<Option<BenchResult>>,
    /// What is known of workers.
    pub known: Known,
}

/// What the coordinator listens to.
struct Ears {
    description_requests: Subscriber,
    needs: Subscriber,
    heartbeats: Subscriber,
    statuses: Subscriber,
    joins: Subscriber,
    happenings: mpsc::UnboundedReceiver<Happening>,
}

struct Coordinator<A: Assignment> {
    link: Link,
    names: Names,
    token: String,
    run: String,
    priority: u8,
    /// Threads of a game.
    threads: u32,
    lease: Duration,
    patience: Duration,
    /// The signed description.
    description: Vec<u8>,
    in_flight: InFlight<A>,
    ends: Ends<A, A::Done>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    /// Results that are not acknowledged yet, by their places in their stream.
    held: BTreeMap<Receipt, jetstream::Message>,
    /// Results that were acknowledged; the server may not have heard it.
    settled: RangeSet,
    /// Who is there, and when they were last heard.
    workers: BTreeMap<String, (WorkerStatus, Duration)>,
    /// Which workers may play.
    policy: WorkerPolicy,
    is_drained: bool,
    now: Duration,
    remarks: usize,
}

/// Begins to coordinate a run, at the far end of `ends`.
pub async fn coordinate<A: Assignment>(
    link: Link,
    spec: Spec,
    ends: Ends<A, A::Done>,
) -> Result<(), AccessError> {
    let Spec { description, key, programs, priority, benches, known } = spec;
    let names = Names::new(&description.token);
    streams::open(&link, &names, description.lease).await?;
    let shelf = std::sync::Arc::new(Shelf::new(programs, streams::programs(&link).await?));
    let (happen, happenings) = mpsc::unbounded_channel();
    let (outgoing, queue) = mpsc::unbounded_channel();
    let ears = Ears {
        description_requests: link.hear(&names.description()).await?,
        needs: link.hear(&names.need()).await?,
        heartbeats: link.hear(&names.all_heartbeats()).await?,
        statuses: link.hear(ALL_WORKER_STATUSES).await?,
        joins: link.hear(&names.all_joins()).await?,
        happenings,
    };
    let mut helpers = JoinSet::new();
    let context = &link.stream;
    helpers.spawn(streams::send_jobs(context.clone(), names.clone(), queue, happen.clone()));
    helpers.spawn(streams::collect(context.clone(), names.clone(), happen));
    let coordinator = Coordinator {
        token: description.token.clone(),
        run: description.run.clone(),
        priority,
        threads: description.needs.threads,
        lease: description.lease,
        patience: description.patience,
        description: wire::sign(&description, &key),
        link,
        names,
        in_flight: InFlight::default(),
        ends,
        outgoing,
        held: BTreeMap::new(),
        settled: RangeSet::default(),
        workers: BTreeMap::new(),
        policy: WorkerPolicy::new(&description, &benches, known),
        is_drained: false,
        now: Duration::ZERO,
        remarks: 0,
    };
    tokio::spawn(coordinator.live(ears, helpers, shelf));
    Ok(())
}

impl<A: Assignment> Coordinator<A> {
    /// Until the dispatcher has enough.
    async fn live(
        mut self,
        mut ears: Ears,
        mut helpers: JoinSet<()>,
        shelf: std::sync::Arc<Shelf>,
    ) {
        let mut beat = interval(BEAT);
        let start = beat.tick().await;
        let mut beats = 0;
        self.shine().await;
        loop {
            tokio::select! {
                order = self.ends.orders.recv() => match order {
                    Some(Order::Finish(told)) => {
                        helpers.shutdown().await;
                        self.leave().await;
                        let _ = told.send(());
                        return;
                    }
                    Some(order) => self.obey(order).await,
                    None => return,
                },
                Some(happening) = ears.happenings.recv() => self.take(happening).await,
                Some(heartbeat) = ears.heartbeats.next() => self.hear_heartbeat(&heartbeat),
                Some(status) = ears.statuses.next() => self.hear_status(&status),
                Some(asked) = ears.joins.next() => self.answer_join(asked).await,
                Some(asked) = ears.description_requests.next() => if let Some(reply) = asked.reply.filter(is_inbox) {
                    let _ = self.link.client.publish(reply, self.description.clone().into()).await;
                },
                Some(asked) = ears.needs.next() => if let Some(reply) = asked.reply.filter(is_inbox) {
                    let (shelf, client) = (shelf.clone(), self.link.client.clone());
                    helpers.spawn(async move {
                        let supplied = match ProgramRequest::read(&asked.payload) {
                            Ok(need) => shelf.supply(&need.hash).await,
                            Err(error) => Err(error.to_string()),
                        };
                        let answer = supplied.err().unwrap_or_default();
                        let _ = client.publish(reply, answer.into()).await;
                    });
                },
                // Ended tasks would else be kept until the run ends.
                Some(ended) = helpers.join_next() => if let Err(error) = ended
                    && error.is_panic()
                {
                    std::panic::resume_unwind(error.into_panic());
                },
                Ok(()) = self.link.forbidden.changed() => {
                    let what = self.link.forbidden.borrow_and_update().clone();
                    if let Some(what) = what {
                        let _ = self.ends.events.send(JobEvent::Lost(format!("the NATS server refuses: {what}")));
                    }
                }
                at = beat.tick() => {
                    self.now = at - start;
                    beats += 1;
                    self.look_around(beats).await;
                }
            }
        }
    }

    async fn obey(&mut self, order: Order<A>) {
        match order {
            Order::Play(job) => {
                let pair = job.number();
                match self.in_flight.order(*job, self.now) {
                    Ok(attempt) => self.send(pair, attempt),
                    Err(parked) => {
                        for (result, receipt) in parked {
                            self.weigh(result, receipt).await;
                        }
                        // Those that were not believed leave the pair to be played. Its job may be
                        // there from before, held by whoever sent them: a new one takes its place.
                        if self.in_flight.is_waiting(pair)
                            && let Some(attempt) = self.in_flight.resend(pair, self.now)
                        {
                            self.send(pair, attempt);
                        }
                    }
                }
            }
            Order::Stored(pair) => {
                if let Some(taken) = self.in_flight.stored(pair) {
                    self.answer_job(&taken.ack, pair, AckKind::Ack).await;
                    self.settle(taken.receipt).await;
                    self.say(&CoordinatorMessage::Stored(pair)).await;
                    self.check_workers(pair).await;
                }
            }
            Order::CancelAll(told) => {
                self.say(&CoordinatorMessage::Cancel).await;
                self.in_flight.cancel();
                // Nobody hears who is cut off.
                if self.link.is_connected() {
                    let _ = timeout(FAREWELL, self.link.client.flush()).await;
                }
                let _ = told.send(());
            }
            // Obeyed where it ends all.
            Order::Finish(_) => {}
        }
    }

    /// Puts a pair's job on its way.
    fn send(&mut self, pair: u64, attempt: u32) {
        if let Some(job) = self.in_flight.job(pair) {
            let job = job.write(&self.token, attempt);
            // The sender lives as long as we do.
            let _ = self.outgoing.send(Outgoing { pair, attempt, job });
        }
    }

    async fn take(&mut self, happening: Happening) {
        match happening {
            Happening::Sent { pair, attempt, sequence } => {
                self.in_flight.sent(pair, attempt, sequence);
            }
            Happening::Drained => {
                self.is_drained = true;
                self.make_room();
            }
            Happening::Result(message) => {
                let Some(receipt) = message.info().ok().map(|info| info.stream_sequence) else {
                    return;
                };
                if self.settled.contains(receipt) {
                    let _ = message.ack().await;
                    return;
                }
                let worker = speaker(&message.subject).to_owned();
                let read = wire::read_result(&worker, &message.payload);
                // Delivered again while it waits: only where to acknowledge it is new.
                if self.held.insert(receipt, message).is_some() {
                    return;
                }
                match read {
                    Ok(result) if result.token == self.token => self.weigh(result, receipt).await,
                    Ok(result) => {
                        let what = format!("a result of another run, {}", result.token);
                        self.remark(&result.worker, None, what);
                        self.settle(receipt).await;
                    }
                    Err(error) => {
                        let worker = if wire::is_name(&worker) { &worker } else { "unknown" };
                        self.remark(worker, None, error.to_string());
                        self.settle(receipt).await;
                    }
                }
            }
        }
    }

    /// Believes a result, or does not.
    async fn weigh(&mut self, result: JobResult<A::Done>, receipt: Receipt) {
        let (pair, worker, ack) = (result.number, result.worker.clone(), result.ack.clone());
        self.in_flight.started(pair, self.now);
        let disposition = match self.policy.why_excluded(&worker).is_some() {
            true => Disposition::Reject("a result of a worker that is excluded".to_owned()),
            false => self.in_flight.receive(result, receipt),
        };
        match disposition {
            Disposition::Accept { played, noise, worker } => {
                // What the machine disturbed may not count and says little.
                if let Some(tally) = A::tally(&played).filter(|_| noise.is_none()) {
                    self.policy.accepted(&worker, tally);
                }
                let event = JobEvent::Played { played, noise, worker: Some(worker) };
                let _ = self.ends.events.send(event);
            }
            Disposition::Park => {}
            Disposition::Duplicate(what) => {
                self.answer_job(&ack, pair, AckKind::Ack).await;
                self.settle(receipt).await;
                self.say(&CoordinatorMessage::Stored(pair)).await;
                self.remark(&worker, Some(pair), what);
            }
            Disposition::Discard(what) => {
                self.settle(receipt).await;
                self.remark(&worker, Some(pair), what);
            }
            Disposition::Reject(what) => {
                self.answer_job(&ack, pair, AckKind::Nak(None)).await;
                self.settle(receipt).await;
                let why = what.clone();
                self.say(&CoordinatorMessage::Refused { worker: worker.clone(), pair, why }).await;
                self.remark(&worker, Some(pair), what);
            }
            Disposition::Retry(what) => {
                self.settle(receipt).await;
                self.remark(&worker, Some(pair), what);
                if let Some(attempt) = self.in_flight.resend(pair, self.now) {
                    self.send(pair, attempt);
                }
            }
            Disposition::Fail(reason) => {
                self.settle(receipt).await;
                self.remark(&worker, Some(pair), reason.clone());
                let _ = self.ends.events.send(JobEvent::Failed { pair, reason });
            }
        }
    }

    /// Acknowledges a job, or gives it back, where a worker says; nothing else can be reached so.
    async fn answer_job(&self, subject: &str, pair: u64, answer: AckKind) {
        let Some(sequence) = self.names.acknowledged(subject) else { return };
        let is_its_own = match (self.in_flight.owner(sequence), answer) {
            (Some(owner), _) => owner == pair,
            // To give back what was acknowledged before would bring it back to life.
            (None, answer) => matches!(answer, AckKind::Ack),
        };
        if is_its_own {
            let _ = self.link.client.publish(subject.to_owned(), answer.into()).await;
        }
    }

    /// Acknowledges a result.
    async fn settle(&mut self, receipt: Receipt) {
        self.settled.insert(receipt);
        if let Some(message) = self.held.remove(&receipt) {
            // If the server does not hear it, the result comes again and is acknowledged again.
            let _ = message.ack().await;
        }
    }

    async fn say(&self, message: &CoordinatorMessage) {
        let _ = self
            .link
            .client
            .publish(self.names.coordinator_messages(), message.write().into())
            .await;
    }

    fn remark(&mut self, worker: &str, pair: Option<u64>, what: String) {
        self.remarks += 1;
        if self.remarks <= MAX_REMARKS {
            let remark = Remark { worker: worker.to_owned(), pair, what };
            let _ = self.ends.events.send(JobEvent::Noted(remark));
        }
    }

    fn hear_heartbeat(&mut self, message: &Message) {
        let Ok(heartbeat) = Heartbeat::read(speaker(&message.subject), &message.payload) else {
            return;
        };
        if let Some((pairing, half)) = self.in_flight.heartbeat(heartbeat, self.now) {
            let _ = self.ends.events.send(JobEvent::Started { pairing, half });
        }
    }

    fn hear_status(&mut self, message: &Message) {
        let Ok(status) = WorkerStatus::read(speaker(&message.subject), &message.payload) else {
            return;
        };
        let why = |status: &WorkerStatus| {
            let found = status.refusals.iter().find(|(token, _)| *token == self.token);
            found.map(|(_, why)| why.clone())
        };
        let worker = status.worker.clone();
        let refusal = why(&status);
        let before = self.workers.get(&worker).and_then(|(before, _)| why(before));
        self.workers.insert(worker.clone(), (status, self.now));
        let is_news = before != refusal && self.policy.why_excluded(&worker).is_none();
        if let Some(refusal) = refusal.filter(|_| is_news) {
            self.remark(&worker, None, format!("does not play: {refusal}"));
        }
        self.make_room();
    }

    /// Lets as many pairs fly as those who are there can play, and one more for each of them to
    /// begin with when it has finished one.
    fn make_room(&mut self) {
        let now = self.now;
        self.workers.retain(|_, (status, heard)| !status.is_leaving && now < *heard + ABSENCE);
        let plays = |status: &&WorkerStatus| {
            let is_excluded = self.policy.why_excluded(&status.worker).is_some();
            !is_excluded && status.refusals.iter().all(|(token, _)| *token != self.token)
        };
        let players = self.workers.values().map(|(status, _)| status).filter(plays);
        let each = self.threads.max(1);
        let room: usize = players.map(|status| (status.slots / each) as usize + 1).sum();
        let room = room.max(self.in_flight.room_for_parked());
        self.ends.room.send_if_modified(|before| {
            let room = if self.is_drained { room } else { 0 };
            std::mem::replace(before, room) != room
        });
    }

    async fn look_around(&mut self, beats: u64) {
        self.make_room();
        for pair in self.in_flight.overdue(self.lease, self.patience, self.now) {
            self.remark(
                "unknown",
                Some(pair),
                "nobody is heard to play it; sent out again".to_owned(),
            );
            if let Some(attempt) = self.in_flight.resend(pair, self.now) {
                self.send(pair, attempt);
            }
        }
        if beats.is_multiple_of(BEACON_BEATS) {
            self.shine().await;
        }
    }

    /// Says that the run is there.
    async fn shine(&self) {
        // What waits for a lost connection would all be sent at once when it is back.
        if !self.link.is_connected() {
            return;
        }
        let (queued, playing) = self.in_flight.counts();
        let (token, run, priority) = (self.token.clone(), self.run.clone(), self.priority);
        let beacon = Beacon { token, run, priority, queued, playing };
        let _ = self.link.client.publish(BEACON, beacon.write().into()).await;
    }

    /// Tells everybody, and leaves nothing on the server.
    async fn leave(&self) {
        if !self.link.is_connected() {
            return;
        }
        let farewell = async {
            self.say(&CoordinatorMessage::Cancel).await;
            let _ = self.link.client.flush().await;
            streams::remove(&self.link, &self.names).await;
        };
        let _ = timeout(FAREWELL, farewell).await;
    }
}
