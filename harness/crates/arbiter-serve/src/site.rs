//! State of the server, and work on the store for a request.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::http::StatusCode;
use tokio::sync::{Mutex, Semaphore};

use super::cluster::ClusterMonitor;
use super::games::{Openings, Selection};
use super::guard::Guard;
use super::http_error::HttpError;
use super::hub::Hub;
use super::request_times::{RequestTimes, request_times};
use super::starter::Starter;
use super::url_query::UrlQuery;
use arbiter_store::{RunLock, Store};

/// Maximum number of requests computed in parallel; the remaining processors are left to the
/// engines.
const MAX_COMPUTED: usize = 4;

/// State of the server.
#[derive(Debug, Clone)]
pub struct Site(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) hub: Arc<Hub>,
    pub(crate) guard: Guard,
    /// Component that starts tests; `None` if tests cannot be started.
    pub(crate) starter: Option<Arc<dyn Starter>>,
    /// Identity of this server process, different from the identity of each earlier process at the
    /// same address.
    pub(crate) boot: String,
    /// Locks of computations. The key is the name of a run, or empty for comparisons.
    turns: Mutex<BTreeMap<String, Arc<Mutex<()>>>>,
    /// Permits for computations, [`MAX_COMPUTED`] in total.
    permits: Arc<Semaphore>,
    openings: std::sync::Mutex<Openings>,
    pub(crate) times: RequestTimes,
}

impl Site {
    /// Creates the site of a results folder and a cluster; `boot` must differ for each server
    /// process.
    pub fn new(
        results: PathBuf,
        monitor: Arc<ClusterMonitor>,
        guard: Guard,
        starter: Option<Arc<dyn Starter>>,
        boot: String,
    ) -> Site {
        Site(Arc::new(Inner {
            hub: Arc::new(Hub::new(results, monitor)),
            guard,
            starter,
            boot,
            turns: Mutex::default(),
            permits: Arc::new(Semaphore::new(MAX_COMPUTED)),
            openings: std::sync::Mutex::default(),
            times: request_times(),
        }))
    }

    /// Returns the ID of a page version, as used in events and pages.
    pub(crate) fn id(&self, version: u64) -> String {
        format!("{}-{version}", self.0.boot)
    }

    /// Computes the result of a request, with at most [`MAX_COMPUTED`] computations in parallel.
    /// Computations with the same `key` run one after another, so that repeated requests for a slow
    /// page use only one permit.
    pub(crate) async fn compute_shared<T: Send + 'static>(
        &self,
        key: &str,
        work: impl FnOnce(&Path) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        // The lock is acquired before the permit. Otherwise, several requests for one slow page
        // would hold all permits while waiting for each other.
        let turn = self.0.turns.lock().await.entry(key.to_owned()).or_default().clone();
        let turn = turn.lock_owned().await;
        // An error means that the semaphore is closed, which never happens.
        let permit = self.0.permits.clone().acquire_owned().await;
        // A computation in a blocking thread cannot be cancelled, so the lock and the permit are
        // held until the computation ends, even if the client has disconnected.
        self.read_store(move |results| {
            let _place = (turn, permit);
            work(results)
        })
        .await
    }

    /// Runs work on the store in a blocking thread.
    pub(crate) async fn read_store<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let results = self.0.hub.results.clone();
        let done = tokio::task::spawn_blocking(move || work(&results)).await;
        done.unwrap_or_else(|error| {
            Err(HttpError(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()))
        })
    }

    /// Returns an error unless the store contains a run with this name.
    pub(crate) async fn check_run(&self, run: &str) -> Result<(), HttpError> {
        RunLock::check_name(run)
            .map_err(|error| HttpError(StatusCode::NOT_FOUND, error.to_string()))?;
        let name = run.to_owned();
        self.read_store(move |results| Ok(Store::observe(results)?.run(&name).map(drop)?)).await
    }

    /// Computes the result of a request about a run.
    pub(crate) async fn compute_for_run<T: Send + 'static>(
        &self,
        run: &str,
        work: impl FnOnce(&Path, &str) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        self.check_run(run).await?;
        let name = run.to_owned();
        self.compute_shared(run, move |results| work(results, &name)).await
    }

    /// Computes the result of a request about the games that a query selects from a run.
    pub(crate) async fn select_games<T: Send + 'static>(
        &self,
        run: &str,
        url_query: UrlQuery,
        work: impl FnOnce(&Selection<'_>) -> Result<T, HttpError> + Send + 'static,
    ) -> Result<T, HttpError> {
        let inner = self.0.clone();
        self.compute_for_run(run, move |results, run| {
            work(&Selection::new(results, run, url_query, &inner.openings)?)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// Checks that a slow page delays neither pages of other runs nor checks of run names.
    #[test]
    fn a_slow_page_does_not_delay_pages_of_other_runs() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let results = PathBuf::from("no-such-folder");
        let monitor = Arc::new(ClusterMonitor::new(false));
        let guard = Guard::new(Vec::new(), None);
        let site = Site::new(results, monitor, guard, None, "boot".to_owned());
        let (started, has_started) = std::sync::mpsc::channel();
        let (release, released) = std::sync::mpsc::channel::<()>();
        let slow = site.clone();
        let slow = runtime.spawn(async move {
            let work = move |_: &Path| {
                started.send(()).expect("the test waits");
                let _ = released.recv();
                Ok(())
            };
            slow.compute_shared("slow", work).await.is_ok()
        });
        has_started.recv().expect("the slow page has started");
        let quick = async {
            let others = async {
                assert!(site.compute_shared("quick", |_| Ok(())).await.is_ok());
                // The status is 404 because there is no store. The test checks only that the
                // response is prompt.
                assert_eq!(site.check_run("slow").await.err().map(|e| e.0.as_u16()), Some(404));
            };
            tokio::time::timeout(Duration::from_secs(5), others).await
        };
        let quick = runtime.block_on(quick);
        drop(release);
        assert!(runtime.block_on(slow).unwrap());
        assert!(quick.is_ok(), "pages of other runs waited for the slow one");
    }
}
