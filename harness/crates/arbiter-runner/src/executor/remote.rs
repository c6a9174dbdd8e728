//! Pairs that are played elsewhere: the end at which the dispatcher sits.
//!
//! Knows nothing of networks. Whoever sends the pairs out holds the other end, [`Ends`]. The same
//! link serves for other jobs than pairs.

use std::collections::BTreeSet;

use tokio::sync::{mpsc, oneshot, watch};

use super::{Executor, JobEvent};
use arbiter_plan::run::job::{PairJob, PlayedPair};

/// What the dispatcher wants done.
#[derive(Debug)]
pub enum Order<J = PairJob> {
    /// Have the pair of this number played.
    Play(u64, Box<J>),
    /// The outcome of this pair is on disk.
    Stored(u64),
    /// Give up all pairs in flight, and answer once that has been told to everybody.
    CancelAll(oneshot::Sender<()>),
    /// The run needs nobody any more; answer once everything is put away.
    Finish(oneshot::Sender<()>),
}

/// The other end.
#[derive(Debug)]
pub struct Ends<J = PairJob, D = PlayedPair> {
    /// What the dispatcher wants.
    pub orders: mpsc::UnboundedReceiver<Order<J>>,
    /// What the dispatcher hears.
    pub events: mpsc::UnboundedSender<JobEvent<D>>,
    /// How many pairs may be in flight; 0 before there is anybody.
    pub room: watch::Sender<usize>,
}

/// Our end.
#[derive(Debug)]
pub struct Link<J = PairJob, D = PlayedPair> {
    /// What we want.
    pub orders: mpsc::UnboundedSender<Order<J>>,
    /// What we hear.
    pub events: mpsc::UnboundedReceiver<JobEvent<D>>,
    /// How many jobs may be in flight.
    pub room: watch::Receiver<usize>,
}

/// Both ends of a new link.
pub fn link<J, D>() -> (Link<J, D>, Ends<J, D>) {
    let (order, orders) = mpsc::unbounded_channel();
    let (event, events) = mpsc::unbounded_channel();
    let (room, rooms) = watch::channel(0);
    (Link { orders: order, events, room: rooms }, Ends { orders, events: event, room })
}

impl<J, D> Link<J, D> {
    /// Tells the other end, which may be gone; that shows where events are waited for.
    pub fn order(&self, order: Order<J>) {
        let _ = self.orders.send(order);
    }

    /// Has the other end do something, and waits until it has; one that is gone has nothing to do.
    pub async fn have(&self, order: impl FnOnce(oneshot::Sender<()>) -> Order<J>) {
        let (told, answer) = oneshot::channel();
        self.order(order(told));
        let _ = answer.await;
    }
}

/// Plays pairs by having others play them.
#[derive(Debug)]
pub struct Remote {
    link: Link,
    /// Pairs in flight at most, if the user says so; else as many as the others have room for.
    most: Option<usize>,
    in_flight: BTreeSet<u64>,
}

impl Remote {
    /// Both ends of a new link; `most` bounds the pairs in flight.
    pub fn new(most: Option<usize>) -> (Remote, Ends) {
        let (link, ends) = link();
        (Remote { link, most, in_flight: BTreeSet::new() }, ends)
    }

    /// Whether an event is about the run as it is: pairs may have been given up in the meantime.
    fn is_current(&mut self, event: &JobEvent) -> bool {
        match event {
            JobEvent::Played { pair, .. } => self.in_flight.remove(pair),
            JobEvent::Started { pairing, .. } => self.in_flight.contains(&pairing.pair),
            JobEvent::Failed { .. }
            | JobEvent::Noted(_)
            | JobEvent::WorkerExcluded(_)
            | JobEvent::Unfit(_)
            | JobEvent::Lost(_) => true,
        }
    }
}

impl Executor for Remote {
    fn has_room(&self) -> bool {
        let room = *self.link.room.borrow();
        self.in_flight.len() < self.most.map_or(room, |most| most.min(room))
    }

    fn start(&mut self, job: PairJob) {
        let pair = job.pairing.pair;
        self.in_flight.insert(pair);
        self.link.order(Order::Play(pair, Box::new(job)));
    }

    fn stored(&mut self, pair: u64) {
        self.link.order(Order::Stored(pair));
    }

    fn release_idle(&mut self) {}

    fn slots(&self) -> usize {
        self.most.unwrap_or(*self.link.room.borrow())
    }

    fn set_slots(&mut self, slots: usize) -> Result<(), String> {
        self.most = Some(slots);
        Ok(())
    }

    async fn next(&mut self) -> JobEvent {
        loop {
            let Some(event) = self.link.events.recv().await else {
                return JobEvent::Lost("the link to the cluster has ended".to_owned());
            };
            if self.is_current(&event) {
                return event;
            }
        }
    }

    fn ready(&mut self) -> Option<JobEvent> {
        loop {
            let event = self.link.events.try_recv().ok()?;
            if self.is_current(&event) {
                return Some(event);
            }
        }
    }

    async fn cancel_all(&mut self) {
        self.link.have(Order::CancelAll).await;
        self.in_flight.clear();
    }

    async fn finish(mut self) {
        if !self.in_flight.is_empty() {
            self.cancel_all().await;
        }
        self.link.have(Order::Finish).await;
    }
}
