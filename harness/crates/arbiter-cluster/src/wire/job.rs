//! Jobs: playing a pair, searching a position of a suite, or counting the leaf nodes of a position.
//! A job and the description of its run contain everything that a worker needs.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Position};

use super::{Message, RunDescription, Signed, WireError, invalid, verified};
use crate::subject::RunId;
use crate::trust::{PublicKey, Token};
use arbiter_game::driver::{GameSetup, Progress, Settings};
use arbiter_game::record::KeptFields;
use arbiter_position::Start;
use arbiter_run::{Games, PairJob};
use arbiter_schedule::Pairing;
use arbiter_suite::epd::{Question, Record};
use arbiter_suite::perft::Count;

/// Offset between the number of a pair and the number of its audit. All numbers stay below 2^63,
/// because the store has signed 64-bit integers.
pub const AUDITS: u64 = 1 << 62;

/// Maximum number of moves of an opening, and of options set for a game. The limit prevents a
/// hostile coordinator from filling the memory of a worker.
const MAX_LIST: usize = 1_000;

/// Maximum length, in bytes, of the command that makes an engine count leaf nodes.
const MAX_COMMAND: usize = 1_000;

/// Maximum depth of a count, in plies.
const MAX_DEPTH: u32 = 64;

/// Task of a worker.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is what most of them are")]
pub enum Work {
    /// Play a pair.
    Pair(PairJob),
    /// Let all engines search a position.
    Search(Question),
    /// Let an engine count the leaf nodes of a position.
    Count(Count),
}

/// A job of a run, with its task as `Work` or, in messages, as [`WorkMessage`].
#[derive(Debug, Serialize, Deserialize)]
pub struct Job<W = Work> {
    /// ID of the run.
    pub run_id: RunId,
    /// Number of the job, unique in the run.
    pub number: u64,
    /// Number of the attempt, higher than the numbers of all earlier attempts.
    pub attempt: u32,
    /// Secret known only to the coordinator and the workers that received this attempt.
    #[serde(with = "As::<DisplayFromStr>")]
    pub nonce: Token,
    /// Expiry time by the coordinator's clock, as Unix time in microseconds.
    pub expires: u64,
    /// The only worker that may do the job, if the job is an audit. Such a job is sent as a message
    /// to all workers.
    #[serde(default)]
    pub only_for: Option<String>,
    /// Task of the job.
    pub work: W,
}

impl Message for Job<WorkMessage> {
    // The largest parts of a job are an opening and options, so a job is much shorter than a
    // result.
    const MAX_BYTES: usize = 1 << 20;
}

impl Signed for Job<WorkMessage> {
    const PURPOSE: &'static str = "job";
}

/// Form in which the task of a job is sent.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkMessage {
    /// The pair to play.
    Pair(PairMessage),
    /// Text of a line of an EPD suite; `true` if the position in the line is a Chess960 position;
    /// and the number of plies beyond the depth of a solution after which the search is ended
    /// early.
    Search(String, bool, Option<u32>),
    /// The position whose leaf nodes are to be counted, with the command for the engine.
    Count(Box<Count>),
}

/// Form in which a pair is sent; the second game is the first game with colours reversed.
#[derive(Debug, Serialize, Deserialize)]
pub struct PairMessage {
    /// Indices of the engines; the first engine has White in the first game.
    engines: [usize; 2],
    opening: u64,
    fen: String,
    chess960: bool,
    #[serde(with = "As::<Vec<DisplayFromStr>>")]
    book: Vec<UciMove>,
    /// Options of each engine for this pair.
    settings: [Vec<(String, String)>; 2],
    /// `true` if there is no second game.
    is_single: bool,
}

impl PairMessage {
    /// Returns the form in which a pair is sent.
    pub(crate) fn of(PairJob { pairing, games: Games { first, second } }: &PairJob) -> PairMessage {
        PairMessage {
            engines: pairing.engines,
            opening: pairing.opening,
            fen: first.fen.clone(),
            chess960: first.mode == CastlingMode::Chess960,
            book: first.book.clone(),
            settings: [first.settings.white.to_vec(), first.settings.black.to_vec()],
            is_single: second.is_none(),
        }
    }

