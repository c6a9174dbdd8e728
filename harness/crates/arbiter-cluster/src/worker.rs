//! A worker: a machine that plays pairs for coordinators.
//!
//! Each slot is a task with its own [`arbiter_runner::executor::local`] of one slot. The task of
//! [`serve`] reads beacons and coordinator messages, sends the worker's status, and extends the leases
//! of jobs whose results wait to be stored.

mod job_runner;
mod known_runs;
mod program_store;
mod run_setup;
mod slot;
mod slot_engines;
mod throughput;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::Subscriber;
use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt;
use tokio::sync::{Notify, Semaphore, broadcast, mpsc, watch};
use tokio::task::JoinSet;
use tokio::time::{Instant, interval, timeout};

use self::known_runs::KnownRuns;
use self::program_store::ProgramStore;
use self::throughput::Throughput;
use super::access::{AccessError, Link};
use super::subject::{ALL_COORDINATOR_MESSAGES, BEACON, worker_status};
use super::trust::PublicKey;
use super::wire::{Beacon, CoordinatorMessage, WorkerStatus};
use arbiter_process::Bounds;

/// Time between two ticks of a worker.
const TICK: Duration = Duration::from_millis(250);

/// Ticks between two status messages.
const STATUS_TICKS: u64 = 12;

/// How long the lease of a job is extended whose result nobody stores.
const MAX_HOLD: Duration = Duration::from_secs(24 * 3600);

/// How long a worker that leaves waits for its results to be stored, and again for its last messages to
/// be sent. The results are on the server by then.
const SHUTDOWN_WAIT: Duration = Duration::from_millis(400);

/// Stops of runs that may wait for a slot to read them.
const MAX_WAITING_STOPS: usize = 256;

/// How a worker is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name, unique on the server.
    pub name: String,
    /// Games at once.
    pub slots: usize,
    /// Keys of the coordinators whose programs it starts.
    pub trusted: Vec<PublicKey>,
    /// Folder of fetched programs.
    pub folder: PathBuf,
    /// Limits of each engine process, besides those of the run.
    pub bounds: Bounds,
    /// This program's file, which need not be fetched if a run asks for it.
    pub own_binary: PathBuf,
    /// The machine.
    pub machine: Machine,
}

/// The machine of a worker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Cores.
    pub cores: u32,
    /// Memory, in MiB.
    pub memory_mib: u64,
    /// Operating system and architecture.
    pub system: String,
    /// Name of the processor.
    pub cpu: String,
}

/// Whether a worker goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// It takes jobs.
    Working,
    /// It takes no more jobs and ends after the current ones.
    Leaving,
    /// It gives its current jobs back and ends.
    Aborting,
}

/// A job whose result is sent and waits to be stored.
#[derive(Debug)]
struct PendingJob {
    job: jetstream::Message,
    lease: Duration,
}

/// A run is not played any more; sent to all slots.
#[derive(Debug, Clone)]
struct RunStopped {
    token: String,
    /// Whether other workers go on, so that current jobs are given back.
    others_go_on: bool,
}

/// Token of a run, pair, and its job if its lease is to be extended from now on; `None` ends that.
type PendingChange = (String, u64, Option<PendingJob>);

/// What slots share.
#[derive(Debug)]
struct Shared {
    link: Link,
    config: Config,
    programs: ProgramStore,
    known_runs: Mutex<KnownRuns>,
    /// Something changed in `known_runs`.
    changed: Notify,
    cancelled: broadcast::Sender<RunStopped>,
    pending: mpsc::UnboundedSender<PendingChange>,
    phase: watch::Receiver<Phase>,
    /// Messages for the user.
    notes: mpsc::UnboundedSender<String>,
    playing: AtomicU32,
    pairs: AtomicU64,
    /// Pairs of the last minutes.
    throughput: Mutex<Throughput>,
    /// A permit for each slot; a game that needs much of the machine takes several.
    free_slots: Arc<Semaphore>,
}

