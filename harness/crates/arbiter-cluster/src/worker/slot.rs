//! A slot of a worker: takes one job after another and does it.

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

use super::job_runner::{JobRunner, SuiteRunner, count, search};
use super::known_runs::Choice;
use super::run_setup::RunSetup;
use super::slot_engines::SlotEngines;
use super::{PendingJob, Phase, RunStopped, Shared};
use crate::wire::{self, Heartbeat, JobResult, Payload, Report, Work};
use arbiter_game::progress::Progress;
use arbiter_runner::executor::{Executor, JobEvent};

/// How long a request for a job waits at the server.
const TAKE: Duration = Duration::from_secs(2);

/// The same if another run has work.
const TAKE_SHORT: Duration = Duration::from_millis(100);

/// How much longer than that the server's answer may take.
const SERVER_GRACE: Duration = Duration::from_secs(3);

/// How long a slot that ends waits for the job that it has requested, to give it back; one that waits
/// in the stream comes at once.
const LAST_JOB: Duration = Duration::from_millis(100);

/// Pause before a failed request is repeated.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Requests without a job after which idle engines are ended.
const IDLE_TAKES: u32 = 5;

/// Heartbeats that a slot sends within a lease, at least.
const HEARTBEATS_PER_LEASE: u32 = 6;

/// How the work on a job ended.
enum End<D> {
    /// With this report.
    Reported(Box<Report<D>>),
    /// The run was cancelled.
    Cancelled,
    /// The worker gives it back.
    Aborted,
}

/// Takes jobs of all runs and does them, until the worker ends.
pub(super) async fn work(shared: Arc<Shared>) {
    let mut engines: Option<SlotEngines> = None;
    let mut empty_takes = 0;
    let mut phase = shared.phase.clone();
    while *shared.phase.borrow() == Phase::Working {
        let mut finding = pin!(find(&shared));
        let taken = tokio::select! {
            taken = &mut finding => taken,
            () = reached(&mut phase, Phase::Leaving) => {
                // A job that is on its way already is not left to wait for the end of its lease.
                if let Ok(Some(taken)) = timeout(LAST_JOB, finding).await {
                    let _ = taken.job.ack_with(AckKind::Nak(None)).await;
                }
                break;
            }
        };
        // The permit is held until the job is done.
        let Some(Taken { setup, job, permit: _permit }) = taken else {
            empty_takes += 1;
            if empty_takes == IDLE_TAKES
                && let Some(engines) = &mut engines
            {
                engines.release_idle().await;
            }
            continue;
        };
        empty_takes = 0;
        match SlotEngines::for_run(engines.take(), &setup).await {
            Ok(ready) => {
                let engines = engines.insert(ready);
                shared.playing.fetch_add(1, Ordering::Relaxed);
                play(&shared, engines, job).await;
                shared.playing.fetch_sub(1, Ordering::Relaxed);
            }
            Err(error) => {
                // Another worker may have what is missing here.
                let _ = job.ack_with(AckKind::Nak(Some(RETRY_PAUSE))).await;
                shared.refuse(&setup.description.token, error);
            }
        }
    }
    if let Some(engines) = engines {
        engines.finish().await;
    }
}

/// A job that was taken, and what is needed to do it.
struct Taken {
    setup: Arc<RunSetup>,
    job: jetstream::Message,
    permit: OwnedSemaphorePermit,
}

/// Takes a job of the run that comes first; `None` if there is none within some seconds.
/// Cancel-safe.
async fn find(shared: &Shared) -> Option<Taken> {
    let mut cancelled = shared.cancelled.subscribe();
    let chosen = shared.known_runs().choose();
    let Some(Choice { token, setup, others_have_work }) = chosen else {
        // A change since the choice is seen the next time.
        let _ = timeout(RETRY_PAUSE, shared.changed.notified()).await;
        return None;
    };
    let make = || async { RunSetup::make(shared, &token).await.map(Arc::new) };
    let setup = match setup.get_or_init(make).await {
        Ok(setup) => setup.clone(),
        Err(why) => {
            shared.refuse(&token, why.clone());
            return None;
        }
    };
    let permit = shared.free_slots.clone().acquire_many_owned(setup.slots);
    let permit = timeout(TAKE, permit).await.ok()?.ok()?;
    let job = tokio::select! {
        job = take(shared, &setup, if others_have_work { TAKE_SHORT } else { TAKE }) => job,
        // The server does not answer requests for jobs of a stream that is removed.
        () = ended(&mut cancelled, &token) => None,
    };
    match &job {
        Some(_) => shared.known_runs().mark_taken(&token),
        None => shared.known_runs().mark_empty(&token),
    }
    Some(Taken { setup, job: job?, permit })
}

