//! Replacement of the module `cluster` in builds without the feature `cluster`.

use std::convert::Infallible;

use prometheus_client::registry::Registry;

/// Monitor without a server.
#[derive(Debug)]
pub struct ClusterMonitor;

impl ClusterMonitor {
    /// Creates a monitor without a server.
    pub fn new(_is_named: bool) -> ClusterMonitor {
        ClusterMonitor
    }

    /// Registers nothing.
    pub(crate) fn register(&self, _: &mut Registry) {}

    /// Cannot be called, because the argument has no values.
    pub async fn keep(&self, access: Infallible) {
        match access {}
    }
}
