//! The question what to play.

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

/// Overrun after which an engine is told to stop; what it then plays still counts.
const LENIENCE: Duration = Duration::from_millis(200);

/// A position to be searched by all engines, one after another, so that what disturbs the machine
/// disturbs all.
#[derive(Debug, Clone)]
pub struct Question {
    /// The question.
    pub record: Arc<Record>,
    /// End searches once a solution was held for so many plies.
    pub hold: Option<u32>,
    /// How many engines there are.
    pub engines: usize,
}

/// What engines answered to a question, by their index; an error is the engine's fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered(
    #[serde(with = "As::<Vec<Result<Same, Text>>>")] pub Vec<Result<Answer, String>>,
);

impl Question {
    /// Its searches; `limits` has those of each engine.
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

/// One search.
#[derive(Debug, Clone)]
pub struct Search {
    /// The question.
    pub record: Arc<Record>,
    /// Index of the engine.
    pub engine: usize,
    /// What bounds it; a clock is not looked at.
    pub limits: Limits,
    /// End it once a solution was held for so many plies.
    pub hold: Option<u32>,
}

impl Task for Search {
    type Output = Answer;

    fn engine(&self) -> usize {
        self.engine
    }

    async fn run(&self, engine: &mut EngineProcess) -> Result<Answer, TaskError> {
        let Record { start, goal, .. } = &*self.record;
        engine.new_game(game(start)).await?;
        let Limits { movetime, nodes, depth, .. } = self.limits;
        let go = Go { movetime, nodes, depth, ..Go::default() };
        let mut judge = Judge::new(start, goal);
        let look = |at: Duration, info: &arbiter_protocol::Info| {
            let held = judge.look(at, info);
            match self.hold.zip(held).is_some_and(|(wanted, held)| held >= wanted) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        };
        let budget = movetime.map(|time| time + LENIENCE);
        let color = start.position.turn();
        let turn = Turn { color, position: start.line(&[]), go, budget };
        match engine.watch(turn, look).await {
            Reply::Move { text, elapsed, info } => {
                let answer = judge.end(&text, elapsed, &info);
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
