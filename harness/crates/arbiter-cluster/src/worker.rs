//! A worker: a machine that plays pairs for coordinators.
//!
//! Each slot is a task with its own [`LocalExecutor`](arbiter_runner::LocalExecutor) of one slot. The task of
//! [`serve`] reads beacons and coordinator messages, sends the worker's status, and extends the leases
//! of jobs whose results wait to be stored.

pub(crate) mod job_runner;
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
use super::connection::{AccessError, Connection};
use super::run_id::RunId;
use super::subject::{ALL_COORDINATOR_MESSAGES, BEACONS, worker_status};
use super::trust::PublicKey;
use super::wire::{self, CoordinatorMessage, Notice, WorkerStatus};
use arbiter_process::{ResourceLimits, Sandbox, Spawner};

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
    /// Keys of the coordinators whose programs it starts.
    pub trusted: Vec<PublicKey>,
    /// Folder of fetched programs.
    pub folder: PathBuf,
    /// Limits of each engine process, besides those of the run.
    pub limits: ResourceLimits,
    /// What each engine process may read, write and reach, whatever the run says.
    pub sandbox: Option<Sandbox>,
    /// This program's file, which need not be fetched if a run asks for it.
    pub own_binary: PathBuf,
    /// Starts the engines of suites.
    pub spawner: Spawner,
    /// Its status as far as that stays the same: version, slots, machine.
    pub status: WorkerStatus,
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
    /// Time of the first tick, and of the last extension; `None` before.
    since: Option<[Instant; 2]>,
}

/// A run is not played any more; sent to all slots.
#[derive(Debug, Clone)]
struct RunStopped {
    run_id: RunId,
    /// Whether other workers go on, so that current jobs are given back.
    others_go_on: bool,
}

/// A run, a pair, and its job if its lease is to be extended from now on; `None` ends that.
type PendingChange = (RunId, u64, Option<PendingJob>);

/// What slots share.
#[derive(Debug)]
struct Shared {
    connection: Connection,
    config: Config,
    programs: ProgramStore,
    known_runs: Mutex<KnownRuns>,
    /// Something changed in `known_runs`.
    changed: Notify,
    cancelled: broadcast::Sender<RunStopped>,
    pending: mpsc::UnboundedSender<PendingChange>,
    phase: watch::Receiver<Phase>,
    /// Messages for the user.
    log: mpsc::UnboundedSender<String>,
    playing: AtomicU32,
    pairs: AtomicU64,
    /// Pairs of the last minutes.
    throughput: Mutex<Throughput>,
    /// A permit for each slot; a game that needs much of the machine takes several.
    free_slots: Arc<Semaphore>,
}

