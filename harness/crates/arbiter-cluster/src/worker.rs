//! A machine that plays pairs for coordinators.
//!
//! Each slot is a task of its own with one [`arbiter_runner::executor::local`] of one slot; what they share is here. This task
//! listens, says who is there, and keeps hold of jobs whose results wait to be stored.

mod board;
mod contract;
mod doing;
mod library;
mod slot;
mod table;
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

use self::board::Board;
use self::library::Library;
use self::throughput::Throughput;
use super::access::{AccessError, Link};
use super::subject::{ALL_COORDINATOR_MESSAGES, BEACON, worker_status};
use super::trust::PublicKey;
use super::wire::{Beacon, CoordinatorMessage, WorkerStatus};
use arbiter_process::Bounds;

/// How often a worker looks around.
const BEAT: Duration = Duration::from_millis(250);

/// Ticks between two status messages.
const STATUS_TICKS: u64 = 12;

/// How long a job is kept alive whose result nobody stores.
const HOLD: Duration = Duration::from_secs(24 * 3600);

/// How long a worker that leaves waits for its results to be stored, and for its last messages to be
/// heard. The results are on the server.
const FAREWELL: Duration = Duration::from_millis(400);

/// Stops of runs that may wait for a slot to read them.
const MAX_WAITING_STOPS: usize = 256;

/// How a worker is set up.
#[derive(Debug, Clone)]
pub struct Config {
    /// Its name, unique in the cluster.
    pub name: String,
    /// Games at once.
    pub slots: usize,
    /// Whose programs it starts.
    pub trusted: Vec<PublicKey>,
    /// Where programs are kept.
    pub folder: PathBuf,
    /// What a process of an engine may take, whatever a run allows.
    pub bounds: Bounds,
    /// This very program, which need not be fetched if a run asks for it.
    pub own_binary: PathBuf,
    /// What it runs on.
    pub machine: Machine,
}

/// What a worker runs on.
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

/// How a worker goes on, the most patient way first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pace {
    /// It takes jobs.
    Working,
    /// It takes no more jobs, and leaves after those in hand.
    Leaving,
    /// It gives back what it has in hand.
    Aborting,
}

/// A job whose result is on the server, and waits to be stored.
#[derive(Debug)]
struct Held {
    job: jetstream::Message,
    lease: Duration,
}

/// A run is not played any more.
#[derive(Debug, Clone)]
struct Halt {
    token: String,
    /// Whether others play on, who want what is in hand.
    is_ours_alone: bool,
}

/// A job of a run and pair is held from now on, or no more.
type Holding = (String, u64, Option<Held>);

/// What slots share.
#[derive(Debug)]
struct Shared {
    link: Link,
    config: Config,
    library: Library,
    board: Mutex<Board>,
    /// Something changed on the board.
    changed: Notify,
    /// Runs that are not played any more.
    cancelled: broadcast::Sender<Halt>,
    held: mpsc::UnboundedSender<Holding>,
    pace: watch::Receiver<Pace>,
    /// What people should know.
    notes: mpsc::UnboundedSender<String>,
    playing: AtomicU32,
    pairs: AtomicU64,
    /// The same of late.
    throughput: Mutex<Throughput>,
    /// A permit for each slot: a game that needs much of the machine takes several.
    room: Arc<Semaphore>,
}

impl Shared {
    fn new(
        link: Link,
        config: Config,
        pace: watch::Receiver<Pace>,
        held: mpsc::UnboundedSender<Holding>,
        notes: mpsc::UnboundedSender<String>,
    ) -> Shared {
        Shared {
            room: Arc::new(Semaphore::new(config.slots)),
            library: Library::new(config.folder.clone(), config.own_binary.clone()),
            link,
            config,
            board: Mutex::new(Board::default()),
            changed: Notify::new(),
            cancelled: broadcast::channel(MAX_WAITING_STOPS).0,
            held,
            pace,
            notes,
            playing: AtomicU32::new(0),
            pairs: AtomicU64::new(0),
            throughput: Mutex::default(),
        }
    }

