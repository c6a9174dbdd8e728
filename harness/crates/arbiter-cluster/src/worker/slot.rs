//! One place at which pairs are played for coordinators, one after another.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{interval, sleep, timeout};

use super::board::Choice;
use super::contract::Contract;
use super::doing::{Asking, Doing, count, search};
use super::table::Table;
use super::{Halt, Held, Pace, Shared};
use crate::wire::{self, Heartbeat, JobResult, Payload, Report, Work};
use arbiter_game::pulse::Pulse;
use arbiter_runner::executor::{Executor, JobEvent};

/// How long a request for a job waits for one.
const TAKE: Duration = Duration::from_secs(2);

/// The same where another run has work.
const BRIEFLY: Duration = Duration::from_millis(100);

/// How much longer than that the server may take to say that there is none.
const GRACE: Duration = Duration::from_secs(3);

/// How long a job may still come to a slot that leaves; one that waits in the stream comes at once.
const LAST_JOB: Duration = Duration::from_millis(100);

/// Pause before something is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// Requests in vain after which engines need not wait any more.
const IDLE: u32 = 5;

/// Heartbeats that a slot sends within a lease, at least.
const HEARTBEATS_PER_LEASE: u32 = 6;

/// What became of a job.
enum End<D> {
    /// This is to be reported.
    Reported(Box<Report<D>>),
    /// The run wants no more of it.
    Cancelled,
    /// We want no more of it.
    Aborted,
}

/// Plays for whoever needs it, until the worker leaves.
pub(super) async fn work(shared: Arc<Shared>) {
    let mut table: Option<Table> = None;
    let mut in_vain = 0;
    let mut pace = shared.pace.clone();
    while *shared.pace.borrow() == Pace::Working {
        let mut finding = pin!(find(&shared));
        let found = tokio::select! {
            found = &mut finding => found,
            () = reached(&mut pace, Pace::Leaving) => {
                // A job that is on its way already need not wait for its lease.
                if let Ok(Some(found)) = timeout(LAST_JOB, finding).await {
                    let _ = found.job.ack_with(AckKind::Nak(None)).await;
                }
                break;
            }
        };
        // The room is ours until the job is done.
        let Some(Found { contract, job, room: _room }) = found else {
            in_vain += 1;
            rest(&mut table, in_vain).await;
            continue;
        };
        in_vain = 0;
        match Table::sit_down(table.take(), &contract).await {
            Ok(seated) => {
                let table = table.insert(seated);
                shared.playing.fetch_add(1, Ordering::Relaxed);
                play(&shared, table, job).await;
                shared.playing.fetch_sub(1, Ordering::Relaxed);
            }
            Err(error) => {
                // Somebody else may have what we lack.
                let _ = job.ack_with(AckKind::Nak(Some(AGAIN))).await;
                shared.refuse(&contract.description.token, error);
            }
        }
    }
    if let Some(table) = table {
        table.finish().await;
    }
}

/// A job, and what is needed to play it.
struct Found {
    contract: Arc<Contract>,
    job: jetstream::Message,
    room: OwnedSemaphorePermit,
}

/// Looks for a job for a while. May be given up at any moment, as none of it is ours alone.
async fn find(shared: &Shared) -> Option<Found> {
    let mut cancelled = shared.cancelled.subscribe();
    let chosen = shared.board().choose();
    let Some(Choice { token, agreement, has_rival }) = chosen else {
        // Whatever changed in between shows the next time.
        let _ = timeout(AGAIN, shared.changed.notified()).await;
        return None;
    };
    let make = || async { Contract::agree(shared, &token).await.map(Arc::new) };
    let contract = match agreement.get_or_init(make).await {
        Ok(contract) => contract.clone(),
        Err(why) => {
            shared.refuse(&token, why.clone());
            return None;
        }
    };
    let room = shared.room.clone().acquire_many_owned(contract.slots);
    // Nobody ever closes it; that it is full may last.
    let room = timeout(TAKE, room).await.ok()?.ok()?;
    let job = tokio::select! {
        job = take(shared, &contract, if has_rival { BRIEFLY } else { TAKE }) => job,
        // The server forgets to answer who waits for jobs of a stream that is removed.
        () = ended(&mut cancelled, &token) => None,
    };
    match &job {
        Some(_) => shared.board().took(&token),
        None => shared.board().is_dry(&token),
    }
    Some(Found { contract, job: job?, room })
}

