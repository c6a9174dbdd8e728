//! Slot of a worker. A slot takes and runs one job after another.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use async_nats::jetstream::message::PublishMessage;
use futures_util::StreamExt;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, watch};
use tokio::time::{interval, sleep, timeout};

use super::known_runs::Choice;
use super::run_setup::RunSetup;
use super::slot_engines::{SlotEngines, play};
use super::{Phase, RunStopped, Shared};
use crate::subject::RunId;
use crate::trust::{Token, proof};
use crate::wire::{self, Heartbeat, Job, JobResult, Payload, Report, Work};
use arbiter_game::driver::Progress;
use arbiter_runner::Executor;

/// Time that a request for a job waits on the server. A slot that ends has to wait for its request,
/// so this time also limits how long an idle worker takes to end.
const TAKE: Duration = Duration::from_secs(2);

/// Time that a request for a job waits on the server if another run has work. The slot should not
/// be idle because of a run that has nothing to play.
const TAKE_SHORT: Duration = Duration::from_millis(100);

/// Time within which the server must reply, in addition to the wait of a request.
const SERVER_GRACE: Duration = Duration::from_secs(3);

/// Time limit for sending the last result of a worker that leaves; after this time, another worker
/// plays the pair. A worker that has lost its server must still exit soon after Ctrl-C.
const LAST_RESULT: Duration = Duration::from_millis(1500);

/// Pause before a failed request is repeated.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Number of requests without a job after which idle engines are stopped. Keeping the engines
/// running saves a start for each pair, but engines without work only use memory.
const IDLE_TAKES: u32 = 5;

/// Minimum number of heartbeats within a lease. Several heartbeats may be lost before another
/// worker gets the job.
const HEARTBEATS_PER_LEASE: u32 = 6;

/// Reason why the work on a job was stopped.
enum Stop {
    /// The run was cancelled.
    Cancelled,
    /// The worker gives the job back.
    Aborted,
}

/// Takes and runs jobs of all runs until the worker ends.
pub(super) async fn work(shared: Arc<Shared>) {
    let mut engines: Option<SlotEngines> = None;
    let mut empty_takes = 0;
    let mut phase = shared.phase.clone();
    while *shared.phase.borrow() == Phase::Working {
        let mut taking = pin!(take_any(&shared));
        let taken = tokio::select! {
            taken = &mut taking => taken,
            () = reached(&mut phase, Phase::Leaving) => {
                // The request ends within [`TAKE`]. If the request were cut off, the server might
                // still send a job in reply, and no worker would have this job until the lease
                // ends.
                if let Ok(Some((active, _))) = timeout(TAKE, taking).await {
                    active.give_back().await;
                }
                break;
            }
        };
        let Some((mut active, job)) = taken else {
            empty_takes += 1;
            let is_over = |engines: &mut SlotEngines| {
                !shared.known_runs().knows(&engines.setup.description.run_id)
            };
            // Engines of a run that has ended are stopped immediately, not only after several empty
            // requests.
            if let Some(engines) = engines.take_if(is_over) {
                engines.finish().await;
            } else if empty_takes == IDLE_TAKES
                && let Some(engines) = &mut engines
            {
                engines.release_idle().await;
            }
            continue;
        };
        empty_takes = 0;
        match SlotEngines::for_run(engines.take(), &active.setup, &shared.config.spawner).await {
            Ok(ready) => {
                let engines = engines.insert(ready);
                shared.config.metrics.playing.inc();
                run_job(&mut active, engines, job.work).await;
                shared.config.metrics.playing.dec();
            }
            Err(error) => {
                // Another worker may have the file or library that is missing on this machine.
                active.give_back().await;
                shared.refuse(&job.run_id, error);
            }
        }
    }
    if let Some(engines) = engines {
        engines.finish().await;
    }
}

