//! What a coordinator keeps on the server: a stream of jobs, one of results, and programs.

use std::collections::BTreeMap;
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

use crate::access::{AccessError, Link};
use crate::subject::{JOB_CONSUMER, Names, PROGRAMS, RESULT_CONSUMER};
use crate::wire;

/// How long what nobody asks for any more stays on the server.
const KEPT: Duration = Duration::from_secs(14 * 24 * 3600);

/// Jobs that may be in work at once, and requests for jobs that may wait.
const MANY: i64 = 1 << 16;

/// How long a result may wait to be committed before it is delivered again.
const COMMIT: Duration = Duration::from_secs(600);

/// Results that are taken at once.
const BATCH: usize = 256;

/// Pause before something is tried again that the server did not answer.
const AGAIN: Duration = Duration::from_millis(500);

/// How long a request for results waits for one.
const POLL: Duration = Duration::from_secs(5);

/// How long the first request waits; without an answer nothing was left from before.
const FIRST_POLL: Duration = Duration::from_millis(500);

/// What the tasks beside the coordinator tell it.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most of them are the large one")]
pub(super) enum Happening {
    /// A job is at this place in its stream; unknown if it had been there before.
    Sent { pair: u64, attempt: u32, sequence: Option<u64> },
    /// A result has come.
    Result(Message),
    /// All results that were there from before have come.
    Drained,
}

/// A job to be sent.
#[derive(Debug)]
pub(super) struct Outgoing {
    pub(super) pair: u64,
    pub(super) attempt: u32,
    pub(super) job: Vec<u8>,
}

fn denied(what: &str, reason: impl ToString) -> AccessError {
    AccessError::Denied { what: what.to_owned(), reason: reason.to_string() }
}

/// Makes the streams of a run, or finds them again.
pub(super) async fn open(link: &Link, names: &Names, lease: Duration) -> Result<(), AccessError> {
    let common = || Config {
        retention: RetentionPolicy::WorkQueue,
        storage: StorageType::File,
        max_age: KEPT,
        ..Config::default()
    };
    let jobs = Config {
        name: names.jobs(),
        subjects: vec![names.all_jobs()],
        // A job that is sent again takes the place of what is left of it.
        max_messages_per_subject: 1,
        ..common()
    };
    let results = Config {
        name: names.results(),
        subjects: vec![names.all_results()],
        discard: DiscardPolicy::New,
        max_message_size: wire::MAX_PACKED as i32,
        ..common()
    };
    let stream = &link.stream;
    let jobs =
        stream.get_or_create_stream(jobs).await.map_err(|e| denied("a stream of jobs", e))?;
    let results =
        stream.get_or_create_stream(results).await.map_err(|e| denied("a stream of results", e))?;
    let consumer = |name: &str, ack_wait| pull::Config {
        durable_name: Some(name.to_owned()),
        ack_policy: AckPolicy::Explicit,
        ack_wait,
        max_deliver: -1,
        max_ack_pending: MANY,
        max_waiting: MANY,
        ..pull::Config::default()
    };
    let takers = jobs.create_consumer(consumer(JOB_CONSUMER, lease)).await;
    let takers = takers.map_err(|e| denied("a consumer of jobs", e))?;
    // Old servers ignore what they do not know.
    if takers.cached_info().config.ack_wait != lease {
        return Err(denied("a consumer of jobs", "it changes the time for acknowledgements"));
    }
    // What a coordinator had taken when it was killed would come again when the time to commit it is
    // over. To a new consumer it comes at once.
    if let Err(error) = results.delete_consumer(RESULT_CONSUMER).await
        && !matches!(error.kind(), ConsumerErrorKind::JetStream(error)
            if error.error_code() == ErrorCode::CONSUMER_NOT_FOUND)
    {
        return Err(denied("a consumer of results", error));
    }
    let collector = results.create_consumer(consumer(RESULT_CONSUMER, COMMIT)).await;
    collector.map(drop).map_err(|e| denied("a consumer of results", e))
}

