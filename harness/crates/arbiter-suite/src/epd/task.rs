//! Question for the move to play.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, Same};
use shakmaty::Position;

use super::Record;
use super::judge::{Answer, Judge};
use crate::runner::{Task, TaskError};
use crate::start::game;
use arbiter_game::engine::EngineProcess;
use arbiter_game::referee::{Fault, Reply, Turn};
use arbiter_game::text::Text;
use arbiter_protocol::{Go, Limits};

/// Overrun after which an engine is sent `stop`; the move that it then plays still counts.
const LENIENCE: Duration = Duration::from_millis(200);

/// Position to be searched by all engines, one after another, so that a disturbance of the machine
/// affects all.
#[derive(Debug, Clone)]
pub struct Question {
    /// Record with the position.
    pub record: Arc<Record>,
    /// Plies for which a solution must be held to end a search.
    pub hold: Option<u32>,
    /// Number of engines.
    pub engines: usize,
}

/// Answers of the engines to a question, by their index; an error is the engine's fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineAnswers(
    #[serde(with = "As::<Vec<Result<Same, Text>>>")] pub Vec<Result<Answer, String>>,
);

impl Question {
    /// Returns the searches of the question; `limits` has those of each engine.
    pub fn searches<'a>(
        &'a self,
        limits: impl IntoIterator<Item = Limits> + 'a,
    ) -> impl Iterator<Item = Search> + 'a {
        let setups = limits.into_iter().take(self.engines).enumerate();
        setups.map(|(engine, limits)| {
            let Question { record, hold, .. } = self.clone();
            Search { record, engine, limits, hold }
        })
    }
}

/// Search of a position by one engine.
#[derive(Debug, Clone)]
pub struct Search {
    /// Record with the position.
    pub record: Arc<Record>,
    /// Index of the engine.
    pub engine: usize,
    /// Limits of the search; a clock is ignored.
    pub limits: Limits,
    /// Plies for which a solution must be held to end the search.
    pub hold: Option<u32>,
}

impl Task for Search {
    type Output = Answer;

    fn engine(&self) -> usize {
        self.engine
    }

    async fn run(&self, engine: &mut EngineProcess) -> Result<Answer, TaskError> {
        let Record { start, goal, .. } = &*self.record;
        // The hash table is cleared, so that no position profits from the one before.
        engine.new_game(game(start)).await?;
        // A suite has no game whose clock could run.
        let Limits { movetime, nodes, depth, .. } = self.limits;
        let go = Go { movetime, nodes, depth, ..Go::default() };
        let mut judge = Judge::new(start, goal);
        let look = |at: Duration, info: &arbiter_protocol::Info| {
            let held = judge.look(at, info);
            if self.hold.zip(held).is_some_and(|(wanted, held)| held >= wanted) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        // Searches limited by nodes or depth take a time that nobody knows beforehand, so only a
        // time limit gives a budget.
        let budget = movetime.map(|time| time + LENIENCE);
        let color = start.position.turn();
        let turn = Turn { color, position: start.line(&[]), go, budget };
        match engine.watch(turn, look).await {
            Reply::Move { text, elapsed, info } => {
                let answer = judge.end(&text, elapsed, &info);
                // An illegal move is a fault of the engine, and is found here, where its process
                // can still be replaced.
                answer.judged(start, goal).map_err(TaskError::Fault)?;
                Ok(answer)
            }
            Reply::Fault(
                Fault::Silent(what) | Fault::Crashed(what) | Fault::Disconnected(what),
            ) => Err(TaskError::Fault(what)),
            Reply::Claim(claim) => Err(TaskError::Fault(format!("claims a result: {claim:?}"))),
        }
    }
}
