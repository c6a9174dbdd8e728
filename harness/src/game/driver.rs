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
use crate::game::relay::relayed;
use crate::protocol::Game;

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

/// Plays `setup` to its end between players that are ready for it, and gives them back. Whatever
/// an engine does ends in a record; it is never an error.
pub async fn play(setup: GameSetup, players: ByColor<Player>) -> (GameRecord, ByColor<Player>) {
    let ears = players.iter().map(Player::ear).collect();
    relayed(ears, play_on(setup, players)).await
}

async fn play_on(setup: GameSetup, players: ByColor<Player>) -> (GameRecord, ByColor<Player>) {
    let started = Instant::now();
    let mut referee = referee(&setup);
    let ByColor { mut white, mut black } = players;
    let outcome = loop {
        if let Some(outcome) = referee.outcome() {
            break outcome.clone();
        }
        let turn = referee.turn();
        let (mover, waiter) = match turn.color {
            Color::White => (&mut white, &mut black),
            Color::Black => (&mut black, &mut white),
        };
        let reply = tokio::select! {
            biased;
            reply = mover.think(turn) => reply,
            never = waiter.listen() => match never {},
        };
        referee.judge(reply);
        let forecast = mover.expected_reply().and_then(|reply| referee.forecast(reply));
        if let Some(forecast) = forecast.filter(|_| referee.outcome().is_none()) {
            // An engine that cannot be told is found out on its next turn.
            let _ = mover.ponder(forecast);
        }
    };
    (record(&setup, referee, outcome, started), ByColor { white, black })
}

/// What an engine needs to know of `setup` when it sits down as `color`.
pub fn game(setup: &GameSetup, color: Color) -> Game<'_> {
    let limits = setup.conditions.get(color).limits;
    Game { start: &setup.start, mode: setup.mode, limits }
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
