//! One place at which pairs are played for coordinators, one after another.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::{self, AckKind};
use futures_util::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{interval, sleep, timeout};

use super::contract::Contract;
use super::{Halt, Held, Pace, Shared};
use crate::broker::wire::{self, Arrival, Report, Sign};
use crate::game::pulse::Pulse;
use crate::run::executor::local::{Local, Room};
use crate::run::executor::{Executor, JobEvent};
use crate::run::job::PairJob;

/// How long a request for a job waits for one.
const TAKE: Duration = Duration::from_secs(2);

/// How much longer than that the server may take to say that there is none.
const GRACE: Duration = Duration::from_secs(3);

/// How long a job may still come to a slot that leaves; one that waits in the stream comes at once.
const LAST_JOB: Duration = Duration::from_millis(100);

/// Pause before something is tried again.
const AGAIN: Duration = Duration::from_millis(500);

/// Requests in vain after which engines need not wait any more.
const IDLE: u32 = 5;

/// How many times more often than needed a slot says that its game goes on.
const SIGNS: u32 = 6;

/// Engines at a table, and the run that they play for.
struct Table {
    contract: Arc<Contract>,
    local: Local,
}

/// What became of a job.
enum End {
    /// This is to be reported.
    Reported(Box<Report>),
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
            rest(&mut table, in_vain);
            continue;
        };
        in_vain = 0;
        match sit_down(table.take(), &contract).await {
            Ok(seated) => {
                let table = table.insert(seated);
                shared.playing.fetch_add(1, Ordering::Relaxed);
                play(&shared, table, job).await;
                shared.playing.fetch_sub(1, Ordering::Relaxed);
            }
            Err(error) => {
                // Somebody else may have what we lack.
                let _ = job.ack_with(AckKind::Nak(Some(AGAIN))).await;
                shared.refuse(&contract.head.token, error);
            }
        }
    }
    if let Some(table) = table {
        table.local.finish().await;
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
    let chosen = shared.board().choose();
    let Some((token, agreement)) = chosen else {
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
    let job = take(shared, &contract).await;
    match &job {
        Some(_) => shared.board().took(&token),
        None => shared.board().is_dry(&token),
    }
    Some(Found { contract, job: job?, room })
}

/// Ends engines that had nothing to play for long.
fn rest(table: &mut Option<Table>, in_vain: u32) {
    if in_vain == IDLE
        && let Some(table) = table
    {
        table.local.release_idle();
    }
}

/// The next job of a run; `None` if there is none for now.
async fn take(shared: &Shared, contract: &Contract) -> Option<jetstream::Message> {
    let taking = async {
        let fetched = contract.jobs.fetch().max_messages(1).expires(TAKE).messages().await;
        match fetched.ok()?.next().await {
            Some(Ok(job)) => Some(job),
            _ => None,
        }
    };
    match timeout(TAKE + GRACE, taking).await {
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

/// The table at which the engines of a run sit; those of another run leave.
async fn sit_down(table: Option<Table>, contract: &Arc<Contract>) -> Result<Table, String> {
    if let Some(table) = table {
        if Arc::ptr_eq(&table.contract, contract) {
            return Ok(table);
        }
        table.local.finish().await;
    }
    let head = &contract.head;
    let room =
        Room { slots: 1, wait: head.wait, noise_limit: head.noise_limit, places: Vec::new() };
    let local = Local::new(room, contract.seats.clone()).map_err(|error| error.to_string())?;
    Ok(Table { contract: contract.clone(), local })
}

/// Plays a job and reports what became of it.
async fn play(shared: &Shared, table: &mut Table, message: jetstream::Message) {
    let contract = table.contract.clone();
    let token = contract.head.token.clone();
    let (job, attempt) = match wire::read_job(&message.payload, &contract.head) {
        Ok(read) => read,
        Err(error) => {
            // Nobody else could read it either.
            let _ = message.ack_with(AckKind::Term).await;
            return shared.refuse(&token, format!("a job that cannot be read: {error}"));
        }
    };
    let pairing = job.pairing;
    // Words of before are not about this job.
    let mut cancelled = shared.cancelled.subscribe();
    let report = match play_out(shared, table, &message, job, &mut cancelled).await {
        End::Reported(report) => *report,
        End::Cancelled => return,
        End::Aborted => {
            let _ = message.ack_with(AckKind::Nak(None)).await;
            return;
        }
    };
    if let Report::Failed(reason) = &report {
        shared.refuse(&token, reason.clone());
    }
    let is_played = matches!(report, Report::Played(..));
    let arrival = Arrival {
        token: token.clone(),
        worker: shared.config.name.clone(),
        ack: message.reply.as_ref().map_or_else(String::new, |reply| reply.to_string()),
        pairing,
        attempt,
        report,
    };
    let pair = pairing.pair;
    if is_played {
        // Before anybody can have stored it.
        let held = Held { job: message.clone(), lease: contract.head.lease };
        let _ = shared.held.send((token.clone(), pair, Some(held)));
    }
    if !deliver(shared, &contract, &arrival, &message, &mut cancelled).await {
        let _ = shared.held.send((token, pair, None));
        // Whoever still wants the pair gets it at once.
        let _ = message.ack_with(AckKind::Nak(None)).await;
    } else if is_played {
        shared.pairs.fetch_add(1, Ordering::Relaxed);
    }
}

/// Plays the games of a job, and says as long as they go on that they do.
async fn play_out(
    shared: &Shared,
    table: &mut Table,
    message: &jetstream::Message,
    job: PairJob,
    cancelled: &mut broadcast::Receiver<Halt>,
) -> End {
    let head = &table.contract.head;
    let (pair, pulse) = (job.pairing.pair, job.games.first.pulse.clone());
    let mut half = None;
    let mut pace = shared.pace.clone();
    let mut beat = interval((head.lease / SIGNS).min(Duration::from_secs(5)));
    let mut life = Life { pulse, seen: 0, since: beat.tick().await };
    table.local.start(job);
    sign(shared, &table.contract, pair, half).await;
    loop {
        tokio::select! {
            event = table.local.next() => match event {
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
                    sign(shared, &table.contract, pair, half).await;
                }
                JobEvent::Noted(_) | JobEvent::SetAside(_) => {}
            },
            heard = cancelled.recv() => {
                if let Ok(halt) = heard
                    && halt.token == table.contract.head.token
                {
                    table.local.cancel_all().await;
                    return if halt.is_ours_alone { End::Aborted } else { End::Cancelled };
                }
            }
            () = reached(&mut pace, Pace::Aborting) => {
                table.local.cancel_all().await;
                return End::Aborted;
            }
            now = beat.tick() => {
                // The job of a game that hangs is given to others, for we do not ask for more time.
                if life.goes_on(now, table.contract.head.patience) {
                    let _ = message.ack_with(AckKind::Progress).await;
                    sign(shared, &table.contract, pair, half).await;
                }
            }
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

async fn sign(shared: &Shared, contract: &Contract, pair: u64, half: Option<u8>) {
    if shared.link.is_connected() {
        let sign = Sign { worker: shared.config.name.clone(), pair, half };
        let _ = shared.link.client.publish(contract.names.sign(), sign.write().into()).await;
    }
}

/// Sends a result until the server has it; `false` if nobody wants it any more.
async fn deliver(
    shared: &Shared,
    contract: &Contract,
    arrival: &Arrival,
    message: &jetstream::Message,
    cancelled: &mut broadcast::Receiver<Halt>,
) -> bool {
    let bytes = wire::write_result(arrival, shared.link.max_payload());
    let subject = contract.names.result(arrival.pairing.pair);
    let mut pace = shared.pace.clone();
    loop {
        let send = async {
            // One that is sent twice for want of an answer is there once.
            let message = PublishMessage::build().payload(bytes.clone().into());
            let message = message.message_id(&arrival.ack);
            let sent = shared.link.stream.send_publish(subject.clone(), message).await;
            match sent {
                Ok(ack) => ack.await.is_ok(),
                Err(_) => false,
            }
        };
        tokio::select! {
            is_there = send => if is_there {
                return true;
            },
            heard = cancelled.recv() => if heard.is_ok_and(|halt| halt.token == arrival.token) {
                return false;
            },
            () = reached(&mut pace, Pace::Aborting) => return false,
        }
        let _ = message.ack_with(AckKind::Progress).await;
        sleep(AGAIN).await;
    }
}
