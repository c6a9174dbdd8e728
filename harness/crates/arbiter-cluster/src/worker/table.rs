//! Engines of one slot, and the run that they play for.

use std::sync::Arc;

use super::contract::Contract;
use arbiter_process::Spawner;
use arbiter_runner::executor::Executor;
use arbiter_runner::executor::local::{Local, Room};
use arbiter_suite::drive::Asked;

/// A table.
pub(super) struct Table {
    /// What was agreed with the run.
    pub(super) contract: Arc<Contract>,
    /// Plays its pairs.
    pub(super) local: Local,
    asked: Option<Asked>,
}

impl Table {
    /// The table at which the engines of a run sit; those of another run leave `before`.
    pub(super) async fn sit_down(
        before: Option<Table>,
        contract: &Arc<Contract>,
    ) -> Result<Table, String> {
        if let Some(table) = before {
            if Arc::ptr_eq(&table.contract, contract) {
                return Ok(table);
            }
            table.finish().await;
        }
        let description = &contract.description;
        let room = Room {
            slots: 1,
            wait: description.wait,
            noise_limit: description.noise_limit,
            places: Vec::new(),
        };
        let local = Local::new(room, contract.seats.clone()).map_err(|error| error.to_string())?;
        Ok(Table { contract: contract.clone(), local, asked: None })
    }

    /// The engines that are asked about positions.
    pub(super) fn asked(&mut self) -> Result<&mut Asked, String> {
        if self.asked.is_none() {
            let spawner = Spawner::start().map_err(|error| error.to_string())?;
            let seats = self.contract.seats.as_slice().into();
            self.asked = Some(Asked::new(seats, spawner));
        }
        Ok(self.asked.as_mut().expect("it was made just now if it was not there"))
    }

    /// Ends engines, which are started again when they are needed.
    pub(super) async fn release_idle(&mut self) {
        self.local.release_idle();
        if let Some(asked) = &mut self.asked {
            asked.quit().await;
        }
    }

    /// All leave in peace.
    pub(super) async fn finish(mut self) {
        self.release_idle().await;
        self.local.finish().await;
    }
}
