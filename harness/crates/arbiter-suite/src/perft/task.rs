//! The question how many leaves there are, and what to do about a wrong answer.

use std::time::Duration;

use super::answer::{Answer, Patterns};
use super::walk::{Finding, Walk, leaves};
use crate::runner::{Task, TaskError};
use crate::start::Start;
use arbiter_game::engine::EngineProcess;

/// How to ask an engine to count.
#[derive(Debug, Clone)]
pub struct PerftQuery {
    /// The command, with `{depth}` in place of the depth.
    pub command: String,
    /// How to tell the lines of the answer.
    pub patterns: Patterns,
    /// Time for one answer.
    pub limit: Duration,
}

/// A position whose leaves are to be counted.
#[derive(Debug, Clone)]
pub struct Count {
    /// The position.
    pub start: Start,
    /// Depth in plies.
    pub depth: u32,
    /// The count in the suite.
    pub expected: u64,
    /// How to ask the engine.
    pub query: PerftQuery,
}

/// A count, and its place in the suite.
#[derive(Debug, Clone)]
pub struct NumberedCount {
    /// Its number, from 0.
    pub number: u64,
    /// The count.
    pub count: Count,
}

/// The result of a count, and its place in the suite.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The number of the count.
    pub number: u64,
    /// The verdict; an error is the engine's fault.
    pub verdict: Result<Verdict, String>,
}

/// The result of a count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Engine and suite agree.
    Right,
    /// The engine is wrong.
    Wrong {
        /// What the engine counts.
        got: u64,
        /// The true count by the rules of this harness; the suite may have another.
        leaves: u64,
        /// The first position that it gets wrong.
        finding: Finding,
    },
    /// The engine agrees with the rules of this harness, and the suite does not.
    WrongSuite {
        /// The true count.
        leaves: u64,
    },
}

impl Task for Count {
    type Output = Verdict;

    fn engine(&self) -> usize {
        0
    }

    async fn run(&self, engine: &mut EngineProcess) -> Result<Verdict, TaskError> {
        engine.new_game(self.start.game()).await?;
        let answer = self.ask(engine, self.start.line(&[]), self.depth).await?;
        let got = answer.total.unwrap_or_default();
        if got == self.expected {
            return Ok(Verdict::Right);
        }
        let leaves = leaves(&self.start.position, self.depth);
        if got == leaves {
            return Ok(Verdict::WrongSuite { leaves });
        }
        let mut walk = Walk::new(&self.start, self.depth);
        let mut answer = answer;
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
        let mut failure = None;
        let patterns = &self.query.patterns;
        let take = |line: &str| answer.take(line, patterns);
        if let Err(error) = engine.ask(&position, &question, self.query.limit, take).await {
            failure = Some(error);
        }
        match (&answer.search, failure) {
            (Some(line), _) => Err(TaskError::Unsupported(format!(
                "answers '{question}' with a search ('{line}'); if it counts by another command, \
                 give that with --command"
            ))),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Ok(answer),
        }
    }
}
