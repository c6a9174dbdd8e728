//! Evaluation of individual positions by an engine.

use shakmaty::{CastlingMode, Chess, Color};

use crate::preflight::{PreflightError, start, start_spawner};
use arbiter_game::engine::{EngineProcess, EngineSetup};
use arbiter_game::referee::{Fault, Reply, Turn};
use arbiter_process::{QUIT_GRACE, Spawner};
use arbiter_protocol::{Game, Go, Limits, Protocol, Score};

/// Result of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evaluation {
    /// Score from the point of view of the side to move.
    pub score: Score,
    /// Depth of the search, in plies.
    pub depth: u32,
}

/// Running engine that evaluates positions outside games.
#[derive(Debug)]
pub struct AnalysisEngine {
    /// Name of the engine, for errors.
    name: String,
    engine: EngineProcess,
    /// Spawner of the engine, kept because dropping it would kill the engine.
    _spawner: Spawner,
}

impl AnalysisEngine {
    /// Starts the engine. Fails if the engine does not speak UCI, does not start, or does not
    /// accept its options.
    pub async fn start(setup: &EngineSetup) -> Result<AnalysisEngine, PreflightError> {
        if setup.protocol != Protocol::Uci {
            let cause = "only UCI engines can analyse positions";
            return Err(PreflightError::new(&setup.name, cause));
        }
        let spawner = start_spawner(&setup.name)?;
        let engine = start(&spawner, setup).await?;
        Ok(AnalysisEngine { name: setup.name.clone(), engine, _spawner: spawner })
    }

    /// Starts a new game, searches a position for `nodes` nodes, and returns the evaluation; `None`
    /// if the engine reports no score. After an error, the engine can no longer be used.
    pub async fn ask(
        &mut self,
        fen: &str,
        nodes: u64,
    ) -> Result<Option<Evaluation>, PreflightError> {
        let broken = |cause: String| PreflightError::new(&self.name, cause);
        let start = Chess::default();
        let mode = CastlingMode::Standard;
        let game = Game { start: &start, mode, limits: Limits::default(), settings: &[] };
        self.engine.new_game(game).await.map_err(|error| broken(error.to_string()))?;
        let go = Go { nodes: Some(nodes), ..Go::default() };
        let position = format!("position fen {fen}");
        // The colour only selects a clock, and no clock is running.
        let turn = Turn { color: Color::White, position, go, budget: None };
        match self.engine.think(turn).await {
            Reply::Move { info, .. } => Ok(info
                .score
                .map(|score| Evaluation { score, depth: info.depth.unwrap_or_default() })),
            Reply::Claim(_) => Ok(None),
            Reply::Fault(
                Fault::Silent(cause) | Fault::Crashed(cause) | Fault::Disconnected(cause),
            ) => Err(broken(cause)),
        }
    }

    /// Terminates the engine with `quit`.
    pub async fn quit(self) {
        self.engine.quit(QUIT_GRACE).await;
    }
}
