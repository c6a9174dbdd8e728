//! Replacement of the module `fleet` in builds without the feature `cluster`, which have no flags
//! for other machines.

use clap::Args;

use crate::failure::Failure;
use arbiter_plan::Plan;

/// Empty set of flags for other machines, for builds without the feature `cluster`.
#[derive(Debug, Default, Args)]
pub(crate) struct ClusterArgs {}

/// Empty type in place of the access to workers.
#[derive(Debug)]
pub(crate) enum Fleet {}

impl ClusterArgs {
    pub(crate) fn has_workers(&self) -> bool {
        false
    }

    pub(crate) fn fleet(self, _most: Option<usize>) -> Result<Option<Fleet>, Failure> {
        Ok(None)
    }
}

impl Fleet {
    pub(crate) fn announce(&self) {
        match *self {}
    }

    pub(crate) fn flag(&self) -> String {
        match *self {}
    }
}

pub(crate) fn check_for_workers(_: &Plan) -> Result<(), String> {
    Ok(())
}
