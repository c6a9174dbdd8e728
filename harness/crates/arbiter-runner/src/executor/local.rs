//! Executor for pairs on this machine.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;

use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;

use super::engine_pool::EnginePool;
use super::slot::{LocalOptions, Shared, Slot};
use super::{Executor, JobEvent, task_output};
use crate::live_games::LiveGames;
use arbiter_game::engine::EngineSetup;
use arbiter_process::{Pulse, QUIT_GRACE, Spawner, allowed_cpus};
use arbiter_run::PairJob;

/// Maximum number of parallel engine starts per processor; more than one, because some engines wait
/// for the disk during the start.
const STARTS_PER_CPU: usize = 2;

/// Executor that plays pairs on this machine, each slot in a separate task.
#[derive(Debug)]
pub struct LocalExecutor {
    shared: Shared,
    /// Slots without work.
    idle: Vec<Slot>,
    /// Tasks that terminate engines that are no longer needed.
    terminating: JoinSet<()>,
    /// Numbers of all slots, idle or busy; the number of a slot determines its processors.
    taken: BTreeSet<usize>,
    /// Tasks of busy slots.
    busy: JoinSet<()>,
    /// Receiving end of the channel through which the slots send events.
    done: mpsc::UnboundedReceiver<(Option<Slot>, JobEvent)>,
}

impl LocalExecutor {
    /// Creates an executor for games between the engines in `setups`. Jobs refer to the engines by
    /// index. The executor lists its games in progress in `live_games`. Fails if a thread cannot be
    /// started.
    pub fn new(
        options: LocalOptions,
        setups: Vec<EngineSetup>,
        live_games: LiveGames,
    ) -> io::Result<LocalExecutor> {
        let spawner = Spawner::start()?;
        let setups = Arc::new(setups);
        // Startup timeouts count real time, so engines could exceed these timeouts if too many
        // engines start in parallel.
        let starts = Arc::new(Semaphore::new(allowed_cpus().len().max(1) * STARTS_PER_CPU));
        let pool = Arc::new(EnginePool::new());
        // The channel need not be bounded: pairs in flight are limited, and each pair sends only a
        // few events.
        let (events, done) = mpsc::unbounded_channel();
        let paused = events.clone();
        // If the channel is closed, the run has ended and the event is not needed.
        let pulse =
            Pulse::start(move |length| drop(paused.send((None, JobEvent::Paused(length)))))?;
        Ok(LocalExecutor {
            shared: Shared { spawner, starts, pulse, setups, pool, live_games, options, events },
            idle: Vec::new(),
            terminating: JoinSet::new(),
            taken: BTreeSet::new(),
            busy: JoinSet::new(),
            done,
        })
    }

    fn new_slot(&mut self) -> Slot {
        let number = (0..).find(|number| !self.taken.contains(number));
        let number = number.expect("the slots in use are finite in number");
        self.taken.insert(number);
        let mut shared = self.shared.clone();
        if let Some(cpus) = shared.options.cpu_sets.get(number) {
            shared.setups = Arc::new(shared.setups.iter().map(|setup| setup.on(cpus)).collect());
        }
        Slot::new(number, shared)
    }

    /// Returns the number of pairs in flight, each in a busy slot.
    fn in_flight(&self) -> usize {
        self.taken.len() - self.idle.len()
    }

    /// Adds a slot that has finished its job to the idle slots, and removes surplus idle slots.
    fn take_back(&mut self, slot: Option<Slot>) {
        if let Some(slot) = slot {
            self.idle.push(slot);
            self.dismiss();
        }
    }

    /// Removes surplus idle slots and terminates their engines.
    fn dismiss(&mut self) {
        let most = self.shared.options.slots.saturating_sub(self.in_flight());
        self.keep_idle(most);
    }

    /// Keeps at most `most` idle slots, removes the other idle slots, and terminates their engines.
    fn keep_idle(&mut self, most: usize) {
        for slot in self.idle.drain(most.min(self.idle.len())..) {
            self.taken.remove(&slot.number);
            // The engines exit in parallel, because each engine may take up to 1 s.
            for engine in slot.engines.into_values() {
                self.terminating.spawn(engine.quit(QUIT_GRACE));
            }
        }
        // Without this loop, finished tasks would stay in memory until the end of the run.
        while self.terminating.try_join_next().is_some() {}
    }
}

impl Executor for LocalExecutor {
    fn has_room(&self) -> bool {
        self.in_flight() < self.shared.options.slots
    }

    fn start(&mut self, job: PairJob) {
        let mut slot = self.idle.pop().unwrap_or_else(|| self.new_slot());
        let events = self.shared.events.clone();
        self.busy.spawn(async move {
            let pair = job.pairing.pair;
            let event = match slot.play(job).await {
                Ok(played) => JobEvent::Played { pair, played, worker: None },
                Err(reason) => JobEvent::Failed { pair, reason },
            };
            // If the channel is closed, the run has ended and the event is not needed.
            let _ = events.send((Some(slot), event));
        });
    }

    fn note_stored(&mut self, _pair: u64) {}

    fn release_idle(&mut self) {
        self.keep_idle(0);
        for engine in self.shared.pool.drain() {
            self.terminating.spawn(engine.quit(QUIT_GRACE));
        }
    }

    fn slots(&self) -> usize {
        self.shared.options.slots
    }

    fn set_slots(&mut self, slots: usize) -> Result<(), String> {
        let cpu_sets = self.shared.options.cpu_sets.len();
        if cpu_sets > 0 && slots > cpu_sets {
            return Err(format!("--affinity has processors for {cpu_sets} games in parallel"));
        }
        self.shared.options.slots = slots;
        self.dismiss();
        Ok(())
    }

    async fn next(&mut self) -> JobEvent {
        loop {
            tokio::select! {
                Some((slot, event)) = self.done.recv() => {
                    self.take_back(slot);
                    return event;
                }
                // Tasks send their results over the channel, so the end of a task matters only if
                // the task has panicked.
                Some(ended) = self.busy.join_next() => drop(task_output(ended)),
            }
        }
    }

    fn ready(&mut self) -> Option<JobEvent> {
        let (slot, event) = self.done.try_recv().ok()?;
        self.take_back(slot);
        Some(event)
    }

    async fn cancel_all(&mut self) {
        // Dropping a task drops its slot, which kills the engines of the slot.
        self.busy.shutdown().await;
        // Slots in the channel keep their engines. The events in the channel are dropped, because
        // all pairs in flight are abandoned.
        while let Ok((slot, _)) = self.done.try_recv() {
            self.idle.extend(slot);
        }
        self.taken = self.idle.iter().map(|slot| slot.number).collect();
    }

    async fn finish(mut self) {
        self.cancel_all().await;
        self.release_idle();
        while self.terminating.join_next().await.is_some() {}
    }
}
