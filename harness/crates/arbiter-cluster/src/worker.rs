//! Worker that plays pairs for coordinators.
//!
//! Each slot is a task with its own [`LocalExecutor`](arbiter_runner::LocalExecutor) of one slot.
//! The task of [`serve`] reads beacons and coordinator messages, and sends the worker's status.

mod known_runs;
mod program_store;
mod run_setup;
mod slot;
pub(crate) mod slot_engines;
mod throughput;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::StreamExt;
use tokio::sync::{Notify, Semaphore, broadcast, watch};
use tokio::task::JoinSet;
use tokio::time::{interval, timeout};

use self::known_runs::KnownRuns;
use super::connection::{AccessError, Connection, denied};
use super::metrics::WorkerMetrics;
use super::subject::{ALL_COORDINATOR_MESSAGES, BEACONS, RunId, worker_status};
use super::trust::PublicKey;
use super::wire::{
    self, CoordinatorMessage, EXCLUDED, Job, Notice, WireError, WorkMessage, WorkerStatus,
};
use arbiter_process::{ResourceLimits, Sandbox, Spawner};
use arbiter_runner::task_output;

/// Time between two ticks of a worker. Timeouts, metrics and status messages are handled on ticks.
const TICK: Duration = Duration::from_millis(250);

/// Number of ticks between two status messages: one status every three seconds. Coordinators
/// consider a worker gone after ten seconds, so two statuses may be lost.
const STATUS_TICKS: u64 = 12;

/// Time limit for the last messages of a worker that leaves, after its results were sent. A worker
/// without pairs has to exit within a second of Ctrl-C (docs/distributed.md).
const SHUTDOWN_WAIT: Duration = Duration::from_millis(400);

/// Maximum number of unread stop notices per slot. A slot that misses a notice only learns later
/// that its run has ended.
const MAX_WAITING_STOPS: usize = 256;

/// Configuration of a worker.
#[derive(Debug, Clone)]
pub struct Config {
    /// Name, unique on the server.
    pub name: String,
    /// Keys of the coordinators whose programs the worker starts.
    pub trusted: Vec<PublicKey>,
    /// Folder of fetched programs.
    pub folder: PathBuf,
    /// Resource limits of each engine process, in addition to the limits of the run.
    pub limits: ResourceLimits,
    /// Sandbox of each engine process, whatever the run requests; `None` for no sandbox.
    pub sandbox: Option<Sandbox>,
    /// Path of this program. If a run requires the same file, the worker uses this program instead
    /// of fetching the file.
    pub own_binary: PathBuf,
    /// Spawner of the engines of suites.
    pub spawner: Spawner,
    /// Constant part of the worker's status: version, slots, machine.
    pub status: WorkerStatus,
    /// Metrics of the worker.
    pub metrics: WorkerMetrics,
}

/// Phase of a worker's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// The worker takes jobs.
    Working,
    /// The worker takes no more jobs and ends after its current jobs.
    Leaving,
    /// The worker gives its current jobs back and ends.
    Aborting,
}

/// Notice to all slots that the worker no longer plays a run.
#[derive(Debug, Clone)]
struct RunStopped {
    run_id: RunId,
    /// `true` if other workers continue the run, in which case current jobs are given back.
    others_continue: bool,
}

/// Shared state of all slots.
#[derive(Debug)]
struct Shared {
    connection: Connection,
    config: Config,
    /// Lock held while a program is looked up and downloaded, so that no program is fetched twice.
    fetching: tokio::sync::Mutex<()>,
    known_runs: Mutex<KnownRuns>,
    /// Notification of changes in `known_runs`.
    changed: Notify,
    cancelled: broadcast::Sender<RunStopped>,
    phase: watch::Receiver<Phase>,
    /// Free slots, as permits; a game with large requirements takes several permits.
    free_slots: Arc<Semaphore>,
}

impl Shared {
    fn known_runs(&self) -> MutexGuard<'_, KnownRuns> {
        // Code that holds the lock does not panic in the middle of a change, so the value is valid
        // even if the lock is poisoned.
        self.known_runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports a problem to the user, unless the problem equals the last problem.
    fn report_problem(&self, problem: String) {
        // Slots repeat their requests, and would fill the log with the same problem.
        let before = self.known_runs().trouble.replace(problem.clone());
        if before.as_ref() != Some(&problem) {
            log::warn!(worker:% = self.config.name; "{problem}");
        }
    }

    /// Stops playing a run and reports the reason to the user.
    fn refuse(&self, run_id: &RunId, why: String) {
        let refused = self.known_runs().refuse(run_id, &why);
        if let Some(run) = refused {
            let worker = &self.config.name;
            log::warn!(worker:%, run:%; "does not play run {run}: {why}");
        }
    }

    /// Returns whether the worker is connected, and reports a change since the last call, whose
    /// result is `was_connected`, to the user.
    fn record_connection(&self, was_connected: bool) -> bool {
        let worker = &self.config.name;
        let is_connected = self.connection.is_connected();
        if was_connected && !is_connected {
            log::warn!(
                worker:%;
                "lost the connection to the NATS server; reconnecting (if this takes long, check \
                 that the server runs and still accepts this worker)"
            );
        } else if is_connected && !was_connected {
            log::info!(worker:%; "connected to the NATS server again");
        }
        self.config.metrics.connected.set(is_connected.into());
        is_connected
    }

