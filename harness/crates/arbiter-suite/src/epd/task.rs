//! Task that asks an engine for the move to play in a position.

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

/// Time from the end of the time limit until the harness sends `stop`. A move that the engine plays
/// after `stop` still counts.
const LENIENCE: Duration = Duration::from_millis(200);

/// Position that all engines search in succession, so that a disturbance on the machine affects all
/// engines.
#[derive(Debug, Clone)]
pub struct Question {
    /// Record with the position.
    pub record: Arc<Record>,
    /// Number of plies by which the depth has to grow while a search shows the solution, before the
    /// search is ended early; `None` if no search is ended early.
    pub hold: Option<u32>,
    /// Number of engines that search the position.
    pub engines: usize,
}

/// Answers of all engines to a question, in the order of the engines. An error is a fault of the
/// engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineAnswers(
    #[serde(with = "As::<Vec<Result<Same, Text>>>")] pub Vec<Result<Answer, String>>,
);

impl Question {
    /// Returns the searches of this position, one per engine. `limits` contains the search limits
    /// of each engine.
    pub fn searches<'a>(
        &'a self,
        limits: impl IntoIterator<Item = Limits> + 'a,
    ) -> impl Iterator<Item = Search> + 'a {
        let setups = limits.into_iter().take(self.engines).enumerate();
        setups.map(|(engine, limits)| Search { question: self.clone(), engine, limits })
    }
}

/// Search of a position by one engine.
#[derive(Debug, Clone)]
pub struct Search {
    question: Question,
    /// Index of the engine.
    engine: usize,
    /// Limits of the search. Time controls are ignored.
    limits: Limits,
}

impl Task for Search {
    type Output = Answer;

    fn engine(&self) -> usize {
        self.engine
    }

    async fn run(&self, engine: &mut EngineProcess) -> Result<Answer, TaskError> {
        let Question { record, hold, .. } = &self.question;
        let Record { start, goal, .. } = &**record;
        // The new game clears the hash table, so that no search profits from the previous position.
        engine.new_game(game(start)).await?;
        // Time controls are ignored, because no clock runs in a suite.
        let Limits { movetime, nodes, depth, .. } = self.limits;
        let go = Go { movetime, nodes, depth, ..Go::default() };
        let mut judge = Judge::new(start, goal);
        let look = |at: Duration, info: &arbiter_protocol::Info| {
            let held = judge.look(at, info);
            hold.zip(held).is_some_and(|(wanted, held)| held >= wanted)
        };
        // Only searches with a time limit have a budget, because the duration of a search limited
        // by nodes or depth is unknown.
        let budget = movetime.map(|time| time + LENIENCE);
        let color = start.position.turn();
        let turn = Turn { color, position: start.line(&[]), go, budget };
        match engine.watch(turn, look).await {
            Reply::Move { text, elapsed, info } => {
                let answer = judge.end(&text, elapsed, &info);
                // An illegal move is a fault of the engine. The move is checked here, because the
                // caller can then still replace the process.
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