impl Shared {
    fn new(
        link: Link,
        config: Config,
        phase: watch::Receiver<Phase>,
        pending: mpsc::UnboundedSender<PendingChange>,
        notes: mpsc::UnboundedSender<String>,
    ) -> Shared {
        Shared {
            free_slots: Arc::new(Semaphore::new(config.slots)),
            programs: ProgramStore::new(config.folder.clone(), config.own_binary.clone()),
            link,
            config,
            known_runs: Mutex::new(KnownRuns::default()),
            changed: Notify::new(),
            cancelled: broadcast::channel(MAX_WAITING_STOPS).0,
            pending,
            phase,
            notes,
            playing: AtomicU32::new(0),
            pairs: AtomicU64::new(0),
            throughput: Mutex::default(),
        }
    }

    fn known_runs(&self) -> MutexGuard<'_, KnownRuns> {
        // Nothing in there can panic half-way.
        self.known_runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn throughput(&self) -> MutexGuard<'_, Throughput> {
        // Nothing in there can panic half-way.
        self.throughput.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, text: String) {
        let _ = self.notes.send(text);
    }

    /// Stops playing for a run and tells the user why.
    fn refuse(&self, token: &str, why: String) {
        let news = self.known_runs().refuse(token, &why);
        if let Some(run) = news {
            self.note(format!("does not play run {run}: {why}"));
        }
    }

    fn status(&self, is_leaving: bool) -> Vec<u8> {
        let Config { name, slots, machine, .. } = &self.config;
        let (refusals, trouble) = self.known_runs().troubles();
        let (recent_pairs, recent_secs) = self.throughput().recent();
        let status = WorkerStatus {
            worker: name.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            slots: u32::try_from(*slots).unwrap_or(u32::MAX),
            playing: self.playing.load(Ordering::Relaxed),
            pairs: self.pairs.load(Ordering::Relaxed),
            recent_pairs,
            recent_secs,
            cores: machine.cores,
            memory_mib: machine.memory_mib,
            system: machine.system.clone(),
            cpu: machine.cpu.clone(),
            benches: self.known_runs().benches(),
            refusals,
            trouble,
            is_leaving,
        };
        status.write()
    }

    async fn send_status(&self, is_leaving: bool) {
        if self.link.is_connected() {
            let subject = worker_status(&self.config.name);
            let _ = self.link.client.publish(subject, self.status(is_leaving).into()).await;
        }
    }
}

/// Plays until `phase` ends it or the server denies permission.
pub async fn serve(
    link: Link,
    config: Config,
    mut phase: watch::Receiver<Phase>,
    notes: mpsc::UnboundedSender<String>,
) -> Result<(), AccessError> {
    let (mut beacons, mut messages) =
        (link.hear(BEACON).await?, link.hear(ALL_COORDINATOR_MESSAGES).await?);
    let (pending_sender, mut changes) = mpsc::unbounded_channel();
    let mut forbidden = link.forbidden.clone();
    let slots = config.slots;
    let shared = Arc::new(Shared::new(link, config, phase.clone(), pending_sender, notes));
    let mut slot_tasks = JoinSet::new();
    for _ in 0..slots {
        slot_tasks.spawn(slot::work(shared.clone()));
    }
    let mut pending = PendingResults::default();
    let mut tick = interval(TICK);
    let start = tick.tick().await;
    let mut ticks: u64 = 0;
    loop {
        tokio::select! {
            Some(beacon) = beacons.next() => if let Ok(beacon) = Beacon::read(&beacon.payload) {
                let is_new = shared.known_runs().hear(beacon);
                if is_new {
                    shared.send_status(false).await;
                }
                shared.changed.notify_waiters();
            },
            Some(message) = messages.next() => if let Some(token) = token_of(&message.subject) {
                // The job that the message is about may wait in the channel.
                pending.apply_all(&mut changes);
                pending.hear(&shared, token, CoordinatorMessage::read(&message.payload).ok());
            },
            Some(change) = changes.recv() => pending.apply(change),
            Ok(()) = forbidden.changed() => {
                if let Some(reason) = forbidden.borrow_and_update().clone() {
                    return Err(AccessError::Denied { what: "what workers need".into(), reason });
                }
            }
            _ = phase.changed() => shared.changed.notify_waiters(),
            ended = slot_tasks.join_next() => match ended {
                None => break,
                Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Some(_) => {}
            },
            at = tick.tick() => {
                ticks += 1;
                shared.known_runs().tick(at - start);
                shared.throughput().record(at, shared.pairs.load(Ordering::Relaxed));
                pending.tick(at).await;
                if ticks.is_multiple_of(STATUS_TICKS) {
                    shared.send_status(false).await;
                }
            }
        }
    }
    pending.apply_all(&mut changes);
    shut_down(&shared, pending, messages).await;
    Ok(())
}

