//! Live pages. Each page with viewers has a thread that reads the store and publishes new versions
//! of the page. A slow viewer skips versions and does not delay other viewers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::asked::UrlQuery;
use super::cluster::ClusterMonitor;
use super::list::RunList;
use super::run::RunPage;
use crate::web::{Fragment, PageVersion};

/// Interval at which new versions of a page are made. Only boards change on each tick; other parts
/// change every few ticks.
pub(crate) const TICK: Duration = Duration::from_millis(500);

/// Number of ticks (30 s in total) for which a page without viewers is kept up to date, so that a
/// viewer who reloads the page does not have to wait until the run has been read again.
const IDLE_TICKS: u32 = 60;

/// Maximum number of live pages. Each page has a thread and a connection to the store, and queries
/// could create any number of pages.
const MAX_TOPICS: usize = 64;

/// Address of a live page.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Topic {
    /// List of the runs that a query selects.
    Runs(UrlQuery),
    /// Page of a run, by the name of the run.
    Run(String),
    /// Workers and runs on a NATS server.
    Cluster(UrlQuery),
}

impl Topic {
    /// Returns the URL of the page's events.
    pub(crate) fn events_url(&self) -> String {
        match self {
            Topic::Runs(asked) => asked.address("/events/runs", asked.part().ok()),
            Topic::Run(run) => format!("/events/runs/{run}"),
            Topic::Cluster(asked) => asked.address("/events/cluster", None),
        }
    }
}

/// Last published version; `None` before the first version.
pub(crate) type Latest = Option<Arc<PageVersion>>;

/// Set of all live pages.
#[derive(Debug)]
pub(crate) struct Hub {
    results: PathBuf,
    pub(crate) runs: RunList,
    pub(crate) monitor: Arc<ClusterMonitor>,
    topics: Mutex<BTreeMap<Topic, watch::Sender<Latest>>>,
}

/// Source of a live page, queried by its thread at each tick.
pub(crate) trait LivePage {
    /// Returns the current fragments of the page.
    fn fragments(&mut self) -> Vec<Fragment>;
}

impl Hub {
    /// Returns a hub without pages.
    pub(crate) fn new(results: PathBuf, monitor: Arc<ClusterMonitor>) -> Hub {
        let runs = RunList::new(results.clone());
        Hub { results, runs, monitor, topics: Mutex::default() }
    }

    /// Subscribes to the versions of a page, and starts the thread of the page if there is none. An
    /// error is a sentence.
    pub(crate) fn follow(
        self: &Arc<Self>,
        topic: Topic,
    ) -> Result<watch::Receiver<Latest>, String> {
        let mut topics = self.topics();
        if let Some(sender) = topics.get(&topic) {
            return Ok(sender.subscribe());
        }
        if topics.len() >= MAX_TOPICS {
            return Err(format!("Too many live pages; the limit is {MAX_TOPICS}."));
        }
        let (sender, receiver) = watch::channel(None);
        topics.insert(topic.clone(), sender.clone());
        // The lock is released here, because the error case below locks again.
        drop(topics);
        let hub = self.clone();
        let thread = TopicThread { hub, topic: topic.clone() };
        let builder = std::thread::Builder::new().name("page".into());
        match builder.spawn(move || thread.publish(&sender)) {
            Ok(_) => Ok(receiver),
            Err(error) => {
                // If the topic remained, the next viewer would wait for a page without a thread.
                self.topics().remove(&topic);
                Err(format!("Cannot start a thread: {error}."))
            }
        }
    }

    fn topics(&self) -> MutexGuard<'_, BTreeMap<Topic, watch::Sender<Latest>>> {
        // A poisoned lock is harmless: code that holds it cannot panic during a change.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Thread of a topic. Dropping it after a panic removes the topic from the hub.
#[derive(Debug)]
struct TopicThread {
    hub: Arc<Hub>,
    topic: Topic,
}

impl TopicThread {
    fn publish(self, sender: &watch::Sender<Latest>) {
        let results = self.hub.results.clone();
        let mut page: Box<dyn LivePage> = match &self.topic {
            Topic::Runs(asked) => Box::new(self.hub.runs.page(asked.clone())),
            Topic::Run(run) => Box::new(RunPage::new(results, run.clone())),
            Topic::Cluster(asked) => self.hub.monitor.page(results, asked),
        };
        let mut unseen = 0;
        loop {
            let fragments = page.fragments();
            let before = sender.borrow().clone().unwrap_or_default();
            // An unchanged page is not published, so viewers receive nothing.
            if let Some(next) = before.next(fragments) {
                sender.send_replace(Some(Arc::new(next)));
            }
            std::thread::sleep(TICK);
            unseen = if sender.receiver_count() == 0 { unseen + 1 } else { 0 };
            if unseen >= IDLE_TICKS && self.leave(sender) {
                return;
            }
        }
    }

    /// Removes the topic, unless there is a new viewer; returns whether the topic was removed.
    fn leave(&self, sender: &watch::Sender<Latest>) -> bool {
        let mut topics = self.hub.topics();
        // The count is read under the lock that viewers hold to subscribe, so no viewer can
        // subscribe to a page that is being removed.
        let is_alone = sender.receiver_count() == 0;
        if is_alone {
            topics.remove(&self.topic);
        }
        is_alone
    }
}

impl Drop for TopicThread {
    fn drop(&mut self) {
        // A thread that ends normally has already removed its topic, and another thread may now
        // serve the same topic.
        if std::thread::panicking() {
            self.hub.topics().remove(&self.topic);
        }
    }
}
