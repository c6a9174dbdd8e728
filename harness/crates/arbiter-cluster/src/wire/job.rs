//! A job: a pair to play, or a position of a suite to search or to count. It is complete together with
//! the description of its run.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, Same, serde_conv};
use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Chess, Move, Position};

use super::{Message, RunDescription, WireError, invalid, read, write};
use crate::run_id::RunId;
use arbiter_game::driver::{GameSetup, Settings};
use arbiter_game::progress::Progress;
use arbiter_game::record::Keep;
use arbiter_plan::run::job::{Games, PairJob};
use arbiter_schedule::Pairing;
use arbiter_schema::Millis;
use arbiter_suite::Start;
use arbiter_suite::epd::{Goal, Question, Record};
use arbiter_suite::perft::{Count, NumberedCount, Patterns, PerftQuery};

/// Most moves of an opening, and options that an engine is told for a game.
const MAX_LIST: usize = 1_000;

/// Most moves that a position of a suite lists of one kind: no position has more.
const MAX_MOVES: usize = 256;

/// Longest command or pattern of a count, in bytes.
const MAX_TEXT: usize = 1_000;

/// Deepest count, in plies.
const MAX_DEPTH: u32 = 64;

/// What a worker is to do.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "the large variant is what most of them are")]
pub enum Work {
    /// Play a pair.
    Pair(PairJob),
    /// Have all engines search a position.
    Search(Question),
    /// Have an engine count the leaves of a position.
    Count(NumberedCount),
}

impl Work {
    /// Its number, unique in the run.
    pub fn number(&self) -> u64 {
        match self {
            Work::Pair(job) => job.pairing.pair,
            Work::Search(question) => question.number,
            Work::Count(counting) => counting.number,
        }
    }
}

#[derive(Serialize, Deserialize)]
struct JobMessage {
    run_id: RunId,
    number: u64,
    attempt: u32,
    work: WorkMessage,
}