    fn board(&self) -> MutexGuard<'_, Board> {
        // Nothing in there can panic half-way.
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn throughput(&self) -> MutexGuard<'_, Throughput> {
        // Nothing in there can panic half-way.
        self.throughput.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, text: String) {
        let _ = self.notes.send(text);
    }

    /// Plays no more of a run, and says why.
    fn refuse(&self, token: &str, why: String) {
        let news = self.board().refuse(token, &why);
        if let Some(run) = news {
            self.note(format!("does not play run {run}: {why}"));
        }
    }

    fn status(&self, is_leaving: bool) -> Vec<u8> {
        let Config { name, slots, machine, .. } = &self.config;
        let (refusals, trouble) = self.board().troubles();
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
            benches: self.board().benches(),
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

/// Plays until the pace says that it is enough, or the server forbids it.
pub async fn serve(
    link: Link,
    config: Config,
    mut pace: watch::Receiver<Pace>,
    notes: mpsc::UnboundedSender<String>,
) -> Result<(), AccessError> {
    let (mut beacons, mut messages) =
        (link.hear(BEACON).await?, link.hear(ALL_COORDINATOR_MESSAGES).await?);
    let (held, mut holding) = mpsc::unbounded_channel();
    let mut forbidden = link.forbidden.clone();
    let slots = config.slots;
    let shared = Arc::new(Shared::new(link, config, pace.clone(), held, notes));
    let mut at_work = JoinSet::new();
    for _ in 0..slots {
        at_work.spawn(slot::work(shared.clone()));
    }
    let mut holder = Holder::default();
    let mut beat = interval(BEAT);
    let start = beat.tick().await;
    let mut beats: u64 = 0;
    loop {
        tokio::select! {
            Some(beacon) = beacons.next() => if let Ok(beacon) = Beacon::read(&beacon.payload) {
                let is_new = shared.board().hear(beacon);
                if is_new {
                    shared.send_status(false).await;
                }
                shared.changed.notify_waiters();
            },
            Some(message) = messages.next() => if let Some(token) = token_of(&message.subject) {
                // What it may be about was held before.
                holder.take_all(&mut holding);
                holder.hear(&shared, token, CoordinatorMessage::read(&message.payload).ok());
            },
            Some(held) = holding.recv() => holder.take(held),
            Ok(()) = forbidden.changed() => {
                if let Some(reason) = forbidden.borrow_and_update().clone() {
                    return Err(AccessError::Denied { what: "what workers need".into(), reason });
                }
            }
            _ = pace.changed() => shared.changed.notify_waiters(),
            ended = at_work.join_next() => match ended {
                None => break,
                Some(Err(error)) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                Some(_) => {}
            },
            at = beat.tick() => {
                beats += 1;
                shared.board().look(at - start);
                shared.throughput().look(at, shared.pairs.load(Ordering::Relaxed));
                holder.look(at).await;
                if beats.is_multiple_of(STATUS_TICKS) {
                    shared.send_status(false).await;
                }
            }
        }
    }
    holder.take_all(&mut holding);
    say_farewell(&shared, holder, messages).await;
    Ok(())
}

/// Waits a moment for the last results to be stored, and leaves.
async fn say_farewell(shared: &Shared, mut holder: Holder, mut messages: Subscriber) {
    // Nobody hears who is cut off.
    if !shared.link.is_connected() {
        return;
    }
    let stored = async {
        while !holder.held.is_empty()
            && let Some(message) = messages.next().await
        {
            if let Some(token) = token_of(&message.subject) {
                holder.hear(shared, token, CoordinatorMessage::read(&message.payload).ok());
            }
        }
    };
    let _ = timeout(FAREWELL, stored).await;
    shared.send_status(true).await;
    let _ = timeout(FAREWELL, shared.link.client.flush()).await;
}

/// The token of the run in the subject of a message.
fn token_of(subject: &str) -> Option<&str> {
    subject.split('.').nth(2)
}

/// Keeps jobs from being given to others while their results wait to be stored.
#[derive(Debug, Default)]
struct Holder {
    /// By run and pair.
    held: BTreeMap<(String, u64), Kept>,
}

#[derive(Debug)]
struct Kept {
    held: Held,
    /// When it was first looked at, and when the server was last told; `None` before.
    since: Option<[Instant; 2]>,
}

impl Holder {
    fn take(&mut self, (token, pair, held): Holding) {
        match held {
            Some(held) => drop(self.held.insert((token, pair), Kept { held, since: None })),
            None => drop(self.held.remove(&(token, pair))),
        }
    }

    fn take_all(&mut self, holding: &mut mpsc::UnboundedReceiver<Holding>) {
        while let Ok(held) = holding.try_recv() {
            self.take(held);
        }
    }

    fn hear(&mut self, shared: &Shared, token: &str, message: Option<CoordinatorMessage>) {
        match message {
            Some(CoordinatorMessage::Stored(pair)) => {
                self.held.remove(&(token.to_owned(), pair));
            }
            Some(CoordinatorMessage::Refused { worker, pair, why })
                if worker == shared.config.name =>
            {
                self.held.remove(&(token.to_owned(), pair));
                shared.note(format!("a result was refused, of pair {}: {why}", pair + 1));
                shared.board().trouble(why);
            }
            Some(CoordinatorMessage::Cancel) => {
                self.held.retain(|(other, _), _| other != token);
                shared.board().forget(token);
                // Only slots that play are there to hear it.
                let halt = Halt { token: token.to_owned(), is_ours_alone: false };
                let _ = shared.cancelled.send(halt);
            }
            Some(CoordinatorMessage::Aside { worker, why }) if worker == shared.config.name => {
                self.held.retain(|(other, _), _| other != token);
                shared.refuse(token, why);
                let halt = Halt { token: token.to_owned(), is_ours_alone: true };
                let _ = shared.cancelled.send(halt);
            }
            Some(CoordinatorMessage::Refused { .. } | CoordinatorMessage::Aside { .. }) | None => {}
        }
    }

    /// Says of each job from time to time that it is in good hands.
    async fn look(&mut self, now: Instant) {
        self.held.retain(|_, kept| kept.since.is_none_or(|[first, _]| now < first + HOLD));
        for Kept { held, since } in self.held.values_mut() {
            let [_, last] = since.get_or_insert([now; 2]);
            if now >= *last + held.lease / 3 {
                *last = now;
                let _ = held.job.ack_with(AckKind::Progress).await;
            }
        }
    }
}