/// Waits a moment for the last results to be stored, and says that the worker leaves.
async fn shut_down(shared: &Shared, mut pending: PendingResults, mut messages: Subscriber) {
    // Without a connection nothing can be sent.
    if !shared.link.is_connected() {
        return;
    }
    let stored = async {
        while !pending.jobs.is_empty()
            && let Some(message) = messages.next().await
        {
            if let Some(token) = token_of(&message.subject) {
                pending.hear(shared, token, CoordinatorMessage::read(&message.payload).ok());
            }
        }
    };
    let _ = timeout(SHUTDOWN_WAIT, stored).await;
    shared.send_status(true).await;
    let _ = timeout(SHUTDOWN_WAIT, shared.link.client.flush()).await;
}

/// The token of the run in the subject of a message.
fn token_of(subject: &str) -> Option<&str> {
    subject.split('.').nth(2)
}

/// Jobs whose results wait to be stored; extends their leases, so that the server gives them to no
/// other worker.
#[derive(Debug, Default)]
struct PendingResults {
    /// By token of the run and pair.
    jobs: BTreeMap<(String, u64), Entry>,
}

#[derive(Debug)]
struct Entry {
    job: PendingJob,
    /// Time of the first tick, and of the last extension; `None` before.
    since: Option<[Instant; 2]>,
}

impl PendingResults {
    fn apply(&mut self, (token, pair, job): PendingChange) {
        match job {
            Some(job) => drop(self.jobs.insert((token, pair), Entry { job, since: None })),
            None => drop(self.jobs.remove(&(token, pair))),
        }
    }

    fn apply_all(&mut self, changes: &mut mpsc::UnboundedReceiver<PendingChange>) {
        while let Ok(change) = changes.try_recv() {
            self.apply(change);
        }
    }

    fn hear(&mut self, shared: &Shared, token: &str, message: Option<CoordinatorMessage>) {
        match message {
            Some(CoordinatorMessage::Stored(pair)) => {
                self.jobs.remove(&(token.to_owned(), pair));
            }
            Some(CoordinatorMessage::Refused { worker, pair, why })
                if worker == shared.config.name =>
            {
                self.jobs.remove(&(token.to_owned(), pair));
                shared.note(format!("a result was refused, of pair {}: {why}", pair + 1));
                shared.known_runs().trouble(why);
            }
            Some(CoordinatorMessage::Cancel) => {
                self.jobs.retain(|(other, _), _| other != token);
                shared.known_runs().forget(token);
                // An error means that no slot plays.
                let stopped = RunStopped { token: token.to_owned(), others_go_on: false };
                let _ = shared.cancelled.send(stopped);
            }
            Some(CoordinatorMessage::Exclude { worker, why }) if worker == shared.config.name => {
                self.jobs.retain(|(other, _), _| other != token);
                shared.refuse(token, why);
                let stopped = RunStopped { token: token.to_owned(), others_go_on: true };
                let _ = shared.cancelled.send(stopped);
            }
            Some(CoordinatorMessage::Refused { .. } | CoordinatorMessage::Exclude { .. })
            | None => {}
        }
    }

    /// Extends the leases that need it.
    async fn tick(&mut self, now: Instant) {
        self.jobs.retain(|_, entry| entry.since.is_none_or(|[first, _]| now < first + MAX_HOLD));
        for Entry { job: held, since } in self.jobs.values_mut() {
            let [_, last] = since.get_or_insert([now; 2]);
            if now >= *last + held.lease / 3 {
                *last = now;
                let _ = held.job.ack_with(AckKind::Progress).await;
            }
        }
    }
}
