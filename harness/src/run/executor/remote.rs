//! Pairs that are played elsewhere: the end at which the dispatcher sits.
//!
//! Knows nothing of networks. Whoever sends the pairs out holds the other end, [`Ends`].

use std::collections::BTreeSet;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Executor, JobEvent};
use crate::run::job::PairJob;

/// What the dispatcher wants done.
#[derive(Debug)]
pub enum Order {
    /// Have this pair played.
    Play(Box<PairJob>),
    /// The outcome of this pair is on disk.
    Stored(u64),
    /// Give up all pairs in flight, and answer once that has been told to everybody.
    CancelAll(oneshot::Sender<()>),
    /// The run needs nobody any more; answer once everything is put away.
    Finish(oneshot::Sender<()>),
}

/// The other end.
#[derive(Debug)]
pub struct Ends {
    /// What the dispatcher wants.
    pub orders: mpsc::UnboundedReceiver<Order>,
    /// What the dispatcher hears.
    pub events: mpsc::UnboundedSender<JobEvent>,
    /// How many pairs may be in flight; 0 before there is anybody.
    pub room: watch::Sender<usize>,
}

/// Plays pairs by having others play them.
#[derive(Debug)]
pub struct Remote {
    orders: mpsc::UnboundedSender<Order>,
    events: mpsc::UnboundedReceiver<JobEvent>,
    room: watch::Receiver<usize>,
    /// Pairs in flight at most, if the user says so; else as many as the others have room for.
    most: Option<usize>,
    in_flight: BTreeSet<u64>,
}

impl Remote {
    /// Both ends of a new link; `most` bounds the pairs in flight.
    pub fn new(most: Option<usize>) -> (Remote, Ends) {
        let (order, orders) = mpsc::unbounded_channel();
        let (event, events) = mpsc::unbounded_channel();
        let (room, rooms) = watch::channel(0);
        let in_flight = BTreeSet::new();
        let remote = Remote { orders: order, events, room: rooms, most, in_flight };
        (remote, Ends { orders, events: event, room })
    }

    /// Whether an event is about the run as it is: pairs may have been given up in the meantime.
    fn is_current(&mut self, event: &JobEvent) -> bool {
        match event {
            JobEvent::Played { played, .. } => self.in_flight.remove(&played.pairing.pair),
            JobEvent::Started { pairing, .. } => self.in_flight.contains(&pairing.pair),
            JobEvent::Failed { .. }
            | JobEvent::Noted(_)
            | JobEvent::SetAside(_)
            | JobEvent::Unfit(_)
            | JobEvent::Lost(_) => true,
        }
    }

    /// Tells the other end, which may be gone; that shows in `next`.
    fn order(&self, order: Order) {
        let _ = self.orders.send(order);
    }
}

impl Executor for Remote {
    fn has_room(&self) -> bool {
        let room = *self.room.borrow();
        self.in_flight.len() < self.most.map_or(room, |most| most.min(room))
    }

    fn start(&mut self, job: PairJob) {
        self.in_flight.insert(job.pairing.pair);
        self.order(Order::Play(Box::new(job)));
    }

    fn stored(&mut self, pair: u64) {
        self.order(Order::Stored(pair));
    }

    fn release_idle(&mut self) {}

    fn slots(&self) -> usize {
        self.most.unwrap_or(*self.room.borrow())
    }

    fn set_slots(&mut self, slots: usize) -> Result<(), String> {
        self.most = Some(slots);
        Ok(())
    }

    async fn next(&mut self) -> JobEvent {
        loop {
            let Some(event) = self.events.recv().await else {
                return JobEvent::Lost("the link to the cluster has ended".to_owned());
            };
            if self.is_current(&event) {
                return event;
            }
        }
    }

    fn ready(&mut self) -> Option<JobEvent> {
        loop {
            let event = self.events.try_recv().ok()?;
            if self.is_current(&event) {
                return Some(event);
            }
        }
    }

    async fn cancel_all(&mut self) {
        let (told, answer) = oneshot::channel();
        self.order(Order::CancelAll(told));
        // An end that is gone has nothing to give up.
        let _ = answer.await;
        self.in_flight.clear();
    }

    async fn finish(mut self) {
        if !self.in_flight.is_empty() {
            self.cancel_all().await;
        }
        let (told, answer) = oneshot::channel();
        self.order(Order::Finish(told));
        let _ = answer.await;
    }
}