    async fn send_status(&self, is_leaving: bool) {
        // The client would queue the message and send a stale status after reconnecting.
        if !self.connection.is_connected() {
            return;
        }
        let metrics = &self.config.metrics;
        let status = {
            let known_runs = self.known_runs();
            let (recent_pairs, recent_secs) = known_runs.throughput.recent();
            WorkerStatus {
                playing: u32::try_from(metrics.playing.get()).unwrap_or_default(),
                pairs: metrics.pairs.get(),
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

/// Runs a worker until `phase` changes to a phase that ends the worker. Returns an error if the
/// server denies a permission.
pub async fn serve(
    mut connection: Connection,
    config: Config,
    mut phase: watch::Receiver<Phase>,
) -> Result<(), AccessError> {
    let mut beacons = connection.subscribe(BEACONS).await?;
    let mut messages = connection.subscribe(ALL_COORDINATOR_MESSAGES).await?;
    let slots = config.status.slots;
    let shared = Arc::new(Shared {
        free_slots: Arc::new(Semaphore::new(slots as usize)),
        connection: connection.clone(),
        config,
        fetching: tokio::sync::Mutex::default(),
        known_runs: Mutex::default(),
        changed: Notify::new(),
        cancelled: broadcast::channel(MAX_WAITING_STOPS).0,
        phase: phase.clone(),
    });
    let mut slot_tasks = JoinSet::new();
    for _ in 0..slots {
        slot_tasks.spawn(slot::work(shared.clone()));
    }
    let mut tick = interval(TICK);
    let start = tick.tick().await;
    let mut ticks: u64 = 0;
    let mut is_connected = true;
    loop {
        tokio::select! {
            Some(message) = beacons.next() => {
                // An unverified beacon has only one effect: the worker requests the description of
                // the run. The request then fails with a reason that the user sees.
                let verified = wire::verified(&message.payload, &shared.config.trusted);
                let verified = verified.map(|(beacon, key)| (beacon, Some(key)));
                let unverified = |_| wire::unverified(&message.payload).map(|beacon| (beacon, None));
                let (beacon, key) = match verified.or_else(unverified) {
                    Ok(heard) => heard,
                    Err(error @ WireError::Version(_)) => {
                        shared.report_problem(format!("cannot play a run: {error}"));
                        continue;
                    }
                    Err(_) => continue,
                };
                let is_new = shared.known_runs().update(beacon, key);
                if is_new {
                    shared.send_status(false).await;
                }
                shared.changed.notify_waiters();
            },
            Some(message) = messages.next() => receive(&shared, &message),
            reason = connection.denied() => return Err(denied("what workers need")(reason)),
            _ = phase.changed() => shared.changed.notify_waiters(),
            ended = slot_tasks.join_next() => match ended {
                None => break,
                // A panic must end the worker, because a silent loss of a slot would hide the bug.
                Some(ended) => drop(task_output(ended)),
            },
            at = tick.tick() => {
                ticks += 1;
                shared.known_runs().tick(at - start);
                let metrics = &shared.config.metrics;
                is_connected = shared.record_connection(is_connected);
                metrics.refused.set(shared.known_runs().refusals().len() as i64);
                shared.known_runs().throughput.record(at, metrics.pairs.get());
                if ticks.is_multiple_of(STATUS_TICKS) {
                    shared.send_status(false).await;
                }
            }
        }
    }
    // Without a connection, the flush would wait until the timeout.
    if shared.connection.is_connected() {
        shared.send_status(true).await;
        let _ = timeout(SHUTDOWN_WAIT, shared.connection.client.flush()).await;
    }
    Ok(())
}

/// Handles a coordinator message.
fn receive(shared: &Shared, message: &async_nats::Message) {
    let Some(run_id) = RunId::from_subject(&message.subject) else { return };
    let key = shared.known_runs().key(&run_id);
    // After joining, only the key that signed the description may stop the run, even if other keys
    // are trusted.
    let trusted = key.as_ref().map_or(&shared.config.trusted[..], std::slice::from_ref);
    if let Ok((job, _)) = wire::verified::<Job<WorkMessage>>(&message.payload, trusted) {
        if job.run_id == run_id && job.only_for.as_ref() == Some(&shared.config.name) {
            shared.known_runs().add_audit(&run_id, message.payload.to_vec());
            shared.changed.notify_waiters();
        }
        return;
    }
    let message = wire::verified::<CoordinatorMessage>(&message.payload, trusted);
    let message = message.ok().filter(|(message, _)| message.run_id == run_id);
    let Some(notice) = message.and_then(|(message, _)| shared.known_runs().take_notice(message))
    else {
        return;
    };
    // Sending a stop notice fails only if no slot is listening; then there is nothing to stop.
    match notice {
        Notice::Refused { worker, pair, why } if worker == shared.config.name => {
            let pair = pair + 1;
            log::warn!(worker:%, pair; "the result of pair {pair} was refused: {why}");
            shared.known_runs().trouble = Some(why);
        }
        Notice::Cancel => {
            shared.known_runs().forget(&run_id);
            let _ = shared.cancelled.send(RunStopped { run_id, others_continue: false });
        }
        Notice::Exclude { worker, why } if worker == shared.config.name => {
            shared.refuse(&run_id, format!("{EXCLUDED}{why}"));
            let _ = shared.cancelled.send(RunStopped { run_id, others_continue: true });
        }
        Notice::Refused { .. } | Notice::Exclude { .. } => {}
    }
}