/// The object store of programs.
pub(super) async fn programs(link: &Link) -> Result<ObjectStore, AccessError> {
    if let Ok(store) = link.stream.get_object_store(PROGRAMS).await {
        return Ok(store);
    }
    let config =
        object_store::Config { bucket: PROGRAMS.to_owned(), max_age: KEPT, ..Default::default() };
    let made = link.stream.create_object_store(config).await;
    made.map_err(|error| denied("an object store of programs", error))
}

/// Programs of a run, put on the server when the first worker asks for them.
pub(super) struct Shelf {
    paths: BTreeMap<String, PathBuf>,
    store: Mutex<ObjectStore>,
}

impl Shelf {
    /// The programs at these paths, by their hashes.
    pub(super) fn new(paths: BTreeMap<String, PathBuf>, store: ObjectStore) -> Shelf {
        Shelf { paths, store: Mutex::new(store) }
    }

    /// Sees to it that a program is on the server.
    pub(super) async fn supply(&self, hash: &str) -> Result<(), String> {
        let path = self.paths.get(hash).ok_or("this run has no such program")?.clone();
        // One upload at a time: the next who wants the same finds it there.
        let store = self.store.lock().await;
        if store.info(hash).await.is_ok_and(|info| !info.deleted) {
            return Ok(());
        }
        let read = tokio::task::spawn_blocking(move || std::fs::read(path)).await;
        let bytes = read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
        if blake3::hash(&bytes).to_hex().as_str() != hash {
            return Err("the program has changed since the run began".to_owned());
        }
        let put = store.put(hash, &mut &bytes[..]).await;
        put.map(drop).map_err(|error| error.to_string())
    }
}

/// Sends jobs, one after another, each until the server has it.
pub(super) async fn send_jobs(
    context: jetstream::Context,
    names: Names,
    mut queue: mpsc::UnboundedReceiver<Outgoing>,
    happen: mpsc::UnboundedSender<Happening>,
) {
    while let Some(Outgoing { pair, attempt, job }) = queue.recv().await {
        let sequence = loop {
            let mut message = PublishMessage::build().payload(job.clone().into());
            if attempt == 0 {
                // After a restart of the coordinator it may be there already, or be in work.
                message = message.expected_last_subject_sequence(0);
            }
            let sent = match context.send_publish(names.job(pair), message).await {
                Ok(ack) => ack.await,
                Err(error) => Err(error),
            };
            match sent {
                Ok(ack) => break Some(ack.sequence),
                Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => break None,
                Err(_) => sleep(AGAIN).await,
            }
        };
        if happen.send(Happening::Sent { pair, attempt, sequence }).is_err() {
            return;
        }
    }
}

/// Takes results as they come, for ever.
pub(super) async fn collect(
    context: jetstream::Context,
    names: Names,
    happen: mpsc::UnboundedSender<Happening>,
) {
    let mut is_drained = false;
    while !happen.is_closed() {
        let consumer: Result<PullConsumer, _> =
            context.get_consumer_from_stream(RESULT_CONSUMER, names.results()).await;
        let Ok(consumer) = consumer else {
            sleep(AGAIN).await;
            continue;
        };
        // A consumer that fails is looked up again: the server may have been restarted.
        while !happen.is_closed() {
            let wait = if is_drained { POLL } else { FIRST_POLL };
            let batch = consumer.fetch().max_messages(BATCH).expires(wait).messages().await;
            let Ok(mut batch) = batch else { break };
            let mut has_failed = false;
            let mut count = 0;
            while let Some(message) = batch.next().await {
                let Ok(message) = message else {
                    has_failed = true;
                    break;
                };
                count += 1;
                let _ = happen.send(Happening::Result(message));
            }
            if has_failed {
                break;
            }
            if count == 0 && !is_drained {
                is_drained = true;
                let _ = happen.send(Happening::Drained);
            }
        }
        sleep(AGAIN).await;
    }
}

/// Removes what a run has on the server, as far as it is there.
pub(super) async fn remove(link: &Link, names: &Names) {
    for stream in [names.jobs(), names.results()] {
        let _ = link.stream.delete_stream(stream).await;
    }
}
