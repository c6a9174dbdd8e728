//! Coordinator of a run: sends pairs to workers and receives the results.
//!
//! One task owns all state. The task communicates with the dispatcher through the
//! [`CoordinatorEnd`] of the job channel, and with the server over NATS. [`InFlight`] decides how
//! each result is handled.

mod admission;
mod audit;
mod describe;
mod heartbeats;
mod results;
mod started_jobs;
mod statuses;
mod streams;
mod worker_policy;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, Message, Subscriber, jetstream};
use futures_util::StreamExt;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

pub use self::audit::AuditSpec;
use self::audit::Audits;
pub use self::describe::{check, check_engines, describe, describe_suite};
use self::started_jobs::StartedJobs;
use self::streams::{Outgoing, ProgramUploader, StreamEvent, StreamTasks};
pub use self::worker_policy::WorkerHistory;
use self::worker_policy::WorkerPolicy;
use super::assignment::Assignment;
use super::connection::{AccessError, Connection};
use super::in_flight::{InFlight, Receipt};
use super::metrics::ClusterMetrics;
use super::monitor::WorkerState;
use super::range_set::RangeSet;
use super::subject::{ALL_WORKER_STATUSES, BEACONS, is_inbox};
use super::trust::{Key, RunSecret};
use super::verify::Terms;
use super::wire::{
    self, AUDITS, Beacon, BenchResult, CoordinatorMessage, Job, Notice, ProgramRequest,
    RunDescription, WorkerStatus,
};
use arbiter_run::Remark;
use arbiter_runner::{CoordinatorEnd, JobCommand, JobEvent, task_output, unix_time_ms};

/// Time between two ticks of the coordinator. A tick checks for idle workers and extends leases;
/// other events are handled immediately.
const TICK: Duration = Duration::from_millis(250);

/// Number of ticks between two beacons. Workers forget a run after 6 s without a beacon, so one
/// beacon per second tolerates several lost beacons.
const BEACON_TICKS: u64 = 4;

/// Time limit for requests to the server when a run ends or is cancelled, and when the streams of a
/// run are emptied. The coordinator handles no other event during such a request, and a user may be
/// waiting for the command to end, so an unresponsive server must not block the coordinator.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(3);

/// Time after the start of the coordinator during which audits wait for a second worker. After a
/// restart, the running workers have yet to report. Workers send a status every 3 s, so every
/// running worker reports several times within this time.
const RETURN: Duration = Duration::from_secs(15);

/// Capacity of the channel for stream events, mostly results. The channel is bounded because
/// results are large and workers may send any number of results.
const MAX_EVENTS: usize = 256;

/// Time from the transmission of a job within which a worker must start the job. A job that no
/// worker has started is sent again after half of this time. The limit prevents replay attacks with
/// recorded job messages after the worker has forgotten that it has sent the result.
const JOB_LIFETIME: Duration = Duration::from_secs(24 * 3600);

