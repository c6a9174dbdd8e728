//! Results that workers send back for jobs.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{MAX_UNPACKED, Message, WireError, invalid, pack, read, sender_of, unpack, write};
use crate::outliers::is_breakdown;
use crate::proof::{RunSecret, Token};
use crate::run_id::RunId;
use arbiter_game::record::GameRecord;
use arbiter_game::text::Text;
use arbiter_plan::{PairTally, PlayedPair};
use arbiter_suite::epd::EngineAnswers;
use arbiter_suite::perft::CountResult;

/// Report of a worker on a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "D: Payload")]
pub struct JobResult<D: Payload = PlayedPair> {
    /// ID of the run.
    pub run_id: RunId,
    /// Number of the job.
    pub number: u64,
    /// Number of the attempt at the job.
    pub attempt: u32,
    /// Outcome of the attempt.
    pub report: Report<D>,
}

/// Outcome of an attempt at a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "D: Payload", rename_all = "snake_case")]
pub enum Report<D: Payload = PlayedPair> {
    /// The job was done.
    Played(D),
    /// The job could not be done on this machine, for this reason.
    Failed(#[serde(with = "Text")] String),
}

/// Result of a job that was done.
pub trait Payload: Clone + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Length of the longest result that is read, in bytes.
    const MAX_BYTES: usize = 1 << 20;

    /// Returns the results of the games, by which workers are compared.
    fn tally(&self) -> Option<PairTally> {
        None
    }

    /// Returns whether engines broke down in all games.
    fn is_broken(&self) -> bool {
        false
    }

    /// Returns how an engine broke down in one of the games, if one did.
    fn breakdown(&self) -> Option<String> {
        None
    }

    /// Returns whether both results are the same, as they must be for engines that repeat their
    /// games.
    fn is_same(&self, other: &Self) -> bool;

    /// Returns whether engines that repeat their games cannot have played both: the results differ
    /// before an engine broke down.
    fn contradicts(&self, other: &Self) -> bool {
        !self.is_same(other)
    }

    /// Removes the dispensable parts.
    fn shorten(&mut self) {}
}

impl<D: Payload> Message for JobResult<D> {
    const MAX_BYTES: usize = D::MAX_BYTES;

    fn validated(self) -> Result<JobResult<D>, WireError> {
        // Remarks about rejected results are stored with their number, and SQLite has signed
        // integers of 64 bits.
        match i64::try_from(self.number) {
            Ok(_) => Ok(self),
            Err(_) => Err(invalid("an impossible pair number")),
        }
    }
}

/// Serializes a result within `most` bytes: the attempt and the proof, which are checked before
/// anything else is read, and the result, packed. A longer one is sent without transcripts; one
/// that is still too long is sent as a failure.
pub fn write_result<D: Payload>(mut result: JobResult<D>, proof: &Token, most: usize) -> Vec<u8> {
    // Attempt and proof come before the packed part, so that the coordinator can reject a forgery
    // without unpacking it.
    let written = |result: &JobResult<D>| {
        [&result.attempt.to_le_bytes(), &proof.as_bytes()[..], &pack(&write(result))].concat()
    };
    let mut bytes = written(&result);
    if bytes.len() > most {
        if let Report::Played(played) = &mut result.report {
            played.shorten();
        }
        bytes = written(&result);
    }
    // A failure has to be reported even if the result cannot be, or the job would be sent again and
    // again.
    if bytes.len() > most {
        let why = format!("its result has {} bytes, but the server takes {most}", bytes.len());
        bytes = written(&JobResult { report: Report::Failed(why), ..result });
    }
    bytes
}

/// Result whose sender has joined and was given the job. Its contents have not been read yet.
pub(crate) struct ProvenResult<'a> {
    /// Number of the job.
    pub(crate) number: u64,
    /// Attempt at the job.
    pub(crate) attempt: u32,
    packed: &'a [u8],
}

/// Checks the proof of a result; an error says why the message is no result of its sender.
pub(crate) fn check_proof<'a>(
    message: &'a async_nats::Message,
    secret: &RunSecret,
) -> Result<ProvenResult<'a>, WireError> {
    let worker = sender_of(message)?;
    let number = RunId::pair_of_result(&message.subject).ok_or(WireError::Unproven)?;
    let header = message.payload.split_first_chunk::<4>();
    let (attempt, rest) = header.ok_or(WireError::Unproven)?;
    let (proof, packed) = rest.split_first_chunk::<32>().ok_or(WireError::Unproven)?;
    let attempt = u32::from_le_bytes(*attempt);
    if secret.proof(&worker, number, attempt) == *proof {
        Ok(ProvenResult { number, attempt, packed })
    } else {
        // The comparison of hashes takes constant time, so it reveals nothing about the right
        // proof.
        Err(WireError::Unproven)
    }
}

/// Reads the contents of a result.
pub(crate) fn read_result<D: Payload>(
    proven: &ProvenResult<'_>,
    run_id: &RunId,
) -> Result<JobResult<D>, WireError> {
    let ProvenResult { number, attempt, packed } = *proven;
    let result: JobResult<D> = read(&unpack(packed)?)?;
    if (&result.run_id, result.number, result.attempt) == (run_id, number, attempt) {
        Ok(result)
    } else {
        Err(invalid("a result of another job"))
    }
}

fn is_same_game(game: &GameRecord, other: &GameRecord) -> bool {
    let end = |game: &GameRecord| (game.outcome.termination, game.outcome.result);
    end(game) == end(other)
        && game.moves.iter().map(|m| m.uci).eq(other.moves.iter().map(|m| m.uci))
}

impl Payload for PlayedPair {
    const MAX_BYTES: usize = MAX_UNPACKED;

    fn tally(&self) -> Option<PairTally> {
        Some(PairTally::of(self))
    }

    fn is_broken(&self) -> bool {
        self.games.iter().all(|game| is_breakdown(game.outcome.termination))
    }

    fn breakdown(&self) -> Option<String> {
        let games = (1..).zip(self.games.iter());
        let mut broken = games.filter(|(_, game)| is_breakdown(game.outcome.termination));
        let (number, game) = broken.next()?;
        Some(format!("game {number}, move {}: {}", game.moves.len() + 1, game.outcome.detail))
    }

    fn is_same(&self, other: &PlayedPair) -> bool {
        self.games.iter().zip(other.games.iter()).all(|(game, other)| is_same_game(game, other))
    }

    fn contradicts(&self, other: &PlayedPair) -> bool {
        self.games.iter().zip(other.games.iter()).any(|(game, other)| {
            let has_breakdown =
                [game, other].into_iter().any(|game| is_breakdown(game.outcome.termination));
            // A game that ended by a breakdown has fewer moves, so only the common part can
            // contradict.
            let differs = game.moves.iter().zip(&other.moves).any(|(one, two)| one.uci != two.uci);
            differs || !(has_breakdown || is_same_game(game, other))
        })
    }

    fn shorten(&mut self) {
        self.drop_transcripts();
    }
}

impl Payload for EngineAnswers {
    fn is_same(&self, other: &EngineAnswers) -> bool {
        self == other
    }
}

impl Payload for CountResult {
    fn is_same(&self, other: &CountResult) -> bool {
        self == other
    }
}
