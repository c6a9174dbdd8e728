//! Task that asks an engine for a number of leaves, and locates the fault after a wrong answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, Same};

use super::answer::{Answer, OwnPattern, Patterns};
use super::walk::{Finding, Walk, leaves};
use crate::runner::{Task, TaskError};
use crate::start::{FenAndRules, game};
use arbiter_game::engine::EngineProcess;
use arbiter_game::text::Text;
use arbiter_position::Start;
use arbiter_protocol::times::Millis;

/// Command, patterns and time limit for asking an engine for a count.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PerftQuery {
    /// Command, with `{depth}` in place of the depth.
    pub command: String,
    /// Patterns for the lines of the answer.
    #[serde(with = "OwnPattern")]
    pub patterns: Patterns,
    /// Time limit of one answer.
    #[serde(with = "Millis")]
    pub limit: Duration,
}

/// Position whose leaves are counted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Count {
    /// The position.
    #[serde(with = "FenAndRules")]
    pub start: Start,
    /// Depth in plies.
    pub depth: u32,
    /// Count according to the suite.
    pub expected: u64,
    /// Command and patterns for asking the engine.
    pub query: PerftQuery,
}

/// Verdict on a count; the error is a fault of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountResult(#[serde(with = "As::<Result<Same, Text>>")] pub Result<Verdict, String>);

/// Verdict on the count of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Engine and suite agree.
    Right,
    /// The engine is wrong.
    Wrong {
        /// Count of the engine.
        got: u64,
        /// Correct count according to the harness; the count of the suite may differ.
        leaves: u64,
        /// First position for which the engine's count is wrong.
        finding: Finding,
    },
    /// The engine agrees with the harness, but not with the suite.
    WrongSuite {
        /// Correct count.
        leaves: u64,
    },
}

impl Task for Count {
    type Output = Verdict;

    async fn run(&self, engine: &mut EngineProcess) -> Result<Verdict, TaskError> {
        engine.new_game(game(&self.start)).await?;
        let mut answer = self.ask(engine, self.start.line(&[]), self.depth).await?;
        // A complete answer ends with a total.
        let got = answer.total.unwrap_or_default();
        if got == self.expected {
            return Ok(Verdict::Right);
        }
        // The harness counts the leaves only if the counts differ, because counting takes as long
        // as in the engine.
        let leaves = leaves(&self.start.position, self.depth);
        if got == leaves {
            return Ok(Verdict::WrongSuite { leaves });
        }
        let mut walk = Walk::new(&self.start, self.depth);
        let finding = loop {
            if let Some(finding) = walk.answer(&answer) {
                break finding;
            }
            let (position, depth) = walk.question();
            answer = self.ask(engine, position, depth).await?;
        };
        Ok(Verdict::Wrong { got, leaves, finding })
    }
}

impl Count {
    async fn ask(
        &self,
        engine: &mut EngineProcess,
        position: String,
        depth: u32,
    ) -> Result<Answer, TaskError> {
        let mut answer = Answer::default();
        let question = self.query.command.replace("{depth}", &depth.to_string());
        let patterns = &self.query.patterns;
        let take = |line: &str| answer.take(line, patterns);
        let asked = engine.ask(&position, &question, self.query.limit, take).await;
        match (&answer.search, asked) {
            // The search would also end in a timeout, but the error has to report the real cause.
            (Some(line), _) => Err(TaskError::Unsupported(format!(
                "replies to '{question}' with a search ('{line}'); if it has another command for \
                 perft, give --command"
            ))),
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Ok(answer),
        }
    }
}
