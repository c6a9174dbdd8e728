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

/// Where and how games are played on this machine.
#[derive(Debug, Clone)]
pub struct Room {
    /// Games at once.
    pub slots: usize,
    /// Pause between two games of a slot.
    pub wait: Duration,
    /// Share of an engine's thinking time that may be lost for want of a processor; `None` does
    /// not measure.
    pub noise_limit: Option<f64>,
}

/// A number of slots, each a task of its own.
#[derive(Debug)]
pub struct Local {
    spawner: Spawner,
    seats: Arc<Vec<Seat>>,
    rest: Arc<Rest<Player>>,
    room: Room,
    /// Slots without work.
    idle: Vec<Slot>,
    /// Tasks that end engines of slots that are needed no more.
    leaving: JoinSet<()>,
    /// Pairs in flight.
    in_flight: usize,
    /// Slots at work; a slot comes back with what became of its job.
    busy: JoinSet<()>,
    done: mpsc::UnboundedReceiver<(Slot, JobEvent)>,
    report: mpsc::UnboundedSender<(Slot, JobEvent)>,
}

impl Local {
    /// Room for games between the engines in `seats`, which a job names by index.
    /// An error if no thread can be started.
    pub fn new(room: Room, seats: Vec<Seat>) -> io::Result<Local> {
        let spawner = Spawner::start()?;
        let seats = Arc::new(seats);
        let rest = Arc::new(Rest::new());
        let (report, done) = mpsc::unbounded_channel();
        Ok(Local {
            idle: Vec::new(),
            room,
            spawner,
            seats,
            rest,
            leaving: JoinSet::new(),
            in_flight: 0,
            busy: JoinSet::new(),
            done,
            report,
        })
    }
}

impl Local {
    fn new_slot(&self) -> Slot {
        Slot::new(self.spawner.clone(), self.seats.clone(), self.rest.clone(), &self.room)
    }

    /// Ends the engines of idle slots that are too many.
    fn dismiss(&mut self) {
        while self.idle.len() + self.in_flight > self.room.slots
            && let Some(mut slot) = self.idle.pop()
        {
            self.leaving.spawn(async move { slot.clear().await });
        }
        // What has left need not be remembered.
        while self.leaving.try_join_next().is_some() {}
    }
}

impl Executor for Local {
    fn has_room(&self) -> bool {
        self.in_flight < self.room.slots
    }

    fn start(&mut self, job: PairJob) {
        let mut slot = self.idle.pop().unwrap_or_else(|| self.new_slot());
        self.in_flight += 1;
        let report = self.report.clone();
        self.busy.spawn(async move {
            let pair = job.pairing.pair;
            let event = match slot.play(job).await {
                Ok((played, noise)) => JobEvent::Played { played, noise },
                Err(reason) => JobEvent::Failed { pair, reason },
            };
            // Nobody waits any more once the run has ended.
            let _ = report.send((slot, event));
        });
    }

    fn slots(&self) -> usize {
        self.room.slots
    }

    fn set_slots(&mut self, slots: usize) -> Result<(), String> {
        self.room.slots = slots;
        self.dismiss();
        Ok(())
    }

    async fn next(&mut self) -> JobEvent {
        loop {
            tokio::select! {
                Some((slot, event)) = self.done.recv() => {
                    self.in_flight -= 1;
                    self.idle.push(slot);
                    self.dismiss();
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
        self.in_flight = 0;
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
        while self.leaving.join_next().await.is_some() {}
    }
}