    /// Reads the pair with this number.
    fn read(self, pair: u64, description: &RunDescription) -> Result<PairJob, WireError> {
        let PairMessage { engines, opening, fen, chess960, book, settings, is_single } = self;
        let engine = |index: usize| description.engines.get(index);
        let [first, second] = match engines.map(engine) {
            [Some(first), Some(second)] if engines[0] != engines[1] => [first, second],
            _ => return Err(invalid("engines that are not in the run")),
        };
        if book.len() > MAX_LIST {
            return Err(invalid("an opening of more than a thousand moves"));
        }
        let start =
            Start::read(&fen, chess960).map_err(|error| invalid(format!("FEN: {error}")))?;
        let Start { position: start, mode, .. } = start;
        let mut position = start.clone();
        for uci in &book {
            let legal = uci.to_move(&position);
            // `play_unchecked` is only sound for legal moves.
            let legal = legal.map_err(|_| invalid(format!("the illegal move {uci}")))?;
            position.play_unchecked(legal);
        }
        let settings = settings.map(|options| checked_settings(options, &description.tuned));
        let [first_settings, second_settings] = settings;
        let keep = KeptFields {
            fields: description.annotation.fields.clone(),
            transcripts: description.transcripts,
        };
        let setup = GameSetup {
            engines: ByColor { white: engines[0], black: engines[1] },
            fen,
            start,
            mode,
            book,
            conditions: ByColor { white: first, black: second }.map(|own| own.engine.conditions),
            settings: ByColor { white: first_settings?, black: second_settings? },
            rules: description.rules,
            tables: None,
            keep: Arc::new(keep),
            progress: Progress::default(),
        };
        let reversed = || GameSetup {
            engines: setup.engines.into_swapped(),
            conditions: setup.conditions.into_swapped(),
            settings: setup.settings.clone().into_swapped(),
            ..setup.clone()
        };
        // The second game has the opening and the limits of the first game, and both games share
        // one progress counter.
        let second = (!is_single).then(reversed);
        let games = Games { first: setup, second };
        Ok(PairJob { pairing: Pairing { pair, engines, opening }, games })
    }
}

/// Reads a job of the run with this description; `key` is the key of the run's coordinator.
pub fn read_job(
    bytes: &[u8],
    description: &RunDescription,
    key: PublicKey,
) -> Result<Job, WireError> {
    let (message, _) = verified(bytes, &[key]).map_err(invalid)?;
    let Job { run_id, number, attempt, nonce, expires, only_for, work } = message;
    if run_id != description.run_id {
        return Err(invalid("a job of another run"));
    }
    let work = match work {
        WorkMessage::Pair(message) => Work::Pair(message.read(number, description)?),
        WorkMessage::Search(line, is_chess960, hold) => {
            let record = Record::read(1, &line, is_chess960).map_err(invalid)?;
            let engines = description.engines.len();
            Work::Search(Question { record: Arc::new(record), hold, engines })
        }
        WorkMessage::Count(count) => Work::Count(checked_count(*count)?),
    };
    Ok(Job { run_id, number, attempt, nonce, expires, only_for, work })
}

/// Returns the attempt number of a job, if the job is signed with this key.
pub(crate) fn attempt_of_job(bytes: &[u8], key: PublicKey) -> Option<u32> {
    let (Job::<WorkMessage> { attempt, .. }, _) = verified(bytes, &[key]).ok()?;
    Some(attempt)
}

/// Checks that all options are tuned by the run, and that each name and value is a single line, so
/// that names and values can be safely sent to an engine.
fn checked_settings(
    options: Vec<(String, String)>,
    tuned: &[String],
) -> Result<Settings, WireError> {
    let is_line = |text: &String| !text.chars().any(char::is_control);
    if !options.iter().all(|(name, value)| is_line(name) && is_line(value)) {
        return Err(invalid("an option that is not one line"));
    }
    if let Some((name, _)) = options.iter().find(|(name, _)| !tuned.contains(name)) {
        return Err(invalid(format!("the option {name}, which the run does not tune")));
    }
    if options.len() <= MAX_LIST {
        Ok(options.into())
    } else {
        Err(invalid("more than a thousand options for a game"))
    }
}

fn checked_count(count: Count) -> Result<Count, WireError> {
    let command = &count.query.command;
    if command.len() > MAX_COMMAND || command.chars().any(char::is_control) {
        return Err(invalid("a command that is not one line of at most a thousand bytes"));
    }
    if !(1..=MAX_DEPTH).contains(&count.depth) {
        return Err(invalid(format!("a count of depth {}", count.depth)));
    }
    Ok(count)
}
