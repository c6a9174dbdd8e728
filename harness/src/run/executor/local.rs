//! Plays pairs on this machine.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

use super::rest::Rest;
use super::slot::{QUIT_GRACE, Slot};
use super::{Executor, JobEvent};
use crate::game::player::{Player, Seat};
use crate::process::Spawner;
use crate::run::job::PairJob;

/// A fixed number of slots, each a task of its own.
#[derive(Debug)]
pub struct Local {
    spawner: Spawner,
    seats: Arc<Vec<Seat>>,
    rest: Arc<Rest<Player>>,
    wait: Duration,
    /// Slots in all.
    slots: usize,
    /// Slots without work.
    idle: Vec<Slot>,
    /// Slots at work; a slot comes back with what became of its job.
    busy: JoinSet<()>,
    done: mpsc::UnboundedReceiver<(Slot, JobEvent)>,
    report: mpsc::UnboundedSender<(Slot, JobEvent)>,
}

impl Local {
    /// `slots` places for games between the engines in `seats`, which a job names by index, with
    /// a pause of `wait` between two games of a place.
    /// An error if no thread can be started.
    pub fn new(slots: usize, seats: Vec<Seat>, wait: Duration) -> io::Result<Local> {
        let spawner = Spawner::start()?;
        let seats = Arc::new(seats);
        let rest = Arc::new(Rest::new());
        let slot = |_| Slot::new(spawner.clone(), seats.clone(), rest.clone(), wait);
        let (report, done) = mpsc::unbounded_channel();
        Ok(Local {
            slots,
            idle: (0..slots).map(slot).collect(),
            spawner,
            seats,
            rest,
            wait,
            busy: JoinSet::new(),
            done,
            report,
        })
    }
}

impl Executor for Local {
    fn has_room(&self) -> bool {
        !self.idle.is_empty()
    }

    fn start(&mut self, job: PairJob) {
        let mut slot = self.idle.pop().expect("the caller asked for room first");
        let report = self.report.clone();
        self.busy.spawn(async move {
            let pair = job.pairing.pair;
            let event = match slot.play(job).await {
                Ok(played) => JobEvent::Played(played),
                Err(reason) => JobEvent::Failed { pair, reason },
            };
            // Nobody waits any more once the run has ended.
            let _ = report.send((slot, event));
        });
    }

    async fn next(&mut self) -> JobEvent {
        loop {
            tokio::select! {
                Some((slot, event)) = self.done.recv() => {
                    self.idle.push(slot);
                    return event;
                }
                // Tasks only report; one that ended otherwise has panicked.
                Some(ended) = self.busy.join_next() => {
                    if let Err(error) = ended
                        && error.is_panic()
                    {
                        std::panic::resume_unwind(error.into_panic());
                    }
                }
            }
        }
    }

    async fn cancel_all(&mut self) {
        // Dropping a task drops its players, which kills their engines.
        self.busy.shutdown().await;
        while let Ok((slot, _)) = self.done.try_recv() {
            self.idle.push(slot);
        }
        while self.idle.len() < self.slots {
            let rest = self.rest.clone();
            let seats = self.seats.clone();
            self.idle.push(Slot::new(self.spawner.clone(), seats, rest, self.wait));
        }
    }

    async fn finish(mut self) {
        self.cancel_all().await;
        let mut leaving = JoinSet::new();
        for mut slot in self.idle {
            leaving.spawn(async move { slot.clear().await });
        }
        for player in self.rest.leave_all() {
            leaving.spawn(player.quit(QUIT_GRACE));
        }
        while leaving.join_next().await.is_some() {}
    }
}
