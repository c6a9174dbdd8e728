//! In place of `metrics` where the feature `serve` is off: nothing answers, so that nothing is counted.

use clap::Args;
use tokio::runtime::Handle;

use crate::{Failure, Fleet};
use arbiter_plan::{Observer, ObserverError, RunEvent};

/// No flags.
#[derive(Debug, Default, Clone, Copy, Args)]
pub(crate) struct MetricsArgs {}

/// A port, of which there is none.
#[derive(Debug)]
pub(crate) enum Endpoint {}

impl MetricsArgs {
    pub(crate) fn open(self) -> Result<Option<Endpoint>, Failure> {
        Ok(None)
    }
}

impl Endpoint {
    pub(crate) fn observer(self, _: &Handle, _: Option<&Fleet>) -> Result<Endpoint, Failure> {
        match self {}
    }
}

impl Observer for Endpoint {
    fn observe(&mut self, _: &RunEvent<'_>) -> Result<(), ObserverError> {
        match *self {}
    }
}
