//! Pairs that are played on other machines, over a channel to a coordinator.
//!
//! Nothing here depends on networks: the coordinator sends the pairs out, and has its end of the
//! channel. The same channel serves for other jobs than pairs.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Executor, JobEvent};
use arbiter_plan::{PairJob, PlayedPair};

/// Command of the dispatcher to the coordinator.
#[derive(Debug)]
pub enum JobCommand<J = PairJob> {
    /// Have the job of this number done: the pair played.
    Play(u64, Box<J>),
    /// The outcome of the job of this number is on disk.
    Stored(u64),
    /// Abandon all jobs in flight, and answer once all workers are notified.
    CancelAll(oneshot::Sender<()>),
    /// End the run; answer once all of its data is removed from the server.
    Finish(oneshot::Sender<()>),
}

/// The coordinator's end of the channel.
#[derive(Debug)]
pub struct CoordinatorEnd<J = PairJob, D = PlayedPair> {
    /// Commands of the dispatcher.
    pub commands: mpsc::UnboundedReceiver<JobCommand<J>>,
    /// Events for the dispatcher.
    pub events: mpsc::UnboundedSender<JobEvent<D>>,
    /// Number of jobs that may be in flight; 0 before there is a worker.
    pub room: watch::Sender<usize>,
}

/// The dispatcher's end of the channel.
#[derive(Debug)]
pub struct DispatcherEnd<J = PairJob, D = PlayedPair> {
    commands: mpsc::UnboundedSender<JobCommand<J>>,
    /// Events of the coordinator.
    pub events: mpsc::UnboundedReceiver<JobEvent<D>>,
    /// Number of jobs that may be in flight.
    pub room: watch::Receiver<usize>,
}

/// Returns both ends of a new channel between a dispatcher and a coordinator.
pub fn job_channel<J, D>() -> (DispatcherEnd<J, D>, CoordinatorEnd<J, D>) {
    // Neither channel needs a bound, because `room` limits the jobs in flight and each has few
    // events.
    let (command_sender, commands) = mpsc::unbounded_channel();
    let (event_sender, events) = mpsc::unbounded_channel();
    let (room_sender, room) = watch::channel(0);
    let coordinator = CoordinatorEnd { commands, events: event_sender, room: room_sender };
    (DispatcherEnd { commands: command_sender, events, room }, coordinator)
}

impl<J, D> DispatcherEnd<J, D> {
    /// Sends a command. The loss of the coordinator is reported by its events.
    pub fn send(&self, command: JobCommand<J>) {
        let _ = self.commands.send(command);
    }

    /// Sends a command and waits for the answer; does nothing if the coordinator is gone.
    pub async fn send_and_wait(&self, command: impl FnOnce(oneshot::Sender<()>) -> JobCommand<J>) {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply));
        let _ = answer.await;
    }
}

/// Executor that has workers play the pairs, through a coordinator.
#[derive(Debug)]
pub struct RemoteExecutor {
    channel: DispatcherEnd,
    /// Maximum number of pairs in flight, if the user gives one; else as many as the workers have
    /// room for.
    most: Option<usize>,
    in_flight: BTreeSet<u64>,
}

impl RemoteExecutor {
    /// Returns the executor, and the coordinator's end of its channel; `most` limits the pairs in
    /// flight.
    pub fn new(most: Option<usize>) -> (RemoteExecutor, CoordinatorEnd) {
        let (channel, end) = job_channel();
        (RemoteExecutor { channel, most, in_flight: BTreeSet::new() }, end)
    }

    /// Returns whether an event is about a pair in flight or the run: pairs may have been abandoned
    /// in the meantime.
    fn is_current(&mut self, event: &JobEvent) -> bool {
        match event {
            JobEvent::Played { pair, .. } => self.in_flight.remove(pair),
            JobEvent::Started { pairing, .. } | JobEvent::Ended { pairing, .. } => {
                self.in_flight.contains(&pairing.pair)
            }
            JobEvent::Failed { .. }
            | JobEvent::Paused(_)
            | JobEvent::Noted(_)
            | JobEvent::Presence(_)
            | JobEvent::WorkerExcluded(_)
            | JobEvent::Unfit(_)
            | JobEvent::Lost(_) => true,
        }
    }
}

impl Executor for RemoteExecutor {
    fn has_room(&self) -> bool {
        let room = *self.channel.room.borrow();
        self.in_flight.len() < self.most.map_or(room, |most| most.min(room))
    }

    fn start(&mut self, job: PairJob) {
        let pair = job.pairing.pair;
        self.in_flight.insert(pair);
        self.channel.send(JobCommand::Play(pair, Box::new(job)));
    }

    fn note_stored(&mut self, pair: u64) {
        self.channel.send(JobCommand::Stored(pair));
    }

    fn release_idle(&mut self) {}

    fn slots(&self) -> usize {
        self.most.unwrap_or(*self.channel.room.borrow())
    }

    fn has_players(&self) -> bool {
        *self.channel.room.borrow() > 0
    }

    fn set_slots(&mut self, slots: usize) -> Result<(), String> {
        self.most = Some(slots);
        Ok(())
    }

    async fn next(&mut self) -> JobEvent {
        loop {
            let Some(event) = self.channel.events.recv().await else {
                return JobEvent::Lost("the link to the cluster has ended".to_owned());
            };
            if self.is_current(&event) {
                return event;
            }
        }
    }

    fn ready(&mut self) -> Option<JobEvent> {
        loop {
            let event = self.channel.events.try_recv().ok()?;
            if self.is_current(&event) {
                return Some(event);
            }
        }
    }

    async fn cancel_all(&mut self) {
        self.channel.send_and_wait(JobCommand::CancelAll).await;
        self.in_flight.clear();
    }

    async fn finish(mut self) {
        // Workers would otherwise play pairs of a run that has ended.
        if !self.in_flight.is_empty() {
            self.cancel_all().await;
        }
        self.channel.send_and_wait(JobCommand::Finish).await;
    }
}