/// Takes a job of the run with the highest rank; `None` if there is no job within a few seconds. If
/// the future is dropped during the request, a job may have no worker until its lease ends.
async fn take_any(shared: &Shared) -> Option<(ActiveJob<'_>, Job)> {
    let mut cancelled = shared.cancelled.subscribe();
    let chosen = shared.known_runs().choose();
    let Some(Choice { run_id, setup, others_have_work }) = chosen else {
        // A change between the choice and this wait would be missed, so the wait has a timeout.
        let _ = timeout(RETRY_PAUSE, shared.changed.notified()).await;
        return None;
    };
    let make = || async { RunSetup::make(shared, &run_id).await.map(Arc::new) };
    let setup = match setup.get_or_init(make).await {
        Ok(setup) => setup.clone(),
        Err(why) => {
            shared.refuse(&run_id, why.clone());
            return None;
        }
    };
    let permit = shared.free_slots.clone().acquire_many_owned(setup.slots);
    let permit = timeout(TAKE, permit).await.ok()?.ok()?;
    // The phase may have changed while the slot waited for a permit. A request made now would be
    // cut off when the slot ends, and no worker would have the requested job until the lease ends.
    if *shared.phase.borrow() != Phase::Working {
        return None;
    }
    let mut job = shared.known_runs().take_audit(&run_id);
    if job.is_none() {
        job = tokio::select! {
            job = take(shared, &setup, if others_have_work { TAKE_SHORT } else { TAKE }) => job,
            // The server does not reply to requests for jobs of a removed stream, so the slot would
            // be idle until the request times out.
            () = run_cancelled(&mut cancelled, &run_id) => None,
        };
    }
    shared.known_runs().record_take(&run_id, job.is_some());
    let job = read(shared, &setup, &job?).map_err(|error| shared.report_problem(error)).ok()?;
    let active = ActiveJob {
        shared,
        number: job.number,
        attempt: job.attempt,
        proof: proof(&setup.token, &job.nonce),
        setup,
        game_index: watch::channel(None).0,
        // A new subscription receives only later stop notices; earlier notices concern other jobs.
        cancelled: shared.cancelled.subscribe(),
        _permit: permit,
    };
    Some((active, job))
}

/// Reads and checks a job; the error is the reason why the worker does not run the job. The server
/// then gives the job to another worker when the lease ends.
fn read(shared: &Shared, setup: &RunSetup, message: &[u8]) -> Result<Job, String> {
    let job = wire::read_job(message, &setup.description, setup.key);
    let job = job.map_err(|error| format!("unreadable job: {error}"))?;
    let check = shared.known_runs().check_job(&job);
    check.map(|()| job).map_err(|why| format!("job not repeated: {why}"))
}

/// Waits until a run is cancelled.
async fn run_cancelled(cancelled: &mut broadcast::Receiver<RunStopped>, run_id: &RunId) {
    loop {
        match cancelled.recv().await {
            Ok(stopped) if stopped.run_id == *run_id && !stopped.others_continue => return,
            // A missed stop only delays this slot until its request ends.
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => return std::future::pending().await,
        }
    }
}

/// Takes the next job of a run; `None` if there is no job in the time `within`.
async fn take(shared: &Shared, setup: &RunSetup, within: Duration) -> Option<Vec<u8>> {
    let taking = async {
        let mut batch = setup.jobs.fetch().max_messages(1).expires(within).messages().await.ok()?;
        Some(batch.next().await?.ok()?.payload.to_vec())
    };
    let taken = timeout(within + SERVER_GRACE, taking).await.ok()?;
    // Without a connection, the request fails immediately, and the loop of the slot would occupy a
    // whole processor.
    if taken.is_none() && !shared.connection.is_connected() {
        sleep(RETRY_PAUSE).await;
    }
    taken
}

/// Job in progress.
struct ActiveJob<'a> {
    shared: &'a Shared,
    setup: Arc<RunSetup>,
    number: u64,
    attempt: u32,
    /// Proof that the worker was given the attempt.
    proof: Token,
    /// Index (0 or 1) of the most recently started game of a pair.
    game_index: watch::Sender<Option<u8>>,
    cancelled: broadcast::Receiver<RunStopped>,
    /// Permits for the slots that the job takes, held until the job is done.
    _permit: OwnedSemaphorePermit,
}

/// Runs a job and reports the result.
async fn run_job(job: &mut ActiveJob<'_>, engines: &mut SlotEngines, work: Work) {
    match work {
        Work::Pair(pair) => {
            // Both games of a pair share one counter, so the handle of the first game shows the
            // progress of the whole pair.
            let progress = pair.games.first.progress.clone();
            let playing = play(&mut engines.local, pair, job.game_index.clone());
            let played = job.wait(playing, progress).await;
            if played.is_err() {
                engines.local.cancel_all().await;
            }
            job.finish(played).await;
        }
        Work::Search(question) => {
            let searched = job.wait(engines.search(question), Progress::default()).await;
            job.finish(searched).await;
        }
        Work::Count(wanted) => {
            let counted = job.wait(engines.count(wanted), Progress::default()).await;
            job.finish(counted).await;
        }
    }
}

