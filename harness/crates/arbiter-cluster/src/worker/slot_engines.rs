//! Engines of a slot, and the setup of their run.

use std::sync::Arc;
use std::time::Duration;

use super::run_setup::RunSetup;
use arbiter_game::engine::EngineSetup;
use arbiter_process::Spawner;
use arbiter_runner::{Executor, LiveGames, LocalExecutor, LocalOptions};
use arbiter_suite::SuiteEngines;

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
