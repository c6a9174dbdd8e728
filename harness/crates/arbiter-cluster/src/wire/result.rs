//! What a worker sends back for a job.

use std::convert::Infallible;
use std::fmt::Debug;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DeserializeAs, DisplayFromStr, SerializeAs, serde_conv};
use shakmaty::{ByColor, KnownOutcome};

use super::text::{Text, printable};
use super::{MAX_UNPACKED, Message, WireError, invalid, pack, read, sender_of, unpack, write};
use crate::outliers::is_breakdown;
use crate::run_id::RunId;
use arbiter_game::outcome::{self, Outcome, Termination};
use arbiter_game::record::{GameRecord, MoveRecord};
use arbiter_game::transcript::Transcript;
use arbiter_plan::run::counts::PairTally;
use arbiter_plan::run::job::{Games, PlayedPair};
use arbiter_protocol::Score;
use arbiter_schedule::Pairing;
use arbiter_schema::{MoveRow, Nanos, mirrors, nanos};
use arbiter_suite::epd::{Answer, Answered, Found};
use arbiter_suite::perft::{Counted, Finding, Verdict, Wrong};

/// Longest description of the end of a game, in characters.
const MAX_DETAIL: usize = 1_000;

/// Most moves of a list: no position has more.
const MAX_MOVES: usize = 256;

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
    Played(#[serde(with = "As::<D::Def>")] D, #[serde(with = "As::<Option<Text>>")] Option<String>),
    /// It could not be done on this machine, for this reason.
    Failed(#[serde(with = "Text")] String),
}

/// The result of a job that was done.
pub trait Payload: Clone + Debug + Send + Sync + Sized + 'static {
    /// Its form in a message.
    type Def: SerializeAs<Self> + for<'de> DeserializeAs<'de, Self>;

    /// The number of the job.
    fn number(&self) -> u64;

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
    type Def = PlayedPairDef;

    fn number(&self) -> u64 {
        self.pairing.pair
    }

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

impl Payload for Answered {
    type Def = AnsweredDef;

    fn number(&self) -> u64 {
        self.number
    }
}

impl Payload for Counted {
    type Def = CountedDef;

    fn number(&self) -> u64 {
        self.number
    }
}

/// Mirror of [`PlayedPair`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "PlayedPair")]
pub struct PlayedPairDef {
    #[serde(with = "PairingDef")]
    pairing: Pairing,
    #[serde(with = "GamesDef")]
    games: Games<GameRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Pairing")]
struct PairingDef {
    pair: u64,
    engines: [usize; 2],
    opening: u64,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Games<GameRecord>")]
struct GamesDef {
    #[serde(with = "GameDef")]
    first: GameRecord,
    #[serde(with = "As::<Option<GameDef>>")]
    second: Option<GameRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "GameRecord")]
struct GameDef {
    #[serde(with = "Engines")]
    engines: ByColor<usize>,
    fen: String,
    chess960: bool,
    #[serde(with = "As::<Vec<MoveRow<'static>>>")]
    moves: Vec<MoveRecord>,
    #[serde(with = "OutcomeDef")]
    outcome: Outcome,
    #[serde(rename = "duration_ns", with = "Nanos")]
    duration: Duration,
    #[serde(rename = "ready_ns", with = "Times")]
    ready: ByColor<Option<Duration>>,
    #[serde(rename = "late_ns", with = "As::<Option<Nanos>>")]
    late: Option<Duration>,
    #[serde(with = "As::<Option<DisplayFromStr>>")]
    transcript: Option<Transcript>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Outcome")]
struct OutcomeDef {
    #[serde(with = "As::<DisplayFromStr>")]
    result: KnownOutcome,
    #[serde(with = "As::<DisplayFromStr>")]
    termination: Termination,
    #[serde(with = "Detail")]
    detail: String,
}

serde_conv!(
    Engines,
    ByColor<usize>,
    |engines: &ByColor<usize>| [engines.white, engines.black],
    |[white, black]: [usize; 2]| Ok::<_, Infallible>(ByColor { white, black })
);

serde_conv!(
    Times,
    ByColor<Option<Duration>>,
    |times: &ByColor<Option<Duration>>| [times.white, times.black].map(|time| time.map(nanos)),
    |times: [Option<u64>; 2]| {
        let [white, black] = times.map(|time| time.map(Duration::from_nanos));
        Ok::<_, Infallible>(ByColor { white, black })
    }
);

serde_conv!(Detail, String, String::as_str, |text: String| Ok::<_, Infallible>(
    outcome::printable(&text, MAX_DETAIL)
));

/// Mirror of [`Answered`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Answered")]
pub struct AnsweredDef {
    number: u64,
    #[serde(with = "As::<Vec<Result<AnswerDef, Text>>>")]
    answers: Vec<Result<Answer, String>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Answer")]
struct AnswerDef {
    #[serde(with = "Text")]
    played: String,
    #[serde(rename = "elapsed_ns", with = "Nanos")]
    elapsed: Duration,
    score: Option<Score>,
    depth: Option<u32>,
    nodes: Option<u64>,
    #[serde(with = "As::<Option<FoundDef>>")]
    since: Option<Found>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Found")]
struct FoundDef {
    #[serde(rename = "at_ns", with = "Nanos")]
    at: Duration,
    depth: Option<u32>,
    nodes: Option<u64>,
}

/// Mirror of [`Counted`].
#[derive(Serialize, Deserialize)]
#[serde(remote = "Counted")]
pub struct CountedDef {
    number: u64,
    #[serde(with = "As::<Result<VerdictDef, Text>>")]
    verdict: Result<Verdict, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Verdict", rename_all = "snake_case")]
enum VerdictDef {
    Right,
    Wrong {
        got: u64,
        leaves: u64,
        #[serde(with = "FindingDef")]
        finding: Finding,
    },
    WrongSuite {
        leaves: u64,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Finding")]
struct FindingDef {
    #[serde(with = "Text")]
    fen: String,
    #[serde(with = "Moves")]
    path: Vec<String>,
    #[serde(with = "WrongDef")]
    wrong: Wrong,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Wrong", rename_all = "snake_case")]
enum WrongDef {
    Moves {
        #[serde(with = "Moves")]
        missing: Vec<String>,
        #[serde(with = "Moves")]
        extra: Vec<String>,
    },
    Count {
        depth: u32,
        got: u64,
        expected: u64,
    },
    Context {
        depth: u32,
        got: u64,
        expected: u64,
    },
    Unrepeatable,
}

serde_conv!(Moves, Vec<String>, Vec::as_slice, |list: Vec<String>| {
    let moves = list.iter().take(MAX_MOVES).map(|text| printable(text));
    Ok::<_, Infallible>(moves.collect())
});

mirrors! {
    PlayedPairDef: PlayedPair;
    GameDef: GameRecord;
    AnsweredDef: Answered;
    AnswerDef: Answer;
    FoundDef: Found;
    CountedDef: Counted;
    VerdictDef: Verdict;
}
