//! Task that asks an engine for a number of leaves and, if the answer is wrong, locates the fault.

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
    /// Command to send, with `{depth}` as a placeholder for the depth.
    pub command: String,
    /// Patterns for the lines of the answer.
    #[serde(with = "OwnPattern")]
    pub patterns: Patterns,
    /// Time limit for one answer.
    #[serde(with = "Millis")]
    pub limit: Duration,
}

/// Task to count the leaves below a position.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Count {
    /// Position whose leaves are counted.
    #[serde(with = "FenAndRules")]
    pub start: Start,
    /// Depth of the count, in plies.
    pub depth: u32,
    /// Number of leaves according to the suite.
    pub expected: u64,
    /// Command, patterns and time limit for asking the engine.
    pub query: PerftQuery,
}

/// Verdict on a count. The error is a fault of the engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountResult(#[serde(with = "As::<Result<Same, Text>>")] pub Result<Verdict, String>);

/// Verdict on the count of an engine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The engine's count equals the count in the suite.
    Right,
    /// The engine's count differs from the count in the suite and from the count of the harness.
    Wrong {
        /// Count of the engine.
        got: u64,
        /// Correct count according to the harness. The count in the suite may be different.
        leaves: u64,
        /// First position in which the engine's moves or count are wrong.
        finding: Finding,
    },
    /// The engine's count equals the count of the harness, but not the count in the suite.
    WrongSuite {
        /// Correct count according to the harness.
        leaves: u64,
    },
}

impl Task for Count {
    type Output = Verdict;

    async fn run(&self, engine: &mut EngineProcess) -> Result<Verdict, TaskError> {
        engine.new_game(game(&self.start)).await?;
        let mut answer = self.ask(engine, self.start.line(&[]), self.depth).await?;
        // A complete answer ends with a total, so the default is never used.
        let got = answer.total.unwrap_or_default();
        if got == self.expected {
            return Ok(Verdict::Right);
        }
        // The harness counts the leaves only if the engine's count differs from the suite, because
        // the harness may take as long as the engine.
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
        let reply = engine.ask(&position, &question, self.query.limit, take).await;
        match (&answer.search, reply) {
            // The search would also end in a timeout, but this error reports the real cause.
            (Some(line), _) => Err(TaskError::Unsupported(format!(
                "replies to '{question}' with a search ('{line}'); if the engine has another \
                 command for perft, give --command"
            ))),
            (None, Err(error)) => Err(error.into()),
            (None, Ok(_)) => Ok(answer),
        }
    }
}
