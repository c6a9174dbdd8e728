//! Plays one game: carries turns from the referee to the players and their answers back.

use std::time::Instant;

use shakmaty::uci::UciMove;
use shakmaty::{ByColor, CastlingMode, Chess, Color};

use crate::adjudicate::Rules;
use crate::clock::Conditions;
use crate::game::outcome::Outcome;
use crate::game::player::Player;
use crate::game::record::GameRecord;
use crate::game::referee::{Fault, Referee};

/// What is to be played.
#[derive(Debug, Clone)]
pub struct GameSetup {
    /// Indices into the plan's engines.
    pub engines: ByColor<usize>,
    /// FEN of the start, counters included.
    pub fen: String,
    /// Where the game starts: the position of `fen`.
    pub start: Chess,
    /// How castling is written and done.
    pub mode: CastlingMode,
    /// Moves of the opening book.
    pub book: Vec<UciMove>,
    /// Each side's conditions.
    pub conditions: ByColor<Conditions>,
    /// When the game ends before the rules of chess say so.
    pub rules: Rules,
}

/// Plays `setup` to its end. Whatever an engine does ends in a record; it is never an error.
pub async fn play(setup: &GameSetup, mut players: ByColor<&mut Player>) -> GameRecord {
    let started = Instant::now();
    let mut referee = referee(setup);
    for color in Color::ALL {
        let player = players.get_mut(color);
        if let Err(error) = player.new_game(setup.mode == CastlingMode::Chess960).await {
            referee.forfeit(color, error.into_fault());
        }
    }
    let outcome = loop {
        if let Some(outcome) = referee.outcome() {
            break outcome.clone();
        }
        let turn = referee.turn();
        let player = players.get_mut(turn.color);
        referee.judge(player.think(turn.position, turn.go, turn.budget).await);
    };
    record(setup, referee, outcome, started)
}

/// The record of a game that `absent` could not begin.
pub fn forfeited(setup: &GameSetup, absent: Color, fault: Fault) -> GameRecord {
    let mut referee = referee(setup);
    let outcome = referee.forfeit(absent, fault).clone();
    record(setup, referee, outcome, Instant::now())
}

fn referee(setup: &GameSetup) -> Referee {
    Referee::new(setup.start.clone(), setup.mode, &setup.book, setup.conditions, setup.rules)
}

fn record(setup: &GameSetup, referee: Referee, outcome: Outcome, started: Instant) -> GameRecord {
    GameRecord {
        engines: setup.engines,
        fen: setup.fen.clone(),
        chess960: setup.mode == CastlingMode::Chess960,
        moves: referee.into_moves(),
        outcome,
        duration: started.elapsed(),
    }
}
