//! A pair as it was played.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::{ByColor, KnownOutcome};

use super::{Payload, ResultMessage};
use crate::wire::{WireError, invalid, nanos, printable};
use arbiter_game::outcome::Outcome;
use arbiter_game::record::{Details, GameRecord, MoveRecord, Thought};
use arbiter_plan::run::job::{Games, PlayedPair};
use arbiter_protocol::uci::score::Score;
use arbiter_schedule::Pairing;

/// Most moves of a game.
const MAX_MOVES: usize = 20_000;

/// Longest words about a game, in characters.
const MAX_WORDS: usize = 1_000;

#[derive(Serialize, Deserialize)]
pub(super) struct GameMessage {
    white: usize,
    black: usize,
    fen: String,
    chess960: bool,
    result: String,
    termination: String,
    detail: String,
    duration_ns: u64,
    ready_ns: [Option<u64>; 2],
    late_ns: Option<u64>,
    moves: Vec<MoveMessage>,
    transcript: Option<String>,
}

/// A move; `t` is absent for moves of the book.
#[derive(Serialize, Deserialize)]
struct MoveMessage {
    m: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    t: Option<ThoughtMessage>,
}

#[derive(Serialize, Deserialize)]
struct ThoughtMessage {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cp: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mate: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    depth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    seldepth: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<u64>,
    elapsed_ns: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reported_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    overrun_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left_ns: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nps: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    hashfull: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tbhits: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pv: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    lines: Vec<String>,
}

impl Payload for PlayedPair {
    fn fill(&self, message: &mut ResultMessage) {
        message.engines = self.pairing.engines;
        message.opening = self.pairing.opening;
        message.games = self.games.iter().map(GameMessage::of).collect();
    }

    fn take(message: ResultMessage) -> Result<PlayedPair, WireError> {
        let ResultMessage { pair, engines, opening, .. } = message;
        let pairing = Pairing { pair, engines, opening };
        let mut games = message.games.into_iter().map(GameMessage::into_record);
        match (games.next(), games.next(), games.next()) {
            (Some(first), second, None) => {
                let games = Games { first: first?, second: second.transpose()? };
                Ok(PlayedPair { pairing, games })
            }
            _ => Err(invalid("a pair has one game or two")),
        }
    }

    fn shorten(&mut self) {
        self.drop_transcripts();
    }
}

impl GameMessage {
    fn of(record: &GameRecord) -> GameMessage {
        GameMessage {
            white: record.engines.white,
            black: record.engines.black,
            fen: record.fen.clone(),
            chess960: record.chess960,
            result: record.outcome.result.as_str().to_owned(),
            termination: record.outcome.termination.as_str().to_owned(),
            detail: record.outcome.detail.clone(),
            duration_ns: nanos(record.duration),
            ready_ns: [record.ready.white, record.ready.black].map(|time| time.map(nanos)),
            late_ns: record.late.map(nanos),
            moves: record.moves.iter().map(MoveMessage::of).collect(),
            transcript: record.transcript.as_ref().map(ToString::to_string),
        }
    }

    fn into_record(self) -> Result<GameRecord, WireError> {
        if self.moves.len() > MAX_MOVES {
            return Err(invalid(format!("a game of {} moves", self.moves.len())));
        }
        let result: KnownOutcome =
            self.result.parse().map_err(|_| invalid("a result that is none"))?;
        let [white, black] = self.ready_ns.map(|time| time.map(Duration::from_nanos));
        let moves = self.moves.into_iter().map(MoveMessage::into_record);
        Ok(GameRecord {
            engines: ByColor { white: self.white, black: self.black },
            fen: self.fen,
            chess960: self.chess960,
            moves: moves.collect::<Result<_, _>>()?,
            outcome: Outcome {
                result,
                termination: self
                    .termination
                    .parse()
                    .map_err(|error: String| invalid(printable(&error)))?,
                detail: arbiter_game::outcome::printable(&self.detail, MAX_WORDS),
            },
            duration: Duration::from_nanos(self.duration_ns),
            ready: ByColor { white, black },
            late: self.late_ns.map(Duration::from_nanos),
            transcript: self
                .transcript
                .map(|text| text.parse())
                .transpose()
                .map_err(|error: String| invalid(printable(&error)))?,
        })
    }
}

impl MoveMessage {
    fn of(record: &MoveRecord) -> MoveMessage {
        let thought = record.thought.as_ref().map(|thought| {
            let details = thought.details.as_deref();
            ThoughtMessage {
                cp: thought.score.and_then(Score::centipawns),
                mate: thought.score.and_then(Score::mate),
                depth: thought.depth,
                seldepth: thought.seldepth,
                nodes: thought.nodes,
                elapsed_ns: nanos(thought.elapsed),
                reported_ns: thought.reported.map(nanos),
                overrun_ns: thought.overrun.map(nanos),
                left_ns: thought.left.map(nanos),
                nps: details.and_then(|details| details.nps),
                hashfull: details.and_then(|details| details.hashfull),
                tbhits: details.and_then(|details| details.tbhits),
                pv: details.map_or_else(Vec::new, |details| details.pv.clone()),
                lines: details.map_or_else(Vec::new, |details| details.lines.clone()),
            }
        });
        MoveMessage { m: record.uci.to_string(), t: thought }
    }

    fn into_record(self) -> Result<MoveRecord, WireError> {
        let thought = self.t.map(|thought| Thought {
            score: thought.cp.map(Score::Centipawns).or(thought.mate.map(Score::Mate)),
            depth: thought.depth,
            seldepth: thought.seldepth,
            nodes: thought.nodes,
            elapsed: Duration::from_nanos(thought.elapsed_ns),
            reported: thought.reported_ns.map(Duration::from_nanos),
            overrun: thought.overrun_ns.map(Duration::from_nanos),
            left: thought.left_ns.map(Duration::from_nanos),
            details: Details {
                nps: thought.nps,
                hashfull: thought.hashfull,
                tbhits: thought.tbhits,
                pv: thought.pv,
                lines: thought.lines,
            }
            .boxed(),
        });
        let uci = self.m.parse().map_err(|_| invalid("a move that is none"))?;
        Ok(MoveRecord { uci, thought })
    }
}
