//! Replacement of the module `cluster` in builds without the feature `cluster`.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use prometheus_client::registry::Registry;

use super::asked::UrlQuery;
use super::hub::LivePage;
use crate::web::Fragment;

/// Monitor without a server.
#[derive(Debug)]
pub struct ClusterMonitor;

impl ClusterMonitor {
    /// Returns a monitor without a server.
    pub fn new(_is_named: bool) -> ClusterMonitor {
        ClusterMonitor
    }

    /// Returns an empty page, which no route uses.
    pub(crate) fn page(
        self: &Arc<Self>,
        _results: PathBuf,
        _asked: &UrlQuery,
    ) -> Box<dyn LivePage> {
        Box::new(ClusterMonitor)
    }

    /// Registers nothing.
    pub(crate) fn register(&self, _: &mut Registry) {}

    /// Cannot be called, because the argument has no values.
    pub async fn keep(&self, access: Infallible) {
        match access {}
    }
}

impl LivePage for ClusterMonitor {
    fn fragments(&mut self) -> Vec<Fragment> {
        Vec::new()
    }
}
