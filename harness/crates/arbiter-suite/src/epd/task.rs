//! Task that asks an engine for the move to play.

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

/// Time beyond the limit after which an engine is sent `stop`; the move that the engine then plays
/// still counts.
const LENIENCE: Duration = Duration::from_millis(200);

/// Position that all engines search one after another, so that a disturbance of the machine affects
/// all of them.
#[derive(Debug, Clone)]
pub struct Question {
    /// Record with the position.
    pub record: Arc<Record>,
    /// Number of plies beyond the depth of a solution after which the search is ended early.
    pub hold: Option<u32>,
    /// Number of engines.
    pub engines: usize,
}

/// Answers of the engines to a question, in the order of the engines; an error is a fault of the
/// engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineAnswers(
    #[serde(with = "As::<Vec<Result<Same, Text>>>")] pub Vec<Result<Answer, String>>,
);

impl Question {
    /// Returns the searches of the question; `limits` contains the limits of each engine.
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
    /// Number of plies beyond the depth of a solution after which the search is ended early.
    pub hold: Option<u32>,
}

impl Task for Search {
    type Output = Answer;

    fn engine(&self) -> usize {
        self.engine
    }

    async fn run(&self, engine: &mut EngineProcess) -> Result<Answer, TaskError> {
        let Record { start, goal, .. } = &*self.record;
        // The hash table is cleared, so that no search profits from the previous position.
        engine.new_game(game(start)).await?;
        // The clock is ignored, because no clock runs in a suite.
        let Limits { movetime, nodes, depth, .. } = self.limits;
        let go = Go { movetime, nodes, depth, ..Go::default() };
        let mut judge = Judge::new(start, goal);
        let look = |at: Duration, info: &arbiter_protocol::Info| {
            let held = judge.look(at, info);
            self.hold.zip(held).is_some_and(|(wanted, held)| held >= wanted)
        };
        // The duration of a search limited by nodes or depth is unknown, so only searches with a
        // time limit have a budget.
        let budget = movetime.map(|time| time + LENIENCE);
        let color = start.position.turn();
        let turn = Turn { color, position: start.line(&[]), go, budget };
        match engine.watch(turn, look).await {
            Reply::Move { text, elapsed, info } => {
                let answer = judge.end(&text, elapsed, &info);
                // An illegal move is a fault of the engine. It is detected here, where the process
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
