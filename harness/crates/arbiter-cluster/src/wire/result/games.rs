//! A pair as it was played.

use std::convert::Infallible;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr, serde_conv};
use shakmaty::{ByColor, KnownOutcome};

use super::Payload;
use crate::wire::{WireError, invalid};
use arbiter_game::outcome::{Outcome, Termination, printable};
use arbiter_game::record::{GameRecord, MoveRecord};
use arbiter_game::transcript::Transcript;
use arbiter_plan::run::job::{Games, PlayedPair};
use arbiter_schedule::Pairing;
use arbiter_schema::{MoveRow, Nanos, mirrors, nanos};

/// Most moves of a game.
const MAX_MOVES: usize = 20_000;

/// Longest words about a game, in characters.
const MAX_WORDS: usize = 1_000;

/// The games of a pair.
#[derive(Serialize, Deserialize)]
pub struct PairMessage {
    engines: [usize; 2],
    opening: u64,
    #[serde(with = "As::<Vec<GameDef>>")]
    games: Vec<GameRecord>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "GameRecord")]
struct GameDef {
    #[serde(with = "Seats")]
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
    #[serde(with = "Words")]
    detail: String,
}

mirrors! {
    GameDef: GameRecord;
}

serde_conv!(
    Seats,
    ByColor<usize>,
    |seats: &ByColor<usize>| [seats.white, seats.black],
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

serde_conv!(Words, String, String::as_str, |text: String| Ok::<_, Infallible>(printable(
    &text, MAX_WORDS
)));

impl Payload for PlayedPair {
    type Message = PairMessage;

    fn to_message(&self) -> PairMessage {
        let Pairing { engines, opening, .. } = self.pairing;
        PairMessage { engines, opening, games: self.games.iter().cloned().collect() }
    }

    fn from_message(pair: u64, message: PairMessage) -> Result<PlayedPair, WireError> {
        let PairMessage { engines, opening, games } = message;
        if let Some(game) = games.iter().find(|game| game.moves.len() > MAX_MOVES) {
            return Err(invalid(format!("a game of {} moves", game.moves.len())));
        }
        let mut games = games.into_iter();
        match (games.next(), games.next(), games.next()) {
            (Some(first), second, None) => {
                let pairing = Pairing { pair, engines, opening };
                Ok(PlayedPair { pairing, games: Games { first, second } })
            }
            _ => Err(invalid("a pair has one game or two")),
        }
    }

    fn shorten(&mut self) {
        self.drop_transcripts();
    }
}
