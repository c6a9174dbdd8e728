//! The engines of a slot, and the run for which they play.

use std::sync::Arc;

use super::run_setup::RunSetup;
use arbiter_process::Spawner;
use arbiter_runner::executor::Executor;
use arbiter_runner::executor::local::{Local, LocalOptions};
use arbiter_suite::SuiteEngines;

/// The engines of a slot.
pub(super) struct SlotEngines {
    /// The run for which they play.
    pub(super) setup: Arc<RunSetup>,
    /// Plays pairs.
    pub(super) local: Local,
    asked: Option<SuiteEngines>,
}

impl SlotEngines {
    /// The engines for a run: those of `before` if they play for it, else they are ended.
    pub(super) async fn for_run(
        before: Option<SlotEngines>,
        setup: &Arc<RunSetup>,
    ) -> Result<SlotEngines, String> {
        if let Some(engines) = before {
            if Arc::ptr_eq(&engines.setup, setup) {
                return Ok(engines);
            }
            engines.finish().await;
        }
        let description = &setup.description;
        let room = LocalOptions {
            slots: 1,
            wait: description.wait,
            noise_limit: description.noise_limit,
            cpu_sets: Vec::new(),
        };
        let local = Local::new(room, setup.seats.clone()).map_err(|error| error.to_string())?;
        Ok(SlotEngines { setup: setup.clone(), local, asked: None })
    }

    /// The engines that search positions of suites; started if they are not there.
    pub(super) fn asked(&mut self) -> Result<&mut SuiteEngines, String> {
        if self.asked.is_none() {
            let spawner = Spawner::start().map_err(|error| error.to_string())?;
            let seats = self.setup.seats.as_slice().into();
            self.asked = Some(SuiteEngines::new(seats, spawner));
        }
        Ok(self.asked.as_mut().expect("it was made just now if it was not there"))
    }

    /// Ends idle engines; they are started again when they are needed.
    pub(super) async fn release_idle(&mut self) {
        self.local.release_idle();
        if let Some(asked) = &mut self.asked {
            asked.quit().await;
        }
    }

    /// Ends all engines, with `quit`.
    pub(super) async fn finish(mut self) {
        self.release_idle().await;
        self.local.finish().await;
    }
}
