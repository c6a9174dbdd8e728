//! A pair to be played, or another assignment. It is complete together with the description of its
//! run.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use shakmaty::fen::Fen;
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Position};

use super::count::CountMessage;
use super::question::QuestionMessage;
use super::text::Token;
use super::{RunDescription, WireError, invalid, read, write};
use arbiter_game::driver::{GameSetup, Settings};
use arbiter_game::progress::Progress;
use arbiter_game::record::Keep;
use arbiter_plan::run::job::{Games, PairJob};
use arbiter_schedule::Pairing;
use arbiter_suite::epd::Question;
use arbiter_suite::perft::NumberedCount;

/// Longest job, in bytes.
const MAX_JOB: usize = 1 << 20;

/// Most moves of an opening.
const MAX_BOOK: usize = 1_000;

/// Most options that an engine is told for a game.
const MAX_SETTINGS: usize = 1_000;

#[derive(Serialize, Deserialize)]
struct JobMessage {
    #[serde(with = "Token")]
    run: String,
    number: u64,
    attempt: u32,
    work: WorkMessage,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkMessage {
    Pair { engines: [usize; 2], opening: u64, games: Vec<GameMessage> },
    Search(QuestionMessage),
    Count(CountMessage),
}

/// What a worker is to do.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is what most of them are")]
pub enum Work {
    /// Play a pair.
    Pair(PairJob),
    /// Have a position searched.
    Search(Question),
    /// Have the leaves of a position counted.
    Count(NumberedCount),
}

impl Work {
    /// Its number; no other of the run has it.
    pub fn number(&self) -> u64 {
        match self {
            Work::Pair(job) => job.pairing.pair,
            Work::Search(question) => question.number,
            Work::Count(counting) => counting.number,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct GameMessage {
    white: usize,
    black: usize,
    fen: String,
    chess960: bool,
    book: Vec<String>,
    /// What White and Black are told for this game in particular.
    #[serde(default, skip_serializing_if = "is_plain")]
    settings: [Vec<(String, String)>; 2],
}

fn is_plain(settings: &[Vec<(String, String)>; 2]) -> bool {
    settings.iter().all(Vec::is_empty)
}

/// A job as it is sent; `attempt` counts from 0 how often it was sent before.
pub fn write_job(token: &str, job: &PairJob, attempt: u32) -> Vec<u8> {
    let Pairing { pair, engines, opening } = job.pairing;
    let game = |setup: &GameSetup| GameMessage {
        white: setup.engines.white,
        black: setup.engines.black,
        fen: setup.fen.clone(),
        chess960: setup.mode == CastlingMode::Chess960,
        book: setup.book.iter().map(UciMove::to_string).collect(),
        settings: [setup.settings.white.to_vec(), setup.settings.black.to_vec()],
    };
    let games = job.games.iter().map(game).collect();
    write_work(token, pair, attempt, WorkMessage::Pair { engines, opening, games })
}

/// A question as it is sent; `attempt` as of a job.
pub fn write_question(token: &str, question: &Question, attempt: u32) -> Vec<u8> {
    let work = WorkMessage::Search(QuestionMessage::of(question));
    write_work(token, question.number, attempt, work)
}

/// A count as it is sent; `attempt` as of a job.
pub fn write_count(token: &str, counting: &NumberedCount, attempt: u32) -> Vec<u8> {
    let work = WorkMessage::Count(CountMessage::of(&counting.count));
    write_work(token, counting.number, attempt, work)
}

fn write_work(token: &str, number: u64, attempt: u32, work: WorkMessage) -> Vec<u8> {
    write(&JobMessage { run: token.to_owned(), number, attempt, work })
}

/// An assignment of the run that `head` describes, and which attempt it is.
pub fn read_job(bytes: &[u8], head: &RunDescription) -> Result<(Work, u32), WireError> {
    let JobMessage { run, number, attempt, work } = read(bytes, MAX_JOB)?;
    if run != head.token {
        return Err(invalid("a job of another run"));
    }
    let work = match work {
        WorkMessage::Pair { engines, opening, games } => {
            Work::Pair(pair(Pairing { pair: number, engines, opening }, games, head)?)
        }
        WorkMessage::Search(question) => {
            Work::Search(question.into_question(number, head.contestants.len())?)
        }
        WorkMessage::Count(count) => Work::Count(count.into_counting(number)?),
    };
    Ok((work, attempt))
}

fn pair(
    pairing: Pairing,
    games: Vec<GameMessage>,
    head: &RunDescription,
) -> Result<PairJob, WireError> {
    let engines = pairing.engines;
    if engines[0] == engines[1] || engines.iter().any(|index| *index >= head.contestants.len()) {
        return Err(invalid("engines that are not in the run"));
    }
    let progress = Progress::default();
    let mut setups = Vec::new();
    for game in games {
        let seats = [game.white, game.black];
        if seats != engines && seats != [engines[1], engines[0]] {
            return Err(invalid("a game between engines that are not the pair's"));
        }
        setups.push(setup(game, head, &progress)?);
    }
    let mut setups = setups.into_iter();
    let games = match (setups.next(), setups.next(), setups.next()) {
        (Some(first), second, None) => Games { first, second },
        _ => return Err(invalid("a pair has one game or two")),
    };
    Ok(PairJob { pairing, games })
}

fn setup(
    game: GameMessage,
    head: &RunDescription,
    progress: &Progress,
) -> Result<GameSetup, WireError> {
    let mode = CastlingMode::from_chess960(game.chess960);
    let fen: Fen = game.fen.parse().map_err(|error| invalid(format!("FEN: {error}")))?;
    let start: shakmaty::Chess =
        fen.into_position(mode).map_err(|error| invalid(format!("FEN: {error}")))?;
    if game.book.len() > MAX_BOOK {
        return Err(invalid("an opening of more than a thousand moves"));
    }
    let mut position = start.clone();
    let mut book = Vec::new();
    for text in game.book {
        let illegal = || invalid("an opening with an illegal move");
        let uci: UciMove = text.parse().map_err(|_| illegal())?;
        let legal = uci.to_move(&position).map_err(|_| illegal())?;
        position.play_unchecked(legal);
        book.push(uci);
    }
    let engines = ByColor { white: game.white, black: game.black };
    let [white, black] = game.settings.map(settings);
    Ok(GameSetup {
        engines,
        fen: game.fen,
        start,
        mode,
        book,
        conditions: engines.map(|index| head.contestants[index].conditions),
        settings: ByColor { white: white?, black: black? },
        rules: head.rules,
        tables: None,
        keep: Arc::new(Keep::for_annotation(&head.annotation, head.transcripts)),
        progress: progress.clone(),
    })
}

/// Options as an engine can be told them: each on a line of its own.
fn settings(options: Vec<(String, String)>) -> Result<Settings, WireError> {
    let is_line = |text: &String| !text.chars().any(char::is_control);
    match options.iter().all(|(name, value)| is_line(name) && is_line(value)) {
        true if options.len() <= MAX_SETTINGS => Ok(options.into()),
        true => Err(invalid("more than a thousand options for a game")),
        false => Err(invalid("an option that is no line")),
    }
}