impl Shared {
    fn new(
        connection: Connection,
        config: Config,
        phase: watch::Receiver<Phase>,
        pending: mpsc::UnboundedSender<PendingChange>,
        log: mpsc::UnboundedSender<String>,
    ) -> Shared {
        Shared {
            free_slots: Arc::new(Semaphore::new(config.status.slots as usize)),
            programs: ProgramStore::new(config.folder.clone(), config.own_binary.clone()),
            connection,
            config,
            known_runs: Mutex::new(KnownRuns::default()),
            changed: Notify::new(),
            cancelled: broadcast::channel(MAX_WAITING_STOPS).0,
            pending,
            phase,
            log,
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

    fn log(&self, text: String) {
        let _ = self.log.send(text);
    }

    /// Tells the user of a problem, once if it is that of the last time.
    fn trouble(&self, what: String) {
        let before = self.known_runs().trouble.replace(what.clone());
        if before.as_ref() != Some(&what) {
            self.log(what);
        }
    }

    /// Stops playing for a run and tells the user why.
    fn refuse(&self, run_id: &RunId, why: String) {
        let refused = self.known_runs().refuse(run_id, &why);
        if let Some(run) = refused {
            self.log(format!("does not play run {run}: {why}"));
        }
    }

    async fn send_status(&self, is_leaving: bool) {
        if !self.connection.is_connected() {
            return;
        }
        let (recent_pairs, recent_secs) = self.throughput().recent();
        let status = {
            let known_runs = self.known_runs();
            WorkerStatus {
                playing: self.playing.load(Ordering::Relaxed),
                pairs: self.pairs.load(Ordering::Relaxed),
                recent_pairs,
                recent_secs,
                benches: known_runs.benches(),
                refusals: known_runs.refusals(),
                trouble: known_runs.trouble.clone(),
                is_leaving,
                ..self.config.status.clone()
            }
            .bounded()
        };
        let subject = worker_status(&self.config.name);
        let _ = self.connection.client.publish(subject, wire::write(&status).into()).await;
    }
}

/// Plays until `phase` ends it or the server denies permission.
pub async fn serve(
    mut connection: Connection,
    config: Config,
    mut phase: watch::Receiver<Phase>,
    log: mpsc::UnboundedSender<String>,
) -> Result<(), AccessError> {
    let mut beacons = connection.subscribe(BEACONS).await?;
    let mut messages = connection.subscribe(ALL_COORDINATOR_MESSAGES).await?;
    let (pending_sender, mut changes) = mpsc::unbounded_channel();
    let slots = config.status.slots;
    let shared =
        Arc::new(Shared::new(connection.clone(), config, phase.clone(), pending_sender, log));
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
            Some(message) = beacons.next() => {
                // One that nobody trusted has signed says of which run to ask, and is refused then.
                let verified = wire::verified(&message.payload, &shared.config.trusted);
                let verified = verified.map(|(beacon, key)| (beacon, Some(key)));
                let unverified = |_| wire::unverified(&message.payload).map(|beacon| (beacon, None));
                let Ok((beacon, key)) = verified.or_else(unverified) else { continue };
                let is_new = shared.known_runs().update(beacon, key);
                if is_new {
                    shared.send_status(false).await;
                }
                shared.changed.notify_waiters();
            },
            Some(message) = messages.next() => {
                // The job that the message is about may wait in the channel.
                pending.apply_all(&mut changes);
                pending.receive(&shared, &message);
            }
            Some(change) = changes.recv() => pending.apply(change),
            reason = connection.denied() => {
                return Err(AccessError::Denied { what: "what workers need".into(), reason });
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
    if !shared.connection.is_connected() {
        return;
    }
    let stored = async {
        while !pending.jobs.is_empty()
            && let Some(message) = messages.next().await
        {
            pending.receive(shared, &message);
        }
    };
    let _ = timeout(SHUTDOWN_WAIT, stored).await;
    shared.send_status(true).await;
    let _ = timeout(SHUTDOWN_WAIT, shared.connection.client.flush()).await;
}

/// Jobs whose results wait to be stored; extends their leases, so that the server gives them to no
/// other worker.
#[derive(Debug, Default)]
struct PendingResults {
    /// By run and pair.
    jobs: BTreeMap<(RunId, u64), PendingJob>,
}

impl PendingResults {
    fn apply(&mut self, (run_id, pair, job): PendingChange) {
        match job {
            Some(job) => drop(self.jobs.insert((run_id, pair), job)),
            None => drop(self.jobs.remove(&(run_id, pair))),
        }
    }

    fn apply_all(&mut self, changes: &mut mpsc::UnboundedReceiver<PendingChange>) {
        while let Ok(change) = changes.try_recv() {
            self.apply(change);
        }
    }

    fn receive(&mut self, shared: &Shared, message: &async_nats::Message) {
        let Some(run_id) = RunId::of_subject(&message.subject) else { return };
        let key = shared.known_runs().key(&run_id);
        let trusted = key.as_ref().map_or(&shared.config.trusted[..], std::slice::from_ref);
        let message = wire::verified::<CoordinatorMessage>(&message.payload, trusted);
        let Some((message, _)) = message.ok().filter(|(message, _)| message.run_id == run_id)
        else {
            return;
        };
        let Some(notice) = shared.known_runs().hear(message) else { return };
        match notice {
            Notice::Stored(pair) => drop(self.jobs.remove(&(run_id, pair))),
            Notice::Refused { worker, pair, why } if worker == shared.config.name => {
                self.jobs.remove(&(run_id, pair));
                shared.log(format!("a result was refused, of pair {}: {why}", pair + 1));
                shared.known_runs().trouble = Some(why);
            }
            Notice::Cancel => {
                shared.known_runs().forget(&run_id);
                self.stop(shared, RunStopped { run_id, others_go_on: false });
            }
            Notice::Exclude { worker, why } if worker == shared.config.name => {
                shared.refuse(&run_id, why);
                self.stop(shared, RunStopped { run_id, others_go_on: true });
            }
            Notice::Refused { .. } | Notice::Exclude { .. } => {}
        }
    }

    fn stop(&mut self, shared: &Shared, stopped: RunStopped) {
        self.jobs.retain(|(run_id, _), _| *run_id != stopped.run_id);
        // An error means that no slot plays.
        let _ = shared.cancelled.send(stopped);
    }

    /// Extends the leases that need it.
    async fn tick(&mut self, now: Instant) {
        self.jobs.retain(|_, held| held.since.is_none_or(|[first, _]| now < first + MAX_HOLD));
        for PendingJob { job, lease, since } in self.jobs.values_mut() {
            let [_, last] = since.get_or_insert([now; 2]);
            if now >= *last + *lease / 3 {
                *last = now;
                let _ = job.ack_with(AckKind::Progress).await;
            }
        }
    }
}
