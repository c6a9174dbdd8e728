//! What became of a pair, or of another assignment.

mod answers;
mod games;
mod verdict;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_with::As;

use super::text::{Text, Token, checked_name};
use super::{WireError, invalid, pack, read, unpack, write};
use arbiter_plan::run::job::PlayedPair;

/// What a worker reports of a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobResult<D = PlayedPair> {
    /// What stands for the run.
    #[serde(with = "Token")]
    pub token: String,
    /// Who played.
    #[serde(skip)]
    pub worker: String,
    /// Where the job is to be acknowledged.
    pub ack: String,
    /// The number of the pair, as the job named it.
    pub number: u64,
    /// Which attempt at it this was.
    pub attempt: u32,
    /// What became of it.
    pub report: Report<D>,
}

/// What became of a pair.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Report<D = PlayedPair> {
    /// It was played; and how the machine disturbed it, if it did.
    Played(D, #[serde(with = "As::<Option<Text>>")] Option<String>),
    /// It could not be played, for a reason that is the machine's.
    Failed(#[serde(with = "Text")] String),
}

/// What a worker has found out by a job, as part of a message.
pub trait Payload: Sized {
    /// Its form in a message.
    type Message: Serialize + DeserializeOwned;

    /// Puts it into a message.
    fn to_message(&self) -> Self::Message;

    /// Takes what came of the assignment of this number out of a message.
    fn from_message(number: u64, message: Self::Message) -> Result<Self, WireError>;

    /// Leaves away what can be done without.
    fn shorten(&mut self) {}
}

/// A result as it is sent, within `most` bytes. What does not fit is left away, transcripts first;
/// a pair that is still too long then has failed.
pub fn write_result<D: Payload>(mut result: JobResult<D>, most: usize) -> Vec<u8> {
    let whole = result.packed();
    if whole.len() <= most {
        return whole;
    }
    if let Report::Played(played, _) = &mut result.report {
        played.shorten();
    }
    let packed = result.packed();
    if packed.len() <= most {
        return packed;
    }
    let why = format!("its result has {} bytes, and the server takes {most}", packed.len());
    result.report = Report::Failed(why);
    result.packed()
}

/// A result as it was sent by a worker.
pub fn read_result<D: Payload>(worker: &str, packed: &[u8]) -> Result<JobResult<D>, WireError> {
    let result: JobResult<D::Message> = read(&unpack(packed)?, usize::MAX)?;
    let JobResult { token, ack, number, attempt, report, .. } = result;
    // What is refused is written down, and the store has no such numbers.
    if i64::try_from(number).is_err() {
        return Err(invalid("a pair that no run has"));
    }
    let worker = checked_name(worker)?;
    let report = match report {
        Report::Played(message, noise) => Report::Played(D::from_message(number, message)?, noise),
        Report::Failed(why) => Report::Failed(why),
    };
    Ok(JobResult { token, worker, ack, number, attempt, report })
}

impl<D: Payload> JobResult<D> {
    fn packed(&self) -> Vec<u8> {
        let report = match &self.report {
            Report::Played(played, noise) => Report::Played(played.to_message(), noise.clone()),
            Report::Failed(why) => Report::Failed(why.clone()),
        };
        let JobResult { token, worker, ack, number, attempt, .. } = self;
        let (token, worker, ack) = (token.clone(), worker.clone(), ack.clone());
        let (number, attempt) = (*number, *attempt);
        pack(&write(&JobResult { token, worker, ack, number, attempt, report }))
    }
}
