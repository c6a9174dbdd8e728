//! Data of a coordinator on the server: a stream of jobs, a stream of results, and programs.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::message::PublishMessage;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{
    Config, ConsumerErrorKind, DiscardPolicy, RetentionPolicy, StorageType,
};
use async_nats::jetstream::{self, ErrorCode, Message};
use futures_util::StreamExt;
use tokio::sync::{Mutex, mpsc};
use tokio::time::sleep;

use crate::connection::{AccessError, Connection, denied};
use crate::in_flight::SentJob;
use crate::subject::{JOB_CONSUMER, PROGRAMS, RESULT_CONSUMER, RunId};
use crate::trust::PublicKey;
use crate::wire;

/// Time after which the server removes messages and programs. A coordinator that is killed and
/// never resumed removes nothing.
const MAX_AGE: Duration = Duration::from_secs(14 * 24 * 3600);

/// Maximum number of unacknowledged jobs, and of waiting requests for jobs. The default of the
/// server, 1,000 jobs, would limit a large fleet.
const MAX_PENDING: i64 = 1 << 16;

/// Maximum time that a request for a job may wait on the server. Workers let a request wait for at
/// most 2 s.
const MAX_WAIT: Duration = Duration::from_secs(5);

/// Time after which the server redelivers an unacknowledged result. The time is long because
/// results are acknowledged only when the results are on disk, and parked results wait until their
/// pair is requested.
const RESULT_ACK_WAIT: Duration = Duration::from_secs(600);

/// Maximum number of results in a batch.
const BATCH: usize = 256;

/// Pause before a failed request is repeated. Without a connection, requests fail immediately, so a
/// loop without a pause would occupy a whole processor.
const RETRY_PAUSE: Duration = Duration::from_millis(500);

/// Time that a request for results waits on the server. The time is limited because the task checks
/// between two requests whether the coordinator has ended.
const POLL: Duration = Duration::from_secs(5);

/// Time that the first request for results waits on the server; an empty answer means that no
/// results were left from an earlier process. The time is short because no pair is requested before
/// the answer arrives.
const FIRST_POLL: Duration = Duration::from_millis(500);

/// Events of the tasks that send jobs and receive results.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most of them are the large one")]
pub(super) enum StreamEvent {
    /// The server has stored the job of a pair.
    Sent { pair: u64, sent: SentJob },
    /// A result was received.
    Result(Message),
    /// All results from before the start of the coordinator were received.
    Drained,
}

/// Command to the task that sends jobs.
#[derive(Debug)]
pub(super) enum Outgoing {
    /// Send the job. The first attempt since the start of the coordinator is sent only if the
    /// server has no job of the pair.
    Job { pair: u64, attempt: u32, job: Vec<u8> },
    /// Remove the job of a finished pair.
    Done { pair: u64 },
}

