//! Live pages. Each page with viewers has a thread that reads the store and publishes new versions
//! of the page. A slow viewer skips versions and does not delay other viewers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::cluster::ClusterMonitor;
use super::list::RunList;
use super::run::RunPage;
use super::url_query::UrlQuery;
use crate::web::{LivePage, PageVersion};

/// Interval at which a live page is updated. Some parts of a page are updated only every few ticks.
pub(crate) const TICK: Duration = Duration::from_millis(500);

/// Number of ticks (30 s in total) for which a page without viewers is kept up to date, so that a
/// viewer who reloads the page does not have to wait until the run has been read again.
const IDLE_TICKS: u32 = 60;

/// Maximum number of live pages. Each page has a thread and a connection to the store, and without
/// a limit, queries could create any number of pages.
const MAX_TOPICS: usize = 64;

/// Identity of a live page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// List of the runs that a query selects.
    Runs(UrlQuery),
    /// Page of a run, by the name of the run.
    Run(String),
    /// Workers and runs on a NATS server.
    #[cfg(feature = "cluster")]
    Cluster(UrlQuery),
}

impl Topic {
    /// Returns the URL of the page's events.
    pub(crate) fn events_url(&self) -> String {
        match self {
            Topic::Runs(url_query) => url_query.address("/events/runs", url_query.part().ok()),
            Topic::Run(run) => format!("/events/runs/{run}"),
            #[cfg(feature = "cluster")]
            Topic::Cluster(url_query) => url_query.address("/events/cluster", None),
        }
    }
}

/// Last published version of a page; the version number is 0 if no version has been published yet.
pub(crate) type Latest = Arc<PageVersion>;

/// Set of all live pages.
#[derive(Debug)]
pub(crate) struct Hub {
    results: PathBuf,
    pub(crate) runs: RunList,
    pub(crate) monitor: Arc<ClusterMonitor>,
    topics: Mutex<BTreeMap<Topic, watch::Receiver<Latest>>>,
}

impl Hub {
    /// Creates a hub without pages.
    pub(crate) fn new(results: PathBuf, monitor: Arc<ClusterMonitor>) -> Hub {
        let runs = RunList::new(results.clone());
        Hub { results, runs, monitor, topics: Mutex::default() }
    }

    /// Subscribes to the versions of a page, and starts the thread of the page if no thread is
    /// running. The error is a complete sentence to show to the user.
    pub(crate) fn follow(
        self: &Arc<Self>,
        topic: Topic,
    ) -> Result<watch::Receiver<Latest>, String> {
        let mut topics = self.topics();
        // A thread that has panicked has dropped its sender, so the page of the thread is removed.
        topics.retain(|_, latest| latest.has_changed().is_ok());
        if let Some(latest) = topics.get(&topic) {
            return Ok(latest.clone());
        }
        if topics.len() >= MAX_TOPICS {
            return Err(format!("Too many live pages; the limit is {MAX_TOPICS}."));
        }
        let (sender, latest) = watch::channel(Latest::default());
        let (hub, page_topic) = (self.clone(), topic.clone());
        std::thread::Builder::new()
            .name("page".into())
            .spawn(move || hub.publish(&page_topic, &sender))
            .map_err(|error| format!("Cannot start a thread: {error}."))?;
        topics.insert(topic, latest.clone());
        Ok(latest)
    }

    fn topics(&self) -> MutexGuard<'_, BTreeMap<Topic, watch::Receiver<Latest>>> {
        // A poisoned lock is harmless: code that holds the lock cannot panic during a change.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Publishes the versions of a page until the page has had no viewer for [`IDLE_TICKS`] ticks.
    fn publish(&self, topic: &Topic, sender: &watch::Sender<Latest>) {
        let results = self.results.clone();
        let mut page: Box<dyn LivePage> = match topic {
            Topic::Runs(url_query) => Box::new(self.runs.page(url_query.clone())),
            Topic::Run(run) => Box::new(RunPage::new(results, run.clone())),
            #[cfg(feature = "cluster")]
            Topic::Cluster(url_query) => Box::new(self.monitor.page(results, url_query)),
        };
        // One receiver belongs to the map of topics.
        let is_alone = || sender.receiver_count() <= 1;
        let mut idle_ticks = 0;
        loop {
            let before = sender.borrow().clone();
            // An unchanged page is not published, so viewers receive nothing.
            if let Some(next) = page.fragments().and_then(|fragments| before.next(fragments)) {
                sender.send_replace(Arc::new(next));
            }
            std::thread::sleep(TICK);
            idle_ticks = if is_alone() { idle_ticks + 1 } else { 0 };
            if idle_ticks >= IDLE_TICKS {
                let mut topics = self.topics();
                // The count is read under the lock that viewers hold to subscribe, so no viewer can
                // subscribe to a page that is being removed.
                if is_alone() {
                    topics.remove(topic);
                    return;
                }
            }
        }
    }
}