/// Waits until a run is cancelled.
async fn ended(cancelled: &mut broadcast::Receiver<RunStopped>, token: &str) {
    loop {
        match cancelled.recv().await {
            Ok(stopped) if stopped.token == token && !stopped.others_go_on => return,
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// The next job of a run; `None` if there is none within this time.
async fn take(shared: &Shared, setup: &RunSetup, within: Duration) -> Option<jetstream::Message> {
    let taking = async {
        let fetched = setup.jobs.fetch().max_messages(1).expires(within).messages().await;
        match fetched.ok()?.next().await {
            Some(Ok(job)) => Some(job),
            _ => None,
        }
    };
    match timeout(within + SERVER_GRACE, taking).await {
        Ok(Some(job)) => Some(job),
        Ok(None) => {
            // Without a connection the request fails at once.
            if !shared.link.is_connected() {
                sleep(RETRY_PAUSE).await;
            }
            None
        }
        Err(_) => None,
    }
}

/// A job that is being done.
struct ActiveJob<'a> {
    shared: &'a Shared,
    setup: &'a RunSetup,
    message: &'a jetstream::Message,
    number: u64,
    attempt: u32,
    cancelled: broadcast::Receiver<RunStopped>,
}

/// Does a job and reports the result.
async fn play(shared: &Shared, engines: &mut SlotEngines, message: jetstream::Message) {
    let setup = engines.setup.clone();
    let token = &setup.description.token;
    let (work, attempt) = match wire::read_job(&message.payload, &setup.description) {
        Ok(read) => read,
        Err(error) => {
            // No other worker could read it either.
            let _ = message.ack_with(AckKind::Term).await;
            return shared.refuse(token, format!("a job that cannot be read: {error}"));
        }
    };
    let active = ActiveJob {
        shared,
        setup: &setup,
        message: &message,
        number: work.number(),
        attempt,
        // Earlier stops are not about this job.
        cancelled: shared.cancelled.subscribe(),
    };
    match work {
        Work::Pair(job) => {
            let progress = job.games.first.progress.clone();
            engines.local.start(job);
            active.finish(&mut engines.local, progress).await;
        }
        Work::Search(question) => match engines.asked() {
            Ok(asked) => {
                let mut runner = SuiteRunner::new(search(asked, question, &setup.description));
                active.finish(&mut runner, Progress::default()).await;
            }
            Err(error) => active.refuse(error).await,
        },
        Work::Count(counting) => match engines.asked() {
            Ok(asked) => {
                let mut runner = SuiteRunner::new(count(asked, counting));
                active.finish(&mut runner, Progress::default()).await;
            }
            Err(error) => active.refuse(error).await,
        },
    }
}

impl ActiveJob<'_> {
    /// Gives it back: another worker may have what is missing here.
    async fn refuse(self, why: String) {
        let _ = self.message.ack_with(AckKind::Nak(Some(RETRY_PAUSE))).await;
        self.shared.refuse(&self.setup.description.token, why);
    }

    /// Waits for the result and reports it.
    async fn finish<T: JobRunner<Done: Payload>>(mut self, runner: &mut T, progress: Progress) {
        let report = match self.wait(runner, progress).await {
            End::Reported(report) => *report,
            End::Cancelled => return,
            End::Aborted => {
                let _ = self.message.ack_with(AckKind::Nak(None)).await;
                return;
            }
        };
        let (shared, message) = (self.shared, self.message);
        let token = &self.setup.description.token;
        let is_done = match &report {
            Report::Played(done, _) => {
                shared.known_runs().played(token, T::has_broken(done));
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
            // Before the coordinator can have stored it.
            let pending = PendingJob { job: message.clone(), lease: self.setup.description.lease };
            let _ = shared.pending.send((token.clone(), self.number, Some(pending)));
        }
        if !self.deliver(result).await {
            let _ = shared.pending.send((token.clone(), self.number, None));
            // If the pair is still wanted, another worker gets it at once.
            let _ = message.ack_with(AckKind::Nak(None)).await;
        } else if is_done {
            shared.pairs.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Waits for the result; sends heartbeats and extends the lease as long as the engines answer.
    async fn wait<T: JobRunner>(&mut self, runner: &mut T, progress: Progress) -> End<T::Done> {
        let description = &self.setup.description;
        let mut half = None;
        let mut phase = self.shared.phase.clone();
        let mut tick =
            interval((description.lease / HEARTBEATS_PER_LEASE).min(Duration::from_secs(5)));
        let mut liveness = Liveness { progress, seen: 0, since: tick.tick().await };
        self.heartbeat(half).await;
        loop {
            tokio::select! {
                event = runner.next() => match event {
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
                    JobEvent::Noted(_) | JobEvent::WorkerExcluded(_) => {}
                },
                heard = self.cancelled.recv() => {
                    if let Ok(stopped) = heard
                        && stopped.token == description.token
                    {
                        runner.cancel().await;
                        return if stopped.others_go_on { End::Aborted } else { End::Cancelled };
                    }
                }
                () = reached(&mut phase, Phase::Aborting) => {
                    runner.cancel().await;
                    return End::Aborted;
                }
                now = tick.tick() => {
                    // The job of a game that hangs is given to others, for we do not ask for more
                    // time.
                    if liveness.is_alive(now, description.patience) {
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
            let subject = self.setup.names.heartbeat(&heartbeat.worker);
            let _ = link.client.publish(subject, heartbeat.write().into()).await;
        }
    }

    /// Sends a result until the server has it; `false` if nobody wants it any more.
    async fn deliver<D: Payload>(&mut self, result: JobResult<D>) -> bool {
        let Shared { link, phase, .. } = self.shared;
        let mut phase = phase.clone();
        let subject = self.setup.names.result(self.number, &result.worker);
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
            let token = &self.setup.description.token;
            tokio::select! {
                is_there = send => if is_there {
                    return true;
                },
                heard = self.cancelled.recv() => {
                    if heard.is_ok_and(|stopped| stopped.token == *token) {
                        return false;
                    }
                }
                () = reached(&mut phase, Phase::Aborting) => return false,
            }
            let _ = self.message.ack_with(AckKind::Progress).await;
            sleep(RETRY_PAUSE).await;
        }
    }
}

/// Waits until the worker goes on like that, or has even less patience.
async fn reached(phase: &mut watch::Receiver<Phase>, least: Phase) {
    if phase.wait_for(|phase| *phase >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Whether a game goes on, by the answers of its engines.
struct Liveness {
    progress: Progress,
    seen: u64,
    since: tokio::time::Instant,
}

impl Liveness {
    fn is_alive(&mut self, now: tokio::time::Instant, patience: Duration) -> bool {
        let count = self.progress.count();
        if count != self.seen {
            (self.seen, self.since) = (count, now);
        }
        now - self.since < patience
    }
}
