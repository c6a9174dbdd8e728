//! Evaluations of single positions by an engine.

use shakmaty::{CastlingMode, Chess, Color};
use thiserror::Error;

use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_game::referee::{Fault, Reply, Turn};
use arbiter_process::{QUIT_GRACE, Spawner};
use arbiter_protocol::{Game, Go, Limits, Protocol, Score};

/// Why the engine cannot go on.
#[derive(Debug, Error)]
#[error("engine '{engine}': {cause}")]
pub struct AnalysisError {
    engine: String,
    cause: String,
}

/// The result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// Score for the side to move.
    pub score: Score,
    /// Depth of the search, in plies.
    pub depth: u32,
}

/// A running engine without a game.
#[derive(Debug)]
pub struct AnalysisEngine {
    name: String,
    engine: EngineProcess,
    /// The engine lives as long as this does.
    _spawner: Spawner,
}

impl AnalysisEngine {
    /// Starts the engine.
    pub async fn start(setup: &EngineSetup) -> Result<AnalysisEngine, AnalysisError> {
        let fail = |cause: String| AnalysisError { engine: setup.name.clone(), cause };
        if setup.protocol != Protocol::Uci {
            return Err(fail("positions are analysed by UCI engines only".to_owned()));
        }
        let spawner = Spawner::start().map_err(|error| fail(error.to_string()))?;
        let started = EngineProcess::start(&spawner, setup).await;
        let engine = started.map_err(|error| fail(error.to_string()))?;
        Ok(AnalysisEngine { name: setup.name.clone(), engine, _spawner: spawner })
    }

    /// What the engine thinks of the position after `nodes` nodes, with nothing remembered from
    /// other positions; `None` if it gives no score.
    pub async fn ask(
        &mut self,
        fen: &str,
        nodes: u64,
    ) -> Result<Option<Evaluation>, AnalysisError> {
        let start = Chess::default();
        let mode = CastlingMode::Standard;
        let game = Game { start: &start, mode, limits: Limits::default(), settings: &[] };
        let ready: Result<(), EngineError> = self.engine.new_game(game).await;
        ready.map_err(|error| self.broken(error.to_string()))?;
        let go = Go { nodes: Some(nodes), ..Go::default() };
        let position = format!("position fen {fen}");
        // Whose clock it is does not matter where none runs.
        let turn = Turn { color: Color::White, position, go, budget: None };
        match self.engine.think(turn).await {
            Reply::Move { info, .. } => Ok(info
                .score
                .map(|score| Evaluation { score, depth: info.depth.unwrap_or_default() })),
            Reply::Claim(_) => Ok(None),
            Reply::Fault(
                Fault::Silent(cause) | Fault::Crashed(cause) | Fault::Disconnected(cause),
            ) => Err(self.broken(cause)),
        }
    }

    /// Ends the engine.
    pub async fn quit(self) {
        self.engine.quit(QUIT_GRACE).await;
    }

    fn broken(&self, cause: String) -> AnalysisError {
        AnalysisError { engine: self.name.clone(), cause }
    }
}