impl Message for JobMessage {
    const MAX_BYTES: usize = 1 << 20;
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum WorkMessage {
    Pair(PairMessage),
    Search(SearchMessage),
    Count(#[serde(with = "CountDef")] Count),
}

/// Both games of a pair have the same opening, with colours reversed.
#[derive(Serialize, Deserialize)]
struct PairMessage {
    /// The first has White in the first game.
    engines: [usize; 2],
    opening: u64,
    fen: String,
    chess960: bool,
    #[serde(with = "As::<Vec<DisplayFromStr>>")]
    book: Vec<UciMove>,
    /// Options of each engine for this pair.
    settings: [Vec<(String, String)>; 2],
    /// Whether there is no second game.
    is_single: bool,
}

#[derive(Serialize, Deserialize)]
struct SearchMessage {
    #[serde(with = "StartConv")]
    start: Start,
    #[serde(with = "As::<Vec<DisplayFromStr>>")]
    best: Vec<UciMove>,
    #[serde(with = "As::<Vec<DisplayFromStr>>")]
    avoid: Vec<UciMove>,
    mate: Option<u32>,
    #[serde(with = "As::<Vec<(DisplayFromStr, Same)>>")]
    points: Vec<(UciMove, u32)>,
    hold: Option<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Count")]
struct CountDef {
    #[serde(with = "StartConv")]
    start: Start,
    depth: u32,
    expected: u64,
    #[serde(with = "PerftQueryDef")]
    query: PerftQuery,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PerftQuery")]
struct PerftQueryDef {
    command: String,
    #[serde(with = "PatternsConv")]
    patterns: Patterns,
    #[serde(rename = "limit_ms", with = "Millis")]
    limit: Duration,
}

serde_conv!(StartConv, Start, |start: &Start| (start.fen(), start.is_chess960()), |(
    fen,
    is_chess960,
): (
    String,
    bool
)| start(
    &fen,
    is_chess960
));

serde_conv!(
    PatternsConv,
    Patterns,
    |patterns: &Patterns| patterns.total().map(str::to_owned),
    |own: Option<String>| match own {
        Some(text) if text.len() > MAX_TEXT => Err("a pattern of many bytes".to_owned()),
        own => Patterns::new(own.as_deref()),
    }
);

fn start(fen: &str, is_chess960: bool) -> Result<Start, WireError> {
    Start::read(fen, is_chess960).map_err(|error| invalid(format!("FEN: {error}")))
}

/// A job as it is sent; `attempt` is the number of times that it was sent before.
pub fn write_job(run_id: &RunId, work: &Work, attempt: u32) -> Vec<u8> {
    let number = work.number();
    let work = match work {
        Work::Pair(PairJob { pairing, games: Games { first, second } }) => {
            WorkMessage::Pair(PairMessage {
                engines: pairing.engines,
                opening: pairing.opening,
                fen: first.fen.clone(),
                chess960: first.mode == CastlingMode::Chess960,
                book: first.book.clone(),
                settings: [first.settings.white.to_vec(), first.settings.black.to_vec()],
                is_single: second.is_none(),
            })
        }
        Work::Search(Question { record, hold, .. }) => {
            let Record { start, goal, .. } = &**record;
            let uci = |played: &Move| played.to_uci(start.mode);
            WorkMessage::Search(SearchMessage {
                start: start.clone(),
                best: goal.best.iter().map(uci).collect(),
                avoid: goal.avoid.iter().map(uci).collect(),
                mate: goal.mate,
                points: goal.points.iter().map(|(played, points)| (uci(played), *points)).collect(),
                hold: *hold,
            })
        }
        Work::Count(counting) => WorkMessage::Count(counting.count.clone()),
    };
    write(&JobMessage { run_id: run_id.clone(), number, attempt, work })
}

/// A job of the run with this description, and the number of its attempt.
pub fn read_job(bytes: &[u8], description: &RunDescription) -> Result<(Work, u32), WireError> {
    let JobMessage { run_id, number, attempt, work } = read(bytes)?;
    if run_id != description.run_id {
        return Err(invalid("a job of another run"));
    }
    let work = match work {
        WorkMessage::Pair(message) => Work::Pair(pair(message, number, description)?),
        WorkMessage::Search(message) => {
            Work::Search(question(message, number, description.engines.len())?)
        }
        WorkMessage::Count(count) => Work::Count(counting(count, number)?),
    };
    Ok((work, attempt))
}

fn pair(
    message: PairMessage,
    pair: u64,
    description: &RunDescription,
) -> Result<PairJob, WireError> {
    let PairMessage { engines, opening, fen, chess960, book, settings, is_single } = message;
    let engine = |index: usize| description.engines.get(index);
    let [first, second] = match engines.map(engine) {
        [Some(first), Some(second)] if engines[0] != engines[1] => [first, second],
        _ => return Err(invalid("engines that are not in the run")),
    };
    if book.len() > MAX_LIST {
        return Err(invalid("an opening of more than a thousand moves"));
    }
    let Start { position: start, mode } = start(&fen, chess960)?;
    let mut position = start.clone();
    for uci in &book {
        position.play_unchecked(legal(uci, &position)?);
    }
    let settings = settings.map(checked_settings);
    let [first_settings, second_settings] = settings;
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
        keep: Arc::new(Keep::for_annotation(&description.annotation, description.transcripts)),
        progress: Progress::default(),
    };
    let reversed = || GameSetup {
        engines: setup.engines.into_swapped(),
        conditions: setup.conditions.into_swapped(),
        settings: setup.settings.clone().into_swapped(),
        ..setup.clone()
    };
    let second = (!is_single).then(reversed);
    Ok(PairJob {
        pairing: Pairing { pair, engines, opening },
        games: Games { first: setup, second },
    })
}

/// Options as an engine can be told them: each on a line of its own.
fn checked_settings(options: Vec<(String, String)>) -> Result<Settings, WireError> {
    let is_line = |text: &String| !text.chars().any(char::is_control);
    match options.iter().all(|(name, value)| is_line(name) && is_line(value)) {
        true if options.len() <= MAX_LIST => Ok(options.into()),
        true => Err(invalid("more than a thousand options for a game")),
        false => Err(invalid("an option that is no line")),
    }
}

fn legal(uci: &UciMove, position: &Chess) -> Result<Move, WireError> {
    uci.to_move(position).map_err(|_| invalid(format!("the illegal move {uci}")))
}

fn question(message: SearchMessage, number: u64, engines: usize) -> Result<Question, WireError> {
    let SearchMessage { start, best, avoid, mate, points, hold } = message;
    if [best.len(), avoid.len(), points.len()].iter().any(|count| *count > MAX_MOVES) {
        return Err(invalid("more moves than a position has"));
    }
    let read = |uci: &UciMove| legal(uci, &start.position);
    let goal = Goal {
        best: best.iter().map(read).collect::<Result<_, _>>()?,
        avoid: avoid.iter().map(read).collect::<Result<_, _>>()?,
        mate,
        points: points
            .iter()
            .map(|(uci, points)| Ok((read(uci)?, *points)))
            .collect::<Result<_, WireError>>()?,
    };
    let record = Record { line: 0, id: None, theme: None, start, goal, notes: Vec::new() };
    Ok(Question { number, record: Arc::new(record), hold, engines })
}

fn counting(count: Count, number: u64) -> Result<NumberedCount, WireError> {
    let command = &count.query.command;
    if command.len() > MAX_TEXT || command.chars().any(char::is_control) {
        return Err(invalid("a command that is no line of at most a thousand bytes"));
    }
    if !(1..=MAX_DEPTH).contains(&count.depth) {
        return Err(invalid(format!("a count of depth {}", count.depth)));
    }
    Ok(NumberedCount { number, count })
}