/// Specification of a distributed run, for [`coordinate`].
#[derive(Debug)]
pub struct RunSpec {
    /// Common part of all jobs.
    pub description: RunDescription,
    /// Key that signs the description and the jobs.
    pub key: Key,
    /// Paths of the program files, by hash.
    pub programs: HashMap<blake3::Hash, PathBuf>,
    /// Priority among the runs on the server; workers prefer the run with the highest number.
    pub priority: u8,
    /// Bench result of each engine on this machine; `None` if workers do not run the bench of the
    /// engine.
    pub benches: Vec<Option<BenchResult>>,
    /// Exclusions and results of workers, from the store.
    pub history: WorkerHistory,
    /// Settings of audits, in which a second worker repeats pairs.
    pub audit: AuditSpec,
    /// Metrics of the run.
    pub metrics: ClusterMetrics,
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
    /// Key that signs the description and all jobs.
    key: Key,
    secret: RunSecret,
    /// The signed description, as sent to workers.
    signed: Vec<u8>,
    priority: u8,
    in_flight: InFlight<A>,
    end: CoordinatorEnd<A, A::Done>,
    outgoing: mpsc::UnboundedSender<Outgoing>,
    /// Results that are not acknowledged yet, by receipt.
    unacknowledged: BTreeMap<Receipt, jetstream::Message>,
    /// Receipts of the results that were acknowledged, even if the acknowledgement did not reach
    /// the server.
    acknowledged: RangeSet,
    /// Pairs whose jobs, since the last result with a valid proof, were sent again because of
    /// missing heartbeats.
    unheard: BTreeSet<u64>,
    /// Last status of each worker, and the time from the start of the coordinator until the status
    /// arrived.
    workers: BTreeMap<String, (WorkerStatus, Duration)>,
    policy: WorkerPolicy,
    /// Pairs whose jobs were removed from the server since `removed_at`; cleared after each lease
    /// time.
    removed: BTreeSet<u64>,
    removed_at: Duration,
    /// Workers that were admitted, or that sent a heartbeat or result with a valid proof.
    joined: BTreeSet<String>,
    /// Workers that played before a restart of the coordinator. These workers continue without
    /// joining again. After a long absence of the coordinator, however, workers have forgotten the
    /// run and request the run description; such a request clears this set.
    returned: BTreeSet<String>,
    /// Workers that were reported to the dispatcher as joined, and not yet as gone.
    present: BTreeSet<String>,
    audits: Audits<A>,
    programs: Arc<ProgramUploader>,
    /// Largest number of pairs that were in play at any one time so far.
    most_playing: usize,
    /// `true` once all results from before the start have been received.
    is_drained: bool,
    /// `true` if the pairs in flight were cancelled and no pair has been requested since.
    is_cancelled: bool,
    /// Time from the start of the coordinator to the last tick.
    now: Duration,
    /// Time stamp of the last message to workers, as Unix time in microseconds.
    last_at: u64,
    metrics: ClusterMetrics,
}

/// Starts the coordinator of a run; `end` is the coordinator's end of the job channel.
pub async fn coordinate<A: Assignment>(
    connection: Connection,
    spec: RunSpec,
    end: CoordinatorEnd<A, A::Done>,
) -> Result<(), AccessError> {
    let RunSpec { description, key, programs, priority, benches, history, audit, metrics } = spec;
    // Attempts after a restart need higher numbers than all attempts before the restart, so that no
    // worker mistakes a job for a job that the worker has finished. The Unix time in seconds gives
    // higher numbers if each pair is sent at most once per second.
    let first_attempt = (unix_time_us() / 1_000_000) as u32;
    let mut stored = RangeSet::default();
    let returned = history.played.iter().map(|(worker, _)| worker.clone()).collect();
    history.played.iter().for_each(|(_, tally)| stored.insert(tally.pair));
    let id = &description.run_id;
    streams::open(&connection, id, description.lease).await?;
    let store = Mutex::new(streams::programs(&connection).await?);
    let programs = ProgramUploader { paths: programs, store };
    let subscriptions = Subscriptions {
        descriptions: connection.subscribe(&id.description_subject()).await?,
        programs: connection.subscribe(&id.program_subject()).await?,
        heartbeats: connection.subscribe(&id.heartbeat_subject(">")).await?,
        statuses: connection.subscribe(ALL_WORKER_STATUSES).await?,
        joins: connection.subscribe(&id.join_subject(">")).await?,
    };
    let (events, received) = mpsc::channel(MAX_EVENTS);
    // The channel is unbounded, because the task that owns all state must not wait for the server.
    // The number of pairs in flight limits the length of the queue.
    let (outgoing, queue) = mpsc::unbounded_channel();
    let mut tasks = JoinSet::new();
    let context = connection.jetstream.clone();
    let stream_tasks =
        StreamTasks { context, id: id.clone(), key: key.public(), first_attempt, events };
    tasks.spawn(stream_tasks.clone().send_jobs(queue));
    tasks.spawn(stream_tasks.receive_results());
    let coordinator = Coordinator {
        signed: wire::sign(&description, &key),
        secret: RunSecret::new(&key, &description.run_id),
        key,
        audits: Audits::new(audit),
        joined: BTreeSet::new(),
        returned,
        present: BTreeSet::new(),
        removed: BTreeSet::new(),
        removed_at: Duration::ZERO,
        in_flight: InFlight::new(first_attempt, stored, Terms::of(&description)),
        policy: WorkerPolicy::new(&description, &benches, history),
        connection,
        description,
        priority,
        end,
        outgoing,
        unacknowledged: BTreeMap::new(),
        acknowledged: RangeSet::default(),
        unheard: BTreeSet::new(),
        workers: BTreeMap::new(),
        programs: Arc::new(programs),
        most_playing: 0,
        is_drained: false,
        is_cancelled: false,
        now: Duration::ZERO,
        last_at: 0,
        metrics,
    };
    tokio::spawn(coordinator.run(subscriptions, received, tasks));
    Ok(())
}

