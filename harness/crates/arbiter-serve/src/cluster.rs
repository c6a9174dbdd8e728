//! Monitor and page of the workers and runs on a NATS server.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

use tokio::time::{interval, sleep};

use super::url_query::UrlQuery;
use crate::web::{LivePage, cluster as page};
use arbiter_cluster::{
    Access, AccessError, Cluster, ClusterMetrics, Connection, Listener, denied, worker_residuals,
};
use arbiter_process::lock;
use arbiter_store::{Store, StoreError};
use prometheus_client::registry::Registry;

/// Pause before the server is contacted again after a failure.
const RECONNECT: Duration = Duration::from_secs(5);

/// State of the cluster, shared by the listening task and the page: workers, runs and connection,
/// or a sentence with the reason why the state is unknown.
#[derive(Debug)]
pub struct ClusterMonitor {
    /// Code that holds this lock cannot panic during a change, so a poisoned lock is harmless.
    state: Mutex<Result<(Cluster, Connection), String>>,
    /// `true` if a server is configured.
    is_named: bool,
    metrics: ClusterMetrics,
}

fn unreachable(reason: &str) -> String {
    format!("The NATS server cannot be reached: {reason}.")
}

impl ClusterMonitor {
    /// Creates an unconnected monitor; `is_named` is `true` if a server is configured.
    pub fn new(is_named: bool) -> ClusterMonitor {
        let none = "No NATS server is configured. Start arbiter serve with --on URL.";
        let why = if is_named { unreachable("not connected yet") } else { none.to_owned() };
        ClusterMonitor { state: Mutex::new(Err(why)), is_named, metrics: ClusterMetrics::default() }
    }

    /// Registers the metrics of the cluster, if a server is configured.
    pub(crate) fn register(&self, registry: &mut Registry) {
        if self.is_named {
            self.metrics.register(registry);
        }
    }

    /// Returns the live page that shows the runs on the server and the workers selected by the
    /// query.
    pub(crate) fn page<'a>(&'a self, results: &'a Path, url_query: &'a UrlQuery) -> LivePage<'a> {
        let mut residuals = BTreeMap::new();
        // Number of ticks until the residuals are computed again.
        let mut remaining_ticks: u32 = 0;
        Box::new(move || {
            let cluster = match &*lock(&self.state) {
                Ok((cluster, connection)) if connection.is_connected() => cluster.clone(),
                Ok(_) => return Some(page::lost(CONNECTION_LOST)),
                Err(why) => return Some(page::lost(why)),
            };
            remaining_ticks = remaining_ticks.saturating_sub(1);
            if remaining_ticks == 0 {
                remaining_ticks = RESIDUAL_TICKS;
                residuals = largest_residuals(results, &cluster);
            }
            Some(page::fragments(&cluster, url_query, &residuals))
        })
    }

    /// Listens to the server forever, and reconnects whenever the connection is lost.
    pub async fn keep(&self, access: Access) {
        loop {
            let reason = match self.listen(&access).await {
                Ok(()) => "connection lost".to_owned(),
                Err(error) => error.to_string(),
            };
            // The last known state is dropped, because the state may be different when the server
            // is available again.
            *lock(&self.state) = Err(unreachable(&reason));
            self.metrics.disconnected();
            // The number of attempts is not limited, because the NATS server may be restarted while
            // the page is open.
            sleep(RECONNECT).await;
        }
    }

    async fn listen(&self, access: &Access) -> Result<(), AccessError> {
        let mut connection = access.connect("arbiter serve").await?;
        let mut listener = Listener::new(&connection).await?;
        *lock(&self.state) = Ok((Cluster::default(), connection.clone()));
        let mut second = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                announcement = listener.next() => {
                    let Some(announcement) = announcement else { return Ok(()) };
                    if let Ok((cluster, _)) = &mut *lock(&self.state) {
                        cluster.update(announcement);
                    }
                }
                _ = second.tick() => {
                    if let Ok((cluster, _)) = &mut *lock(&self.state) {
                        cluster.tick();
                        cluster.count(&self.metrics);
                    }
                }
                reason = connection.denied() => {
                    return Err(denied("to listen")(reason));
                }
            }
        }
    }
}

/// Number of ticks (60 s in total) between two computations of the residuals. The interval is long
/// because each computation reads all pairs of all runs on the server.
const RESIDUAL_TICKS: u32 = 120;

/// Sentence shown until a lost connection has been restored.
const CONNECTION_LOST: &str = "The connection to the NATS server is lost; reconnecting.";

/// Returns the largest residual of each worker over all runs of the cluster.
fn largest_residuals(results: &Path, cluster: &Cluster) -> BTreeMap<String, f64> {
    // A run on the server may be stored in another folder. In that case, `results` contains no
    // pairs of the run.
    let of_run = |run: &str| residuals(results, run).unwrap_or_default();
    let mut largest = BTreeMap::new();
    for (worker, residual) in cluster.runs().flat_map(|beacon| of_run(&beacon.run)) {
        let most = largest.entry(worker).or_insert(residual);
        *most = most.max(residual);
    }
    largest
}

/// Returns the residual of each worker of a run relative to the other workers, in standard
/// deviations; empty if the workers of the run cannot be compared.
fn residuals(results: &Path, run: &str) -> Result<BTreeMap<String, f64>, StoreError> {
    let store = Store::observe(results)?;
    let plan = store.run(run)?.plan;
    // Residuals compare results of two engines under constant conditions, but a tuning run changes
    // the engines' options.
    if plan.engines.len() == 2 && plan.spsa().is_none() {
        Ok(worker_residuals(&store.played_by_workers(run)?))
    } else {
        Ok(BTreeMap::new())
    }
}
