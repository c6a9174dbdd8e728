//! Runner for the tasks of a suite. This module is the only part of the crate that starts engines.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::join_all;
use futures_util::stream;
use thiserror::Error;
use tokio::task::JoinSet;

use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_process::{QUIT_GRACE, Spawner};

/// Question to one engine.
pub trait Task: Send + Sync + 'static {
    /// Type of the answer.
    type Output: Send + 'static;

    /// Returns the index of the engine to ask; 0 by default.
    fn engine(&self) -> usize {
        0
    }

    /// Asks the engine the question.
    fn run(
        &self,
        engine: &mut EngineProcess,
    ) -> impl Future<Output = Result<Self::Output, TaskError>> + Send;
}

/// Reason why an engine gave no valid answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskError {
    /// The engine crashed, did not answer or sent an invalid answer. The next request may succeed
    /// with a new process.
    Fault(String),
    /// The engine cannot answer questions of this kind.
    Unsupported(String),
}

impl From<EngineError> for TaskError {
    fn from(error: EngineError) -> TaskError {
        TaskError::Fault(error.to_string())
    }
}

/// Reason for ending a suite early.
#[derive(Debug, Error)]
pub enum SuiteError {
    /// The machine failed, for example because no process could be started.
    #[error("{0}")]
    Environment(String),
    /// An engine cannot answer questions of this kind. The message contains the engine's name and
    /// the reason.
    #[error("{0}")]
    Unsupported(String),
}

/// Answers to all tasks, in the order of the tasks. An error is a fault of the engine.
pub type Answers<D> = Vec<Result<D, String>>;

/// Engines that answer questions in succession and run until a fault occurs.
pub struct SuiteEngines {
    setups: Arc<[EngineSetup]>,
    spawner: Spawner,
    /// Running engines, by index.
    started: BTreeMap<usize, EngineProcess>,
}

impl SuiteEngines {
    /// Creates the engines. Each engine is started when the first question is sent to the engine.
    pub fn new(setups: Arc<[EngineSetup]>, spawner: Spawner) -> SuiteEngines {
        SuiteEngines { setups, spawner, started: BTreeMap::new() }
    }

    /// Sends the question of a task to the task's engine, and first starts the engine if necessary.
    /// The inner error is a fault of the engine. Dropping the future kills the engine.
    pub async fn ask<T: Task>(
        &mut self,
        task: &T,
    ) -> Result<Result<T::Output, String>, SuiteError> {
        let setup = &self.setups[task.engine()];
        let message = |reason: String| format!("engine '{}': {reason}", setup.name);
        let mut engine = match self.started.remove(&task.engine()) {
            Some(engine) => engine,
            None => match EngineProcess::start(&self.spawner, setup).await {
                Ok(engine) => engine,
                // Earlier, this engine could be started, so the machine is the cause.
                Err(error @ EngineError::Spawn(_)) => {
                    return Err(SuiteError::Environment(message(error.to_string())));
                }
                Err(error) => return Ok(Err(error.to_string())),
            },
        };
        let error = match task.run(&mut engine).await {
            Ok(output) => {
                self.started.insert(task.engine(), engine);
                return Ok(Ok(output));
            }
            Err(error) => error,
        };
        // An engine that did not answer is in an unknown state, and a late answer could be mistaken
        // for the answer to the next question. The next question therefore gets a new process.
        engine.quit(Duration::ZERO).await;
        match error {
            TaskError::Fault(reason) => Ok(Err(reason)),
            TaskError::Unsupported(reason) => Err(SuiteError::Unsupported(message(reason))),
        }
    }

    /// Stops all engines with `quit`. The next question to an engine restarts the engine.
    pub async fn quit(&mut self) {
        let engines = std::mem::take(&mut self.started);
        // All engines share one grace period. If the engines were stopped in succession, every slow
        // engine would take a separate grace period.
        join_all(engines.into_values().map(|engine| engine.quit(QUIT_GRACE))).await;
    }
}

/// Runs all tasks and starts the tasks in order, with at most `concurrency` tasks in parallel.
/// Calls `observe` with the index and the answer of each finished task; an error from `observe`
/// ends the suite. Dropping the future kills the engines.
pub async fn run_suite<T: Task>(
    setups: Vec<EngineSetup>,
    tasks: Vec<T>,
    concurrency: usize,
    mut observe: impl FnMut(usize, &Result<T::Output, String>) -> Result<(), SuiteError>,
) -> Result<Answers<T::Output>, SuiteError> {
    let spawner = Spawner::start().map_err(|error| SuiteError::Environment(error.to_string()))?;
    let setups: Arc<[EngineSetup]> = setups.into();
    let new_engines = || SuiteEngines::new(setups.clone(), spawner.clone());
    // A single async task polls all futures, so no lock is needed.
    let idle = RefCell::new(Vec::new());
    // Tasks finish in any order, but the answers are returned in the order of the tasks.
    let mut answers: Vec<_> = tasks.iter().map(|_| None).collect();
    let run = async |(index, task): (usize, T)| {
        let mut engines = idle.borrow_mut().pop().unwrap_or_else(new_engines);
        // Each question runs in a separate async task, because some questions need long
        // computations that must delay neither other engines nor signal handling. Dropping the set
        // ends the task.
        let mut asking = JoinSet::new();
        asking.spawn(async move { (engines.ask(&task).await, engines) });
        let finished = asking.join_next().await.expect("a task was spawned just now");
        let (answer, engines) =
            // A panic in a task is a fault of the harness, and must not count against an engine.
            finished.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
        idle.borrow_mut().push(engines);
        Ok((index, answer?))
    };
    let tasks = stream::iter(tasks.into_iter().enumerate());
    // With a concurrency of 0, the stream would never poll a task.
    let mut ended = std::pin::pin!(tasks.map(run).buffer_unordered(concurrency.max(1)));
    while let Some(task) = ended.next().await {
        let (index, answer) = task?;
        observe(index, &answer)?;
        answers[index] = Some(answer);
    }
    join_all(idle.take().iter_mut().map(SuiteEngines::quit)).await;
    Ok(answers.into_iter().flatten().collect())
}
