//! An engine that is asked for its opinion of single positions.

use shakmaty::{CastlingMode, Chess, Color};
use thiserror::Error;

use arbiter_game::player::{Player, PlayerError, Seat};
use arbiter_game::referee::{Fault, Reply, Turn};
use arbiter_process::{QUIT_GRACE, Spawner};
use arbiter_protocol::clock::Limits;
use arbiter_protocol::uci::command::Go;
use arbiter_protocol::uci::score::Score;
use arbiter_protocol::{Game, Protocol};

/// The engine cannot go on; the text says why.
#[derive(Debug, Error)]
#[error("engine '{engine}': {cause}")]
pub struct AnalystError {
    engine: String,
    cause: String,
}

/// An opinion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opinion {
    /// Score for the side to move.
    pub score: Score,
    /// Depth of the search, in plies.
    pub depth: u32,
}

/// A running engine without a game.
#[derive(Debug)]
pub struct Analyst {
    name: String,
    player: Player,
    /// The engine lives as long as this does.
    _spawner: Spawner,
}

impl Analyst {
    /// Starts the engine.
    pub async fn start(seat: &Seat) -> Result<Analyst, AnalystError> {
        let fail = |cause: String| AnalystError { engine: seat.name.clone(), cause };
        if seat.protocol != Protocol::Uci {
            return Err(fail("positions are analysed by UCI engines only".to_owned()));
        }
        let spawner = Spawner::start().map_err(|error| fail(error.to_string()))?;
        let started = Player::start(&spawner, seat).await;
        let player = started.map_err(|error| fail(error.to_string()))?;
        Ok(Analyst { name: seat.name.clone(), player, _spawner: spawner })
    }

    /// What the engine thinks of the position after `nodes` nodes, with nothing remembered from
    /// other positions; `None` if it gives no score.
    pub async fn ask(&mut self, fen: &str, nodes: u64) -> Result<Option<Opinion>, AnalystError> {
        let start = Chess::default();
        let mode = CastlingMode::Standard;
        let game = Game { start: &start, mode, limits: Limits::default(), settings: &[] };
        let ready: Result<(), PlayerError> = self.player.new_game(game).await;
        ready.map_err(|error| self.broken(error.to_string()))?;
        let go = Go { nodes: Some(nodes), ..Go::default() };
        let position = format!("position fen {fen}");
        // Whose clock it is does not matter where none runs.
        let turn = Turn { color: Color::White, position, go, budget: None };
        match self.player.think(turn).await {
            Reply::Move { info, .. } => {
                Ok(info.score.map(|score| Opinion { score, depth: info.depth.unwrap_or_default() }))
            }
            Reply::Claim(_) => Ok(None),
            Reply::Fault(
                Fault::Silent(cause) | Fault::Crashed(cause) | Fault::Disconnected(cause),
            ) => Err(self.broken(cause)),
        }
    }

    /// Ends the engine.
    pub async fn dismiss(self) {
        self.player.quit(QUIT_GRACE).await;
    }

    fn broken(&self, cause: String) -> AnalystError {
        AnalystError { engine: self.name.clone(), cause }
    }
}
