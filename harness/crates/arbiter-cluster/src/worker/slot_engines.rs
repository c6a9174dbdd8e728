//! Engines of a slot, and the jobs that the engines do. Dropping a future of this module stops the
//! engines of a suite; [`Executor::cancel_all`] must be called to stop the engines of a pair.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::run_setup::RunSetup;
use crate::wire::Report;
use arbiter_game::engine::EngineSetup;
use arbiter_process::Spawner;
use arbiter_run::{PairJob, PlayedPair};
use arbiter_runner::{Executor, JobEvent, LiveGames, LocalExecutor, LocalOptions};
use arbiter_suite::epd::{EngineAnswers, Question};
use arbiter_suite::perft::{Count, CountResult};
use arbiter_suite::{SuiteEngines, SuiteError, Task};

/// Creates the executor of one slot.
pub(crate) fn executor(
    engines: Vec<EngineSetup>,
    wait: Duration,
    measures_waiting: bool,
) -> Result<LocalExecutor, String> {
    let options =
        LocalOptions { slots: 1, wait, measures_waiting, tells_games: false, cpu_sets: Vec::new() };
    let local = LocalExecutor::new(options, engines, LiveGames::default());
    local.map_err(|error| error.to_string())
}

/// Plays a pair; `game_index` receives the index of each game (0 or 1) when the game starts.
pub(crate) async fn play(
    local: &mut LocalExecutor,
    job: PairJob,
    game_index: watch::Sender<Option<u8>>,
) -> Report<PlayedPair> {
    local.start(job);
    loop {
        match Executor::next(local).await {
            JobEvent::Played { played, .. } => return Ok(played),
            JobEvent::Failed { reason, .. } | JobEvent::Lost(reason) | JobEvent::Unfit(reason) => {
                return Err(reason);
            }
            JobEvent::Started { game_index: started, .. } => {
                let _ = game_index.send(u8::try_from(started).ok());
            }
            JobEvent::Ended { .. }
            | JobEvent::Paused(_)
            | JobEvent::Noted(_)
            | JobEvent::Presence(_)
            | JobEvent::WorkerExcluded(_) => {}
        }
    }
}

/// The engines of a slot, which are started on demand.
pub(super) struct SlotEngines {
    /// Setup of the run that the engines play.
    pub(super) setup: Arc<RunSetup>,
    /// Executor of pairs.
    pub(super) local: LocalExecutor,
    /// Engines that search and count positions of suites.
    pub(super) suite: SuiteEngines,
}

impl SlotEngines {
    /// Returns the engines for a run: `before` if these engines have the setup of the run,
    /// otherwise new engines.
    pub(super) async fn for_run(
        before: Option<SlotEngines>,
        setup: &Arc<RunSetup>,
        spawner: &Spawner,
    ) -> Result<SlotEngines, String> {
        if let Some(engines) = before {
            // Pointers are compared because a run that was joined again has a new setup.
            if Arc::ptr_eq(&engines.setup, setup) {
                return Ok(engines);
            }
            engines.finish().await;
        }
        let description = &setup.description;
        let measures_waiting = description.noise_limit.is_some();
        let local = executor(setup.engines.clone(), description.wait, measures_waiting)?;
        let suite = SuiteEngines::new(setup.engines.as_slice().into(), spawner.clone());
        Ok(SlotEngines { setup: setup.clone(), local, suite })
    }

    /// Lets all engines search a position, one after another.
    pub(super) async fn search(&mut self, question: Question) -> Report<EngineAnswers> {
        let engines = self.setup.description.engines.iter();
        let limits: Vec<_> = engines.map(|own| own.engine.conditions.limits).collect();
        let mut answers = Vec::new();
        for search in question.searches(limits) {
            answers.push(self.ask(&search).await?);
        }
        Ok(EngineAnswers(answers))
    }

    /// Lets the engine count the leaf nodes of a position (perft).
    pub(super) async fn count(&mut self, count: Count) -> Report<CountResult> {
        self.ask(&count).await.map(CountResult)
    }

    /// Returns the answer of an engine, or the failure of the engine as the inner error; the outer
    /// error is a failure of the machine.
    async fn ask<T: Task>(&mut self, task: &T) -> Report<Result<T::Output, String>> {
        match self.suite.ask(task).await {
            Ok(answer) => Ok(answer),
            Err(SuiteError::Environment(reason)) => Err(reason),
            Err(error @ SuiteError::Unsupported(_)) => Ok(Err(error.to_string())),
        }
    }

    /// Stops idle engines.
    pub(super) async fn release_idle(&mut self) {
        self.local.release_idle();
        self.suite.quit().await;
    }

    /// Stops all engines with `quit`.
    pub(super) async fn finish(mut self) {
        self.release_idle().await;
        self.local.finish().await;
    }
}