impl ActiveJob<'_> {
    /// Sends the result of the job to the coordinator, or gives the job back.
    async fn finish<D: Payload>(&mut self, report: Result<Report<D>, Stop>) {
        let shared = self.shared;
        let run_id = self.setup.description.run_id.clone();
        let report = match report {
            Ok(report) => report,
            Err(Stop::Cancelled) => return,
            Err(Stop::Aborted) => return self.give_back().await,
        };
        let is_done = report.is_ok();
        match &report {
            Ok(done) => shared.known_runs().record_pair(&run_id, done.is_broken()),
            Err(reason) => shared.refuse(&run_id, reason.clone()),
        }
        let (number, attempt) = (self.number, self.attempt);
        let result = JobResult { run_id: run_id.clone(), number, attempt, report };
        if !self.deliver(result).await {
            // The result could not be sent. Giving the job back lets another worker take the job
            // before the lease ends.
            self.give_back().await;
        } else if is_done {
            shared.known_runs().done(&run_id, (number, attempt));
            shared.config.metrics.pairs.inc();
        }
    }

    /// Waits for the report of the work; drops the work if the job is stopped. Sends heartbeats as
    /// long as the engines make progress.
    async fn wait<D: Payload>(
        &mut self,
        work: impl Future<Output = Report<D>>,
        progress: Progress,
    ) -> Result<Report<D>, Stop> {
        let description = &self.setup.description;
        let mut work = pin!(work);
        let mut phase = self.shared.phase.clone();
        let mut game_index = self.game_index.subscribe();
        // A heartbeat is sent at least every five seconds, so that the coordinator soon knows that
        // a job was started, even if the lease is long.
        let mut tick =
            interval((description.lease / HEARTBEATS_PER_LEASE).min(Duration::from_secs(5)));
        // A hanging game is detected by the number of replies of the engines.
        let mut replies = 0;
        let mut last_reply = tick.tick().await;
        self.send_heartbeat(false).await;
        loop {
            tokio::select! {
                report = &mut work => return Ok(report),
                Ok(()) = game_index.changed() => self.send_heartbeat(false).await,
                stopped = self.cancelled.recv() => {
                    if let Ok(stopped) = stopped
                        && stopped.run_id == description.run_id
                    {
                        return Err(if stopped.others_continue { Stop::Aborted } else { Stop::Cancelled });
                    }
                }
                () = reached(&mut phase, Phase::Aborting) => return Err(Stop::Aborted),
                now = tick.tick() => {
                    let answers = progress.load(Ordering::Relaxed);
                    if answers != replies {
                        replies = answers;
                        last_reply = now;
                    }
                    // No heartbeat is sent for a hanging game, so that another worker gets the job.
                    if now - last_reply < description.stall_timeout {
                        self.send_heartbeat(false).await;
                    }
                }
            }
        }
    }

    /// Gives the job back, so that another worker gets the job.
    async fn give_back(&self) {
        self.send_heartbeat(true).await;
    }

    async fn send_heartbeat(&self, is_given_back: bool) {
        let Shared { connection, config, .. } = self.shared;
        if connection.is_connected() {
            let Self { number: pair, attempt, proof, .. } = *self;
            let game_index = *self.game_index.borrow();
            let heartbeat = Heartbeat { pair, attempt, proof, half: game_index, is_given_back };
            let subject = self.setup.description.run_id.heartbeat_subject(&config.name);
            let _ = connection.client.publish(subject, wire::write(&heartbeat).into()).await;
        }
    }

    /// Sends a result repeatedly until the server has stored the result. Returns `false` if the run
    /// or the worker was stopped first.
    async fn deliver<D: Payload>(&mut self, result: JobResult<D>) -> bool {
        let Shared { connection, phase, config, .. } = self.shared;
        let (mut phase, mut leaving) = (phase.clone(), phase.clone());
        let mut is_late = pin!(async {
            reached(&mut leaving, Phase::Leaving).await;
            sleep(LAST_RESULT).await;
        });
        let run_id = &self.setup.description.run_id;
        let subject = run_id.result_subject(self.number, &config.name);
        let bytes = wire::write_result(result, &self.proof, connection.max_payload());
        // The ID is the hash of the result, so a result that is sent again after a lost
        // acknowledgement is stored only once.
        let id = blake3::hash(&bytes).to_string();
        loop {
            let send = async {
                // The server stores only one of several messages with the same ID.
                let message = PublishMessage::build().payload(bytes.clone().into()).message_id(&id);
                connection.jetstream.send_publish(subject.clone(), message).await?.await
            };
            tokio::select! {
                stored = send => if stored.is_ok() {
                    return true;
                },
                stopped = self.cancelled.recv() => {
                    if stopped.is_ok_and(|stopped| stopped.run_id == *run_id) {
                        return false;
                    }
                }
                () = reached(&mut phase, Phase::Aborting) => return false,
                () = &mut is_late => return false,
            }
            // Without a heartbeat, the lease would end while the worker waits for the server.
            self.send_heartbeat(false).await;
            sleep(RETRY_PAUSE).await;
        }
    }
}

/// Waits until the worker is in this phase or a later phase.
async fn reached(phase: &mut watch::Receiver<Phase>, least: Phase) {
    if phase.wait_for(|phase| *phase >= least).await.is_err() {
        std::future::pending::<()>().await;
    }
}