/// Waits until nobody plays for a run any more.
async fn ended(cancelled: &mut broadcast::Receiver<Halt>, token: &str) {
    loop {
        match cancelled.recv().await {
            Ok(halt) if halt.token == token && !halt.is_ours_alone => return,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// Ends engines that had nothing to play for long.
async fn rest(table: &mut Option<Table>, in_vain: u32) {
    if in_vain == IDLE
        && let Some(table) = table
    {
        table.release_idle().await;
    }
}

/// The next job of a run; `None` if there is none within this time.
async fn take(
    shared: &Shared,
    contract: &Contract,
    within: Duration,
) -> Option<jetstream::Message> {
    let taking = async {
        let fetched = contract.jobs.fetch().max_messages(1).expires(within).messages().await;
        match fetched.ok()?.next().await {
            Some(Ok(job)) => Some(job),
            _ => None,
        }
    };
    match timeout(within + GRACE, taking).await {
        Ok(Some(job)) => Some(job),
        Ok(None) => {
            // A server that is away answers at once that it is.
            if !shared.link.is_connected() {
                sleep(AGAIN).await;
            }
            None
        }
        Err(_) => None,
    }
}

/// A job in hand.
struct InHand<'a> {
    shared: &'a Shared,
    contract: &'a Contract,
    message: &'a jetstream::Message,
    number: u64,
    attempt: u32,
    cancelled: broadcast::Receiver<Halt>,
}

/// Does a job and reports what became of it.
async fn play(shared: &Shared, table: &mut Table, message: jetstream::Message) {
    let contract = table.contract.clone();
    let token = &contract.description.token;
    let (work, attempt) = match wire::read_job(&message.payload, &contract.description) {
        Ok(read) => read,
        Err(error) => {
            // Nobody else could read it either.
            let _ = message.ack_with(AckKind::Term).await;
            return shared.refuse(token, format!("a job that cannot be read: {error}"));
        }
    };
    let in_hand = InHand {
        shared,
        contract: &contract,
        message: &message,
        number: work.number(),
        attempt,
        // Words of before are not about this job.
        cancelled: shared.cancelled.subscribe(),
    };
    match work {
        Work::Pair(job) => {
            let pulse = job.games.first.pulse.clone();
            table.local.start(job);
            in_hand.see_through(&mut table.local, pulse).await;
        }
        Work::Search(question) => match table.asked() {
            Ok(asked) => {
                let mut asking = Asking::new(search(asked, question, &contract.description));
                in_hand.see_through(&mut asking, Pulse::default()).await;
            }
            Err(error) => in_hand.refuse(error).await,
        },
        Work::Count(counting) => match table.asked() {
            Ok(asked) => {
                let mut asking = Asking::new(count(asked, counting));
                in_hand.see_through(&mut asking, Pulse::default()).await;
            }
            Err(error) => in_hand.refuse(error).await,
        },
    }
}

impl InHand<'_> {
    /// Leaves it to others: they may have what we lack.
    async fn refuse(self, why: String) {
        let _ = self.message.ack_with(AckKind::Nak(Some(AGAIN))).await;
        self.shared.refuse(&self.contract.description.token, why);
    }

    /// Waits for the end of what is done, and reports it.
    async fn see_through<T: Doing<Done: Payload>>(mut self, doing: &mut T, pulse: Pulse) {
        let report = match self.attend(doing, pulse).await {
            End::Reported(report) => *report,
            End::Cancelled => return,
            End::Aborted => {
                let _ = self.message.ack_with(AckKind::Nak(None)).await;
                return;
            }
        };
        let (shared, message) = (self.shared, self.message);
        let token = &self.contract.description.token;
        let is_done = match &report {
            Report::Played(done, _) => {
                shared.board().played(token, T::has_broken(done));
                true
            }
            Report::Failed(reason) => {
                shared.refuse(token, reason.clone());
                false
            }
        };
        let result = JobResult {
            token: token.clone(),
            worker: shared.config.name.clone(),
            ack: message.reply.as_ref().map_or_else(String::new, |reply| reply.to_string()),
            number: self.number,
            attempt: self.attempt,
            report,
        };
        if is_done {
            // Before anybody can have stored it.
            let held = Held { job: message.clone(), lease: self.contract.description.lease };
            let _ = shared.held.send((token.clone(), self.number, Some(held)));
        }
        if !self.deliver(result).await {
            let _ = shared.held.send((token.clone(), self.number, None));
            // Whoever still wants the pair gets it at once.
            let _ = message.ack_with(AckKind::Nak(None)).await;
        } else if is_done {
            shared.pairs.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for the end, and says as long as it goes on that it does.
    async fn attend<T: Doing>(&mut self, doing: &mut T, pulse: Pulse) -> End<T::Done> {
        let description = &self.contract.description;
        let mut half = None;
        let mut pace = self.shared.pace.clone();
        let mut beat =
            interval((description.lease / HEARTBEATS_PER_LEASE).min(Duration::from_secs(5)));
        let mut life = Life { pulse, seen: 0, since: beat.tick().await };
        self.heartbeat(half).await;
        loop {
            tokio::select! {
                event = doing.next() => match event {
                    JobEvent::Played { played, noise, .. } => {
                        return End::Reported(Box::new(Report::Played(played, noise)));
                    }
                    JobEvent::Failed { reason, .. }
                    | JobEvent::Lost(reason)
                    | JobEvent::Unfit(reason) => {
                        return End::Reported(Box::new(Report::Failed(reason)));
                    }
                    JobEvent::Started { half: begun, .. } => {
                        half = u8::try_from(begun).ok();
                        self.heartbeat(half).await;
                    }
                    JobEvent::Noted(_) | JobEvent::SetAside(_) => {}
                },
                heard = self.cancelled.recv() => {
                    if let Ok(halt) = heard
                        && halt.token == description.token
                    {
                        doing.give_up().await;
                        return if halt.is_ours_alone { End::Aborted } else { End::Cancelled };
                    }
                }
                () = reached(&mut pace, Pace::Aborting) => {
                    doing.give_up().await;
                    return End::Aborted;
                }
                now = beat.tick() => {
                    // The job of a game that hangs is given to others, for we do not ask for more
                    // time.
                    if life.goes_on(now, description.patience) {
                        let _ = self.message.ack_with(AckKind::Progress).await;
                        self.heartbeat(half).await;
                    }
                }
            }
        }
    }

    async fn heartbeat(&self, half: Option<u8>) {
        let Shared { link, config, .. } = self.shared;
        if link.is_connected() {
            let heartbeat = Heartbeat { worker: config.name.clone(), pair: self.number, half };
            let subject = self.contract.names.heartbeat(&heartbeat.worker);
            let _ = link.client.publish(subject, heartbeat.write().into()).await;
        }
    }

    /// Sends a result until the server has it; `false` if nobody wants it any more.
    async fn deliver<D: Payload>(&mut self, result: JobResult<D>) -> bool {
        let Shared { link, pace, .. } = self.shared;
        let mut pace = pace.clone();
        let subject = self.contract.names.result(self.number, &result.worker);
        let ack = result.ack.clone();
        let bytes = wire::write_result(result, link.max_payload());
        loop {
            let send = async {
                // One that is sent twice for want of an answer is there once.
                let message = PublishMessage::build().payload(bytes.clone().into());
                let sent =
                    link.stream.send_publish(subject.clone(), message.message_id(&ack)).await;
                match sent {
                    Ok(ack) => ack.await.is_ok(),
                    Err(_) => false,
                }
            };
            let token = &self.contract.description.token;
            tokio::select! {
                is_there = send => if is_there {
                    return true;
                },
                heard = self.cancelled.recv() => {
                    if heard.is_ok_and(|halt| halt.token == *token) {
                        return false;
                    }
                }
                () = reached(&mut pace, Pace::Aborting) => return false,
            }
            let _ = self.message.ack_with(AckKind::Progress).await;
            sleep(AGAIN).await;
        }
    }
}

/// Waits until the worker goes on like that, or has even less patience.
async fn reached(pace: &mut watch::Receiver<Pace>, least: Pace) {
    if pace.wait_for(|pace| *pace >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether a game goes on, by the answers of its engines.
struct Life {
    pulse: Pulse,
    seen: u64,
    since: tokio::time::Instant,
}

impl Life {
    fn goes_on(&mut self, now: tokio::time::Instant, patience: Duration) -> bool {
        let count = self.pulse.count();
        if count != self.seen {
            (self.seen, self.since) = (count, now);
        }
        now - self.since < patience
    }
}
