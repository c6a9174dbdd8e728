//! Puts the questions of a suite to engines: the only part of suites that waits for anything.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use thiserror::Error;
use tokio::sync::mpsc;
use tokio::task::JoinSet;

use arbiter_game::engine::{EngineError, EngineProcess, EngineSetup};
use arbiter_process::{QUIT_GRACE, Spawner};

/// One question to one engine.
pub trait Task: Send + Sync + 'static {
    /// What comes of it.
    type Done: Send + 'static;

    /// Index of the engine.
    fn seat(&self) -> usize;

    /// Asks it.
    fn carry_out(
        &self,
        player: &mut EngineProcess,
    ) -> impl Future<Output = Result<Self::Done, Trouble>> + Send;
}

/// Why a question has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// The engine crashed, was silent or answered nonsense; the next question may go better with a
    /// new process.
    Fault(String),
    /// The engine cannot answer such questions at all.
    Hopeless(String),
}

impl From<EngineError> for Trouble {
    fn from(error: EngineError) -> Trouble {
        Trouble::Fault(error.to_string())
    }
}

/// Why a suite was given up.
#[derive(Debug, Error)]
pub enum DriveError {
    /// The machine does not do its part.
    #[error("{0}")]
    Environment(String),
    /// An engine cannot answer such questions.
    #[error("engine '{name}': {reason}")]
    Hopeless {
        /// The engine.
        name: String,
        /// Why not.
        reason: String,
    },
}

/// The answer to each task, in their order; an error is the engine's fault.
pub type Answers<D> = Vec<Result<D, String>>;

/// Engines that are asked one question after another, and kept as long as they behave.
pub struct Asked {
    seats: Arc<[EngineSetup]>,
    spawner: Spawner,
    players: BTreeMap<usize, EngineProcess>,
}

impl Asked {
    /// Engines that are started when they are asked for the first time.
    pub fn new(seats: Arc<[EngineSetup]>, spawner: Spawner) -> Asked {
        Asked { seats, spawner, players: BTreeMap::new() }
    }

    /// Puts a question to its engine. Dropping the future kills that engine.
    pub async fn ask<T: Task>(&mut self, task: &T) -> Result<Result<T::Done, String>, DriveError> {
        let seat = &self.seats[task.seat()];
        let mut player = match self.players.remove(&task.seat()) {
            Some(player) => player,
            None => match EngineProcess::start(&self.spawner, seat).await {
                Ok(player) => player,
                // It could be started before, so something was taken away from under us.
                Err(error @ EngineError::Spawn(_)) => {
                    let reason = format!("engine '{}': {error}", seat.name);
                    return Err(DriveError::Environment(reason));
                }
                Err(error) => return Ok(Err(error.to_string())),
            },
        };
        match task.carry_out(&mut player).await {
            Ok(done) => {
                self.players.insert(task.seat(), player);
                Ok(Ok(done))
            }
            Err(Trouble::Fault(reason)) => {
                player.quit(Duration::ZERO).await;
                Ok(Err(reason))
            }
            Err(Trouble::Hopeless(reason)) => {
                player.quit(Duration::ZERO).await;
                Err(DriveError::Hopeless { name: seat.name.clone(), reason })
            }
        }
    }

    /// Ends all engines in peace; they are started again if there is another question.
    pub async fn quit(&mut self) {
        let players = std::mem::take(&mut self.players);
        join_all(players.into_values().map(|player| player.quit(QUIT_GRACE))).await;
    }
}

struct Work<T> {
    tasks: Vec<T>,
    next: AtomicUsize,
}

/// Carries out all tasks, `concurrency` at once, and begins them in their order. `observe` hears of
/// each as it ends, and ends it all by an error. Dropping the future kills the engines.
pub async fn run<T: Task>(
    seats: Vec<EngineSetup>,
    tasks: Vec<T>,
    concurrency: usize,
    mut observe: impl FnMut(usize, &Result<T::Done, String>) -> Result<(), DriveError>,
) -> Result<Answers<T::Done>, DriveError> {
    let environment = |error: std::io::Error| DriveError::Environment(error.to_string());
    let spawner = Spawner::start().map_err(environment)?;
    let mut answers: Vec<Option<Result<T::Done, String>>> = tasks.iter().map(|_| None).collect();
    let workers = concurrency.clamp(1, tasks.len().max(1));
    let (seats, work) = (Arc::from(seats), Arc::new(Work { tasks, next: AtomicUsize::new(0) }));
    let (report, mut reports) = mpsc::unbounded_channel();
    let mut busy = JoinSet::new();
    for _ in 0..workers {
        let asked = Asked::new(Arc::clone(&seats), spawner.clone());
        busy.spawn(worker(work.clone(), asked, report.clone()));
    }
    drop(report);
    while let Some((index, answer)) = reports.recv().await {
        let answer = answer?;
        observe(index, &answer)?;
        answers[index] = Some(answer);
    }
    while let Some(ended) = busy.join_next().await {
        if let Err(error) = ended
            && error.is_panic()
        {
            std::panic::resume_unwind(error.into_panic());
        }
    }
    Ok(answers.into_iter().flatten().collect())
}

type Report<D> = (usize, Result<Result<D, String>, DriveError>);

/// Takes the next task until there is none.
async fn worker<T: Task>(
    work: Arc<Work<T>>,
    mut asked: Asked,
    report: mpsc::UnboundedSender<Report<T::Done>>,
) {
    loop {
        let index = work.next.fetch_add(1, Ordering::Relaxed);
        let Some(task) = work.tasks.get(index) else { break };
        let answer = asked.ask(task).await;
        // The receiver is gone if another worker met the end of it all.
        if report.send((index, answer)).is_err() {
            break;
        }
    }
    asked.quit().await;
}