/// Creates the streams of a run, or opens the existing streams.
pub(super) async fn open(
    connection: &Connection,
    id: &RunId,
    lease: Duration,
) -> Result<(), AccessError> {
    let common = || Config {
        // The server removes acknowledged messages, so the streams contain only unfinished work.
        retention: RetentionPolicy::WorkQueue,
        // Jobs and results survive a restart of the server.
        storage: StorageType::File,
        max_age: MAX_AGE,
        ..Config::default()
    };
    let jobs = Config {
        name: id.job_stream(),
        subjects: vec![id.job_subject("*")],
        // Each pair has a separate subject: a job that is sent again replaces the old job, so a
        // pair is never in the stream twice.
        max_messages_per_subject: 1,
        ..common()
    };
    let results = Config {
        name: id.result_stream(),
        subjects: vec![id.result_subject("*", ">")],
        // A full stream rejects new results, which workers send again, instead of dropping old
        // results that may count.
        discard: DiscardPolicy::New,
        // A longer message would be rejected anyway, so the server need not store such a message.
        max_message_size: wire::MAX_PACKED as i32,
        ..common()
    };
    let stream = &connection.jetstream;
    let jobs = stream.get_or_create_stream(jobs).await.map_err(denied("a stream of jobs"))?;
    let results = stream.get_or_create_stream(results).await;
    let results = results.map_err(denied("a stream of results"))?;
    let consumer = |name: &str, ack_wait| pull::Config {
        durable_name: Some(name.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        // The number of deliveries is unlimited, because a job or result that is no longer
        // delivered would stop the run.
        max_deliver: -1,
        max_ack_pending: MAX_PENDING,
        max_waiting: MAX_PENDING,
        ..pull::Config::default()
    };
    let job_consumer = pull::Config {
        // A worker that requests more jobs, or waits longer, would take jobs that other workers
        // could play.
        max_batch: 1,
        max_expires: MAX_WAIT,
        ..consumer(JOB_CONSUMER, lease)
    };
    let job_consumer = jobs.create_consumer(job_consumer).await;
    let job_consumer = job_consumer.map_err(denied("a consumer of jobs"))?;
    // Old servers silently ignore unknown settings.
    if job_consumer.cached_info().config.ack_wait != lease {
        return Err(denied("a consumer of jobs")("it changes the time for acknowledgements"));
    }
    // Results that a killed coordinator had received would be redelivered only after
    // [`RESULT_ACK_WAIT`]. A new consumer receives these results immediately.
    if let Err(error) = results.delete_consumer(RESULT_CONSUMER).await
        && !matches!(error.kind(), ConsumerErrorKind::JetStream(error)
            if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND)
    {
        return Err(denied("a consumer of results")(error));
    }
    let result_consumer = results.create_consumer(consumer(RESULT_CONSUMER, RESULT_ACK_WAIT)).await;
    result_consumer.map(drop).map_err(denied("a consumer of results"))
}

/// Returns the object store of programs, creating it if needed.
pub(super) async fn programs(connection: &Connection) -> Result<ObjectStore, AccessError> {
    if let Ok(store) = connection.jetstream.get_object_store(PROGRAMS).await {
        return Ok(store);
    }
    let bucket = PROGRAMS.to_owned();
    let config = object_store::Config { bucket, max_age: MAX_AGE, ..Default::default() };
    let made = connection.jetstream.create_object_store(config).await;
    made.map_err(denied("an object store of programs"))
}

/// Uploader of programs that workers request.
pub(super) struct ProgramUploader {
    /// Path of each program, by the hash of the program.
    pub(super) paths: HashMap<blake3::Hash, PathBuf>,
    pub(super) store: Mutex<ObjectStore>,
}

impl ProgramUploader {
    /// Uploads a program unless the server already has the program.
    pub(super) async fn upload(&self, hash: blake3::Hash) -> Result<(), String> {
        let path = self.paths.get(&hash).ok_or("unknown program of this run")?.clone();
        let name = hash.to_hex();
        // Programs are uploaded one at a time, so that a second request for the same program finds
        // the uploaded program.
        let store = self.store.lock().await;
        if store.info(name.as_str()).await.is_ok_and(|info| !info.deleted) {
            return Ok(());
        }
        let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
        let bytes = read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        if blake3::hash(&bytes) != hash {
            return Err("the program has changed since the run started".to_owned());
        }
        let put = store.put(name.as_str(), &mut &bytes[..]).await;
        put.map(drop).map_err(|error| error.to_string())
    }
}

/// The tasks that send the jobs of a run and receive the results.
#[derive(Clone)]
pub(super) struct StreamTasks {
    pub(super) context: jetstream::Context,
    pub(super) id: RunId,
    /// The coordinator's public key, used to verify the signatures of jobs on the server.
    pub(super) key: PublicKey,
    /// Number of the first attempt at each pair since the start of the coordinator.
    pub(super) first_attempt: u32,
    pub(super) events: mpsc::Sender<StreamEvent>,
}

impl StreamTasks {
    /// Sends jobs one after another; each job is sent again until the server has stored the job.
    pub(super) async fn send_jobs(self, mut queue: mpsc::UnboundedReceiver<Outgoing>) {
        while let Some(next) = queue.recv().await {
            match next {
                Outgoing::Done { pair } => {
                    if let Some(SentJob { sequence, .. }) = self.left_over(pair).await
                        && let Ok(jobs) =
                            self.context.get_stream_no_info(self.id.job_stream()).await
                    {
                        // A failure is harmless: if a worker still plays the pair, the worker's
                        // heartbeats cause another attempt to remove the job.
                        let _ = jobs.delete_message(sequence).await;
                    }
                }
                Outgoing::Job { pair, attempt, job } => {
                    let sent = loop {
                        match self.send(pair, attempt, &job).await {
                            Some(sent) => break sent,
                            // The request is repeated without end: without a job the pair would
                            // never be played.
                            None => sleep(RETRY_PAUSE).await,
                        }
                    };
                    if self.events.send(StreamEvent::Sent { pair, sent }).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    /// Sends a job. Returns the job that the server has now; `None` if sending failed.
    async fn send(&self, pair: u64, attempt: u32, job: &[u8]) -> Option<SentJob> {
        let send = async |message: PublishMessage| {
            let subject = self.id.job_subject(pair);
            self.context.send_publish(subject, message).await?.await
        };
        let message = || PublishMessage::build().payload(job.to_vec().into());
        // Only the first attempt requires an empty subject; later attempts replace the existing
        // job.
        let mut sent = if attempt == self.first_attempt {
            send(message().expected_last_subject_sequence(0)).await
        } else {
            send(message()).await
        };
        if let Err(error) = &sent
            && error.kind() == PublishErrorKind::WrongLastSequence
        {
            // After a restart of the coordinator, an earlier job may still be on the server, or a
            // worker may be playing the pair.
            if let Some(left_over) = self.left_over(pair).await {
                // If the attempt is the same, the job was stored, but the acknowledgement of the
                // server was lost.
                let is_left_over = left_over.attempt != attempt;
                return Some(SentJob { is_left_over, ..left_over });
            }
            sent = send(message()).await;
        }
        sent.ok().map(|ack| SentJob { attempt, sequence: ack.sequence, is_left_over: false })
    }

    /// Returns the job that the server still has for a pair, usually from an earlier process of the
    /// coordinator.
    async fn left_over(&self, pair: u64) -> Option<SentJob> {
        let stream = self.context.get_stream_no_info(self.id.job_stream()).await.ok()?;
        let message =
            stream.get_last_raw_message_by_subject(&self.id.job_subject(pair)).await.ok()?;
        let attempt = wire::attempt_of_job(&message.payload, self.key)?;
        Some(SentJob { attempt, sequence: message.sequence, is_left_over: true })
    }

    /// Receives results until the receiver of the events is dropped.
    pub(super) async fn receive_results(self) {
        let Self { context, id, events, .. } = self;
        let mut is_drained = false;
        while !events.is_closed() {
            let consumer: Result<PullConsumer, _> =
                context.get_consumer_from_stream(RESULT_CONSUMER, id.result_stream()).await;
            // The request is repeated without end, because the server may be restarting.
            let Ok(consumer) = consumer else {
                sleep(RETRY_PAUSE).await;
                continue;
            };
            // A consumer that fails is looked up again, because the server may have been restarted.
            'fetching: while !events.is_closed() {
                let wait = if is_drained { POLL } else { FIRST_POLL };
                let batch = consumer.fetch().max_messages(BATCH).expires(wait).messages().await;
                let Ok(mut batch) = batch else { break };
                let mut count = 0;
                while let Some(message) = batch.next().await {
                    let Ok(message) = message else { break 'fetching };
                    count += 1;
                    let _ = events.send(StreamEvent::Result(message)).await;
                }
                // An empty batch means that all results from before the start have been delivered.
                // From now on, the coordinator knows which pairs need new jobs.
                if count == 0 && !is_drained {
                    is_drained = true;
                    let _ = events.send(StreamEvent::Drained).await;
                }
            }
            sleep(RETRY_PAUSE).await;
        }
    }
}

/// Empties the streams of a run.
pub(super) async fn empty(connection: &Connection, id: &RunId) -> Result<(), String> {
    for stream in [id.job_stream(), id.result_stream()] {
        let found = connection.jetstream.get_stream_no_info(stream).await;
        let stream = found.map_err(|error| error.to_string())?;
        stream.purge().await.map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Removes the streams of a run from the server, if the streams exist.
pub(super) async fn remove(connection: &Connection, id: &RunId) {
    for stream in [id.job_stream(), id.result_stream()] {
        let _ = connection.jetstream.delete_stream(stream).await;
    }
}
