//! What became of a pair, or of another assignment.

mod answers;
mod games;
mod verdict;

use serde::{Deserialize, Serialize};

use self::answers::AnswerMessage;
use self::games::GameMessage;
use self::verdict::VerdictMessage;
use super::{
    VERSION, WireError, checked_name, checked_token, invalid, pack, printable, read, unpack, write,
};
use arbiter_plan::run::job::PlayedPair;

/// What a worker reports of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobResult<D = PlayedPair> {
    /// What stands for the run.
    pub token: String,
    /// Who played.
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
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Report<D = PlayedPair> {
    /// It was played; and how the machine disturbed it, if it did.
    Played(D, Option<String>),
    /// It could not be played, for a reason that is the machine's.
    Failed(String),
}

/// What a worker has found out by a job, as part of a message.
pub trait Payload: Sized {
    /// Puts it into a message.
    fn fill(&self, message: &mut ResultMessage);

    /// Takes it out of one.
    fn take(message: ResultMessage) -> Result<Self, WireError>;

    /// Leaves away what can be done without.
    fn shorten(&mut self);
}

/// A result as it is sent.
#[derive(Serialize, Deserialize)]
pub struct ResultMessage {
    v: u32,
    run: String,
    ack: String,
    pair: u64,
    #[serde(default)]
    engines: [usize; 2],
    #[serde(default)]
    opening: u64,
    attempt: u32,
    failure: Option<String>,
    noise: Option<String>,
    #[serde(default)]
    games: Vec<GameMessage>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    answers: Vec<AnswerMessage>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<VerdictMessage>,
}

/// A result as it is sent, within `most` bytes. What does not fit is left away, transcripts first;
/// a pair that is still too long then has failed.
pub fn write_result<D: Payload>(mut result: JobResult<D>, most: usize) -> Vec<u8> {
    let whole = pack(&write(&ResultMessage::of(&result)));
    if whole.len() <= most {
        return whole;
    }
    if let Report::Played(played, _) = &mut result.report {
        played.shorten();
    }
    let packed = pack(&write(&ResultMessage::of(&result)));
    if packed.len() <= most {
        return packed;
    }
    let why = format!("its result has {} bytes, and the server takes {most}", packed.len());
    result.report = Report::Failed(why);
    pack(&write(&ResultMessage::of(&result)))
}

/// A result as it was sent by a worker.
pub fn read_result<D: Payload>(worker: &str, packed: &[u8]) -> Result<JobResult<D>, WireError> {
    let bytes = unpack(packed)?;
    let mut message: ResultMessage = read(&bytes, usize::MAX)?;
    // What is refused is written down, and the store has no such numbers.
    if i64::try_from(message.pair).is_err() {
        return Err(invalid("a pair that no run has"));
    }
    let token = checked_token(std::mem::take(&mut message.run))?;
    let worker = checked_name(worker)?;
    let (ack, number, attempt) = (std::mem::take(&mut message.ack), message.pair, message.attempt);
    let report = match message.failure.take() {
        Some(_) if !message.is_bare() => {
            return Err(invalid("a result of what could not be played"));
        }
        Some(failure) => Report::Failed(printable(&failure)),
        None => {
            let noise = message.noise.as_deref().map(printable);
            Report::Played(D::take(message)?, noise)
        }
    };
    Ok(JobResult { token, worker, ack, number, attempt, report })
}

impl ResultMessage {
    /// Whether nothing was done.
    fn is_bare(&self) -> bool {
        self.games.is_empty() && self.answers.is_empty() && self.verdict.is_none()
    }

    fn of<D: Payload>(result: &JobResult<D>) -> ResultMessage {
        let mut message = ResultMessage {
            v: VERSION,
            run: result.token.clone(),
            ack: result.ack.clone(),
            pair: result.number,
            engines: [0; 2],
            opening: 0,
            attempt: result.attempt,
            failure: None,
            noise: None,
            games: Vec::new(),
            answers: Vec::new(),
            verdict: None,
        };
        match &result.report {
            Report::Failed(reason) => message.failure = Some(reason.clone()),
            Report::Played(played, noise) => {
                message.noise = noise.clone();
                played.fill(&mut message);
            }
        }
        message
    }
}