fn unix_time_us() -> u64 {
    unix_time_ms().unsigned_abs() * 1_000
}

/// Returns whether a request has a valid reply subject; requests without a valid reply subject are
/// ignored.
fn may_reply(request: &Message) -> bool {
    request.reply.as_ref().is_some_and(is_inbox)
}

/// Replies to a request if its reply subject is valid.
async fn reply(client: &Client, request: Message, answer: Vec<u8>) {
    if let Some(inbox) = request.reply.filter(is_inbox) {
        let _ = client.publish(inbox, answer.into()).await;
    }
}

impl<A: Assignment> Coordinator<A> {
    /// Coordinates the run until the dispatcher finishes the run or closes the job channel.
    async fn run(
        mut self,
        mut subscriptions: Subscriptions,
        mut events: mpsc::Receiver<StreamEvent>,
        mut tasks: JoinSet<()>,
    ) {
        // All state belongs to this one task, so no event needs a lock.
        let mut ticks = interval(TICK);
        let start = ticks.tick().await;
        let mut count = 0;
        self.send_beacon().await;
        loop {
            tokio::select! {
                command = self.end.commands.recv() => match command {
                    Some(JobCommand::Finish(reply)) => {
                        // The tasks are stopped first, so that no task sends a job to a stream that
                        // is being removed.
                        tasks.shutdown().await;
                        self.clean_up().await;
                        let _ = reply.send(());
                        return;
                    }
                    Some(command) => self.execute(command).await,
                    None => return,
                },
                Some(event) = events.recv() => self.handle_stream_event(event).await,
                Some(message) = subscriptions.heartbeats.next() => {
                    self.receive_heartbeat(&message).await;
                }
                Some(message) = subscriptions.statuses.next() => self.receive_status(&message),
                Some(request) = subscriptions.joins.next() => if may_reply(&request)
                    && let Some(answer) = self.answer_join(&request).await
                {
                    reply(&self.connection.client, request, wire::sign(&answer, &self.key)).await;
                },
                Some(request) = subscriptions.descriptions.next() => {
                    // The request shows that workers have forgotten the run, so workers from before
                    // the restart have to join again.
                    self.returned.clear();
                    reply(&self.connection.client, request, self.signed.clone()).await;
                }
                Some(request) = subscriptions.programs.next() => if may_reply(&request) {
                    let programs = self.programs.clone();
                    let client = self.connection.client.clone();
                    // The upload is a separate task, because an upload takes long and heartbeats
                    // must not wait.
                    tasks.spawn(async move {
                        let uploaded = match wire::read::<ProgramRequest>(&request.payload) {
                            Ok(wanted) => programs.upload(wanted.hash).await,
                            Err(error) => Err(error.to_string()),
                        };
                        reply(&client, request, uploaded.err().unwrap_or_default().into_bytes()).await;
                    });
                },
                // A `JoinSet` keeps finished tasks, such as uploads, until the tasks are joined. A
                // panic of a task must end the run instead of being lost.
                Some(ended) = tasks.join_next() => drop(task_output(ended)),
                disputed = self.audits.next() => self.decide(disputed).await,
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

    async fn execute(&mut self, command: JobCommand<A>) {
        match command {
            JobCommand::Play(pair, job) => {
                self.is_cancelled = false;
                match self.in_flight.request(pair, *job, self.now) {
                    Ok(attempt) => self.send(pair, attempt).await,
                    Err(parked) => {
                        for receipt in parked {
                            self.read_result(receipt).await;
                        }
                        // If no parked result was accepted, the old job may still be in the stream
                        // and assigned to a worker. A new job replaces the old job.
                        if self.in_flight.is_waiting(pair) {
                            self.resend(pair).await;
                        }
                    }
                }
            }
            JobCommand::Stored(pair) => {
                if self.finish_pair(pair).await {
                    let finding = self.policy.note_stored(pair);
                    self.exclude(finding).await;
                }
            }
            JobCommand::CancelAll(reply) => {
                self.send_to_workers(Notice::Cancel).await;
                // Beacons stop, because a beacon would make workers join again.
                self.is_cancelled = true;
                self.in_flight.cancel();
                self.audits.cancel();
                // Workers send no results of cancelled jobs.
                self.policy.started = StartedJobs::default();
                // Without a connection, a flush would wait until the timeout.
                if self.connection.is_connected() {
                    let _ = timeout(SHUTDOWN_TIMEOUT, self.connection.client.flush()).await;
                }
                let _ = reply.send(());
            }
            // The calling loop handles `Finish`.
            JobCommand::Finish(_) => {}
        }
    }

    /// Sends the job of a pair, unless the server still has a job of the pair from before a
    /// restart.
    async fn send(&mut self, pair: u64, attempt: u32) {
        if let Some(job) = self.in_flight.job(pair) {
            let nonce = self.secret.nonce(pair, attempt);
            let expires = unix_time_us() + JOB_LIFETIME.as_micros() as u64;
            let only_for = self.audits.auditor(pair).cloned();
            let run_id = self.description.run_id.clone();
            let work = job.work();
            let subject = run_id.coordinator_subject();
            let job = Job { run_id, number: pair, attempt, nonce, expires, only_for, work };
            let job = wire::sign(&job, &self.key);
            if pair < AUDITS {
                // The receiver lives as long as the coordinator.
                let _ = self.outgoing.send(Outgoing::Job { pair, attempt, job });
            } else {
                // An audit in the stream would probably go to the worker with the most requests.
                // That worker could withhold the audit from the worker that was drawn.
                let _ = self.connection.client.publish(subject, job.into()).await;
            }
        }
    }

    /// Resends the job of a pair in flight, as a new attempt.
    async fn resend(&mut self, pair: u64) {
        if let Some(attempt) = self.in_flight.resend(pair, self.now) {
            self.send(pair, attempt).await;
        }
    }

    async fn handle_stream_event(&mut self, event: StreamEvent) {
        match event {
            StreamEvent::Sent { pair, sent } => {
                if !self.in_flight.sent(pair, sent, self.now) {
                    // The pair was finished while its job was on the way to the server. No worker
                    // needs to play the pair again.
                    self.remove_job(pair);
                }
            }
            StreamEvent::Drained => {
                self.is_drained = true;
                self.update_room();
            }
            StreamEvent::Result(message) => {
                let Ok(receipt) = message.info().map(|info| info.stream_sequence) else { return };
                // The acknowledgement of this result was lost. The result has been handled and must
                // not count twice.
                if self.acknowledged.contains(receipt) {
                    let _ = message.ack().await;
                    return;
                }
                // A redelivered result has a new reply subject for its acknowledgement. Apart from
                // this subject, the result is identical to the result that is being handled, whose
                // content may have been dropped.
                if let Some(handled) = self.unacknowledged.get_mut(&receipt) {
                    handled.message.reply = message.message.reply;
                } else {
                    self.unacknowledged.insert(receipt, message);
                    self.take_result(receipt).await;
                }
            }
        }
    }

    async fn send_to_workers(&mut self, notice: Notice) {
        let run_id = self.description.run_id.clone();
        let subject = run_id.coordinator_subject();
        let message = CoordinatorMessage { run_id, at: self.next_at(), notice };
        let signed = wire::sign(&message, &self.key);
        let _ = self.connection.client.publish(subject, signed.into()).await;
    }

    /// Returns the time stamp of a new message to workers, as Unix time in microseconds. The time
    /// stamp is later than the time stamps of all earlier messages.
    fn next_at(&mut self) -> u64 {
        // Workers ignore messages that are not later than the last message, so time stamps must
        // increase even if the clock is set back.
        self.last_at = unix_time_us().max(self.last_at + 1);
        self.last_at
    }

    /// Sends an event to the dispatcher.
    fn notify(&self, event: JobEvent<A::Done>) {
        let _ = self.end.events.send(event);
    }

    fn remark(&mut self, worker: &str, pair: Option<u64>, text: String) {
        if self.policy.remarks.allows(worker) {
            // Users know the number of the audited pair, not the number of the audit.
            let pair = pair.map(|pair| pair & !AUDITS);
            self.notify(JobEvent::Noted(Remark { worker: worker.to_owned(), pair, text }));
        }
    }

    async fn tick(&mut self, count: u64) {
        self.update_room();
        self.notify_new_workers();
        self.redraw_auditors().await;
        let is_ready = |name: &str| self.joined.contains(name) || self.returned.contains(name);
        let ready = self.players().filter(|(name, _)| is_ready(name));
        let idle: Vec<bool> = ready.map(|(_, status)| status.playing == 0).collect();
        self.in_flight.set_idle(&idle, self.now);
        let players = self.players().map(|(name, _)| name.to_owned()).collect();
        self.in_flight.set_players(players);
        self.extend_leases().await;
        if count.is_multiple_of(BEACON_TICKS) {
            self.send_beacon().await;
            self.count_workers();
        }
    }

    fn count_workers(&self) {
        let state = |(status, at): &(WorkerStatus, Duration)| {
            let silent = self.now.saturating_sub(*at).as_secs();
            WorkerState::of(status, u32::try_from(silent).unwrap_or(u32::MAX))
        };
        if self.connection.is_connected() {
            let (queued, playing) = self.in_flight.counts();
            self.metrics.set(self.workers.values().map(state), [queued, playing]);
        } else {
            self.metrics.disconnected()
        }
    }

    async fn send_beacon(&mut self) {
        // While there is no connection, the client queues messages, and would later send all stale
        // beacons. A worker that received a beacon of a cancelled run would request a description
        // that nobody sends.
        if self.connection.is_connected() && !self.is_cancelled {
            let (queued, playing) = self.in_flight.counts();
            let run_id = self.description.run_id.clone();
            let run = self.description.run.clone();
            let at = self.next_at();
            let beacon = Beacon { run_id, at, run, priority: self.priority, queued, playing };
            let signed = wire::sign(&beacon, &self.key);
            let _ = self.connection.client.publish(BEACONS, signed.into()).await;
        }
    }

    /// Notifies workers that the run has ended, and removes the streams of the run from the server.
    async fn clean_up(&mut self) {
        if self.connection.is_connected() {
            let cleaning = async {
                self.send_to_workers(Notice::Cancel).await;
                let _ = self.connection.client.flush().await;
                streams::remove(&self.connection, &self.description.run_id).await;
            };
            let _ = timeout(SHUTDOWN_TIMEOUT, cleaning).await;
        }
    }
}
