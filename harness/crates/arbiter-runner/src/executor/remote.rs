//! Executor that plays pairs on other machines, through a channel to a coordinator.
//!
//! This module contains no network code: the coordinator has the other end of the channel, and
//! sends the pairs to workers. The channel can also transport jobs other than pairs.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Executor, JobEvent};
use arbiter_run::{PairJob, PlayedPair};

/// Command from the dispatcher to the coordinator.
#[derive(Debug)]
pub enum JobCommand<J = PairJob> {
    /// Assign the job with this number to a worker.
    Play(u64, Box<J>),
    /// The result of the job with this number is on disk.
    Stored(u64),
    /// Abandon all jobs in flight, and answer once all workers have been notified.
    CancelAll(oneshot::Sender<()>),
    /// End the run, and answer once the data of the run has been removed from the server.
    Finish(oneshot::Sender<()>),
}

/// Coordinator's end of the channel.
#[derive(Debug)]
pub struct CoordinatorEnd<J = PairJob, D = PlayedPair> {
    /// Commands from the dispatcher.
    pub commands: mpsc::UnboundedReceiver<JobCommand<J>>,
    /// Events for the dispatcher.
    pub events: mpsc::UnboundedSender<JobEvent<D>>,
    /// Maximum number of jobs in flight; 0 while there are no workers.
    pub room: watch::Sender<usize>,
}

/// Dispatcher's end of the channel.
#[derive(Debug)]
pub struct DispatcherEnd<J = PairJob, D = PlayedPair> {
    commands: mpsc::UnboundedSender<JobCommand<J>>,
    /// Events from the coordinator.
    pub events: mpsc::UnboundedReceiver<JobEvent<D>>,
    /// Maximum number of jobs in flight.
    pub room: watch::Receiver<usize>,
}

/// Creates a channel between a dispatcher and a coordinator, and returns both ends.
pub fn job_channel<J, D>() -> (DispatcherEnd<J, D>, CoordinatorEnd<J, D>) {
    // Neither channel need be bounded: `room` limits the jobs in flight, and each job has few
    // events.
    let (command_sender, commands) = mpsc::unbounded_channel();
    let (event_sender, events) = mpsc::unbounded_channel();
    let (room_sender, room) = watch::channel(0);
    let coordinator = CoordinatorEnd { commands, events: event_sender, room: room_sender };
    (DispatcherEnd { commands: command_sender, events, room }, coordinator)
}

impl<J, D> DispatcherEnd<J, D> {
    /// Sends a command. Failures are ignored: if the coordinator has ended, the event channel is
    /// closed too, and the dispatcher notices the closed channel.
    pub fn send(&self, command: JobCommand<J>) {
        let _ = self.commands.send(command);
    }

    /// Sends a command and waits for the answer; returns immediately if the coordinator has ended.
    pub async fn send_and_wait(&self, command: impl FnOnce(oneshot::Sender<()>) -> JobCommand<J>) {
        let (reply, answer) = oneshot::channel();
        self.send(command(reply));
        let _ = answer.await;
    }
}

/// Executor whose pairs are played by workers, through a coordinator.
#[derive(Debug)]
pub struct RemoteExecutor {
    channel: DispatcherEnd,
    /// Maximum number of pairs in flight; if `None`, only the workers' slots limit the number.
    most: Option<usize>,
    in_flight: BTreeSet<u64>,
}

impl RemoteExecutor {
    /// Creates an executor and its channel; returns the executor and the coordinator's end of the
    /// channel. `most` is the maximum number of pairs in flight.
    pub fn new(most: Option<usize>) -> (RemoteExecutor, CoordinatorEnd) {
        let (channel, end) = job_channel();
        (RemoteExecutor { channel, most, in_flight: BTreeSet::new() }, end)
    }

    /// Returns whether an event concerns the run or a pair in flight; `false` for an event of an
    /// abandoned pair.
    fn is_current(&mut self, event: &JobEvent) -> bool {
        match event {
            JobEvent::Played { pair, .. } => self.in_flight.remove(pair),
            JobEvent::Started { pairing, .. } | JobEvent::Ended { pairing, .. } => {
                self.in_flight.contains(&pairing.pair)
            }
            _ => true,
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
        // Without this call, workers would continue to play pairs of a run that has ended.
        if !self.in_flight.is_empty() {
            self.cancel_all().await;
        }
        self.channel.send_and_wait(JobCommand::Finish).await;
    }
}
