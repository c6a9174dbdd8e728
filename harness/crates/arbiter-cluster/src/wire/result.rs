//! What a worker sends back for a job.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_with::As;

use super::{MAX_UNPACKED, Message, WireError, invalid, pack, read, sender_of, unpack, write};
use crate::outliers::is_breakdown;
use crate::run_id::RunId;
use arbiter_game::text::Text;
use arbiter_plan::{PairTally, PlayedPair};
use arbiter_suite::epd::Answered;
use arbiter_suite::perft::Counted;

/// What a worker reports of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "D: Payload")]
pub struct JobResult<D: Payload = PlayedPair> {
    /// The run.
    pub run_id: RunId,
    /// The subject at which the job is acknowledged.
    pub ack: String,
    /// The number of the job.
    pub number: u64,
    /// Which attempt at the job this was.
    pub attempt: u32,
    /// The result.
    pub report: Report<D>,
}

/// The result of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "D: Payload", rename_all = "snake_case")]
pub enum Report<D: Payload = PlayedPair> {
    /// It was done; and how the machine was disturbed meanwhile, if it was.
    Played(D, #[serde(with = "As::<Option<Text>>")] Option<String>),
    /// It could not be done on this machine, for this reason.
    Failed(#[serde(with = "Text")] String),
}

/// The result of a job that was done.
pub trait Payload: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The results of its games, by which workers are compared.
    fn tally(&self) -> Option<PairTally> {
        None
    }

    /// Whether engines broke down in all its games.
    fn is_broken(&self) -> bool {
        false
    }

    /// Removes what can be done without.
    fn shorten(&mut self) {}
}

impl<D: Payload> Message for JobResult<D> {
    const MAX_BYTES: usize = MAX_UNPACKED;

    fn checked(self) -> Result<JobResult<D>, WireError> {
        // Refused results are stored with their number, and the store has no larger ones.
        match i64::try_from(self.number) {
            Ok(_) => Ok(self),
            Err(_) => Err(invalid("a pair that no run has")),
        }
    }
}

/// A result as it is sent, within `most` bytes. A longer one is sent without transcripts; one that is
/// still too long has failed.
pub fn write_result<D: Payload>(mut result: JobResult<D>, most: usize) -> Vec<u8> {
    let mut packed = pack(&write(&result));
    if packed.len() > most {
        if let Report::Played(played, _) = &mut result.report {
            played.shorten();
        }
        packed = pack(&write(&result));
    }
    if packed.len() > most {
        let why = format!("its result has {} bytes, and the server takes {most}", packed.len());
        packed = pack(&write(&JobResult::<D> { report: Report::Failed(why), ..result }));
    }
    packed
}

/// A result of a worker, and the name of the worker, which is part of the subject.
pub fn read_result<D: Payload>(
    message: &async_nats::Message,
) -> Result<(String, JobResult<D>), WireError> {
    Ok((sender_of(message)?, read(&unpack(&message.payload)?)?))
}

impl Payload for PlayedPair {
    fn tally(&self) -> Option<PairTally> {
        Some(PairTally::of(self))
    }

    fn is_broken(&self) -> bool {
        self.games.iter().all(|game| is_breakdown(game.outcome.termination))
    }

    fn shorten(&mut self) {
        self.drop_transcripts();
    }
}

impl Payload for Answered {}

impl Payload for Counted {}
