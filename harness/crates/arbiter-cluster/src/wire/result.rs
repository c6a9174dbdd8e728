//! Results of jobs, sent by workers.

use std::fmt::Debug;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{MAX_UNPACKED, Message, WireError, invalid, pack, read, sender_of, unpack, write};
use crate::outliers::is_breakdown;
use crate::subject::RunId;
use crate::trust::{RunSecret, Token};
use arbiter_game::record::GameRecord;
use arbiter_game::text::Text;
use arbiter_run::{PairTally, PlayedPair};
use arbiter_suite::epd::EngineAnswers;
use arbiter_suite::perft::CountResult;

/// A worker's report on a job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(bound = "D: Payload")]
pub struct JobResult<D: Payload = PlayedPair> {
    /// ID of the run.
    pub run_id: RunId,
    /// Number of the job.
    pub number: u64,
    /// Number of the attempt at the job.
    pub attempt: u32,
    /// Report on the attempt.
    #[serde(with = "ReportMessage")]
    pub report: Report<D>,
}

/// Result of an attempt at a job; the error is the reason why this machine could not do the job.
pub type Report<D> = Result<D, String>;

/// Form in which a report is sent.
#[derive(Serialize, Deserialize)]
#[serde(bound = "D: Payload", remote = "Report")]
enum ReportMessage<D: Payload> {
    #[serde(rename = "played")]
    Ok(D),
    #[serde(rename = "failed")]
    Err(#[serde(with = "Text")] String),
}

/// Result of a finished job.
pub trait Payload:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Maximum length of an unpacked result, in bytes.
    const MAX_BYTES: usize = 1 << 20;

    /// Returns the game results for the comparison of workers; `None` if there are no games.
    fn tally(&self) -> Option<PairTally> {
        None
    }

    /// Returns whether every game ended by a breakdown of an engine.
    fn is_broken(&self) -> bool {
        false
    }

    /// Returns a description of the first breakdown of an engine in the games, if any.
    fn breakdown(&self) -> Option<String> {
        None
    }

    /// Returns whether two results are identical, except for times and search information. Engines
    /// that repeat their games always have identical results.
    fn is_same(&self, other: &Self) -> bool {
        self == other
    }

    /// Returns whether two results differ before any breakdown. If so, engines that repeat their
    /// games cannot have produced both results.
    fn contradicts(&self, other: &Self) -> bool {
        !self.is_same(other)
    }

    /// Removes the parts of the result that are not essential, such as transcripts.
    fn shorten(&mut self) {}
}

impl<D: Payload> Message for JobResult<D> {
    const MAX_BYTES: usize = D::MAX_BYTES;

    fn validated(self) -> Result<JobResult<D>, WireError> {
        // Remarks about rejected results are stored with the number of the job, and SQLite has
        // signed integers of 64 bits.
        match i64::try_from(self.number) {
            Ok(_) => Ok(self),
            Err(_) => Err(invalid("an impossible pair number")),
        }
    }
}

/// Serializes a result in at most `most` bytes, as the attempt, the proof and the packed result. A
/// longer result is serialized without transcripts; if the result is still too long, a failure is
/// serialized instead.
pub fn write_result<D: Payload>(mut result: JobResult<D>, proof: &Token, most: usize) -> Vec<u8> {
    // The attempt and the proof precede the packed part, so that the coordinator can reject a
    // forgery without unpacking the result.
    let written = |result: &JobResult<D>| {
        [&result.attempt.to_le_bytes(), &proof.as_bytes()[..], &pack(&write(result))].concat()
    };
    let mut bytes = written(&result);
    if bytes.len() > most
        && let Ok(played) = &mut result.report
    {
        played.shorten();
        bytes = written(&result);
    }
    // A result that is too long must be reported as a failure; otherwise the job would be sent
    // again endlessly.
    if bytes.len() > most {
        let why = format!("its result has {} bytes, but the server takes {most}", bytes.len());
        bytes = written(&JobResult { report: Err(why), ..result });
    }
    bytes
}

/// Unread result with a valid proof. The proof shows that the sender has joined the run and was
/// given the job.
pub(crate) struct ProvenResult<'a> {
    /// Number of the job.
    pub(crate) number: u64,
    /// Number of the attempt at the job.
    pub(crate) attempt: u32,
    packed: &'a [u8],
}

/// Checks the proof of a result. Returns an error if the proof is invalid or missing.
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
        // The comparison takes constant time, so the time reveals nothing about the correct proof.
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
            // A game that a breakdown ended has fewer moves, so only the moves before the breakdown
            // are compared.
            let differs = game.moves.iter().zip(&other.moves).any(|(one, two)| one.uci != two.uci);
            differs || !(has_breakdown || is_same_game(game, other))
        })
    }

    fn shorten(&mut self) {
        self.drop_transcripts();
    }
}

impl Payload for EngineAnswers {}

impl Payload for CountResult {}
