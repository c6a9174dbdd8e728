//! Replacement of `fleet` where the feature `cluster` is off: no flag names other machines, so
//! there are none.

use clap::Args;

use crate::Failure;
use arbiter_plan::Plan;

/// No flags.
#[derive(Debug, Default, Args)]
pub(crate) struct ClusterArgs {}

/// Other machines, of which there are none.
#[derive(Debug)]
pub(crate) enum Fleet {}

impl ClusterArgs {
    pub(crate) fn fleet(self, _most: Option<usize>) -> Result<Option<Fleet>, Failure> {
        Ok(None)
    }
}

impl Fleet {
    pub(crate) fn check(&self, _: &Plan) -> Result<(), Failure> {
        match *self {}
    }

    pub(crate) fn announce(&self) {
        match *self {}
    }

    pub(crate) fn flag(&self) -> String {
        match *self {}
    }
}
