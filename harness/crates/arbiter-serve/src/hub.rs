//! Live pages. Each page with viewers has a thread that reads the store and publishes new versions
//! of the page. A slow viewer skips versions and does not delay other viewers. If there are too
//! many pages, a page without viewers makes room for a new page.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use tokio::sync::watch;

use super::cluster::ClusterMonitor;
use super::list::RunList;
use super::run::run_page;
use super::url_query::UrlQuery;
use crate::web::{LivePage, PageVersion};
use arbiter_process::lock;

/// Interval at which a live page is updated. Some parts of a page are updated only every few ticks.
pub(crate) const TICK: Duration = Duration::from_millis(500);

/// Number of ticks (30 s in total) for which a page without viewers is kept up to date, so that a
/// viewer who reloads the page does not have to wait until the run has been read again.
const IDLE_TICKS: u32 = 60;

/// Maximum number of live pages. Each page has a thread and a connection to the store, and without
/// a limit, queries could create any number of pages. Removed pages whose threads are still reading
/// the store are limited to this number, too.
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

/// Entry of the hub for a live page. The thread of the page owns the sender of the page's versions,
/// and ends when this entry is dropped.
#[derive(Debug)]
struct Page {
    versions: Weak<watch::Sender<Latest>>,
    /// Position in the order in which the pages were last requested.
    requested: u64,
    _keep: Sender<()>,
}

/// Set of all live pages.
#[derive(Debug)]
pub(crate) struct Hub {
    pub(crate) results: PathBuf,
    pub(crate) runs: RunList,
    pub(crate) monitor: Arc<ClusterMonitor>,
    /// Code that holds this lock cannot panic during a change, so a poisoned lock is harmless.
    topics: Mutex<BTreeMap<Topic, Page>>,
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
        let mut topics = lock(&self.topics);
        // A thread that has ended, for example by a panic, has dropped its sender.
        topics.retain(|_, page| page.versions.strong_count() > 0);
        let requested = topics.values().map(|page| page.requested + 1).max().unwrap_or(0);
        if let Some(page) = topics.get_mut(&topic)
            && let Some(versions) = page.versions.upgrade()
        {
            page.requested = requested;
            return Ok(versions.subscribe());
        }
        if topics.len() >= MAX_TOPICS {
            let is_idle = |page: &Page| {
                page.versions.upgrade().is_none_or(|versions| versions.receiver_count() == 0)
            };
            let idle = topics.iter().filter(|(_, page)| is_idle(page));
            let oldest =
                idle.min_by_key(|(_, page)| page.requested).map(|(topic, _)| topic.clone());
            // Each thread, including those of removed pages, holds the hub.
            let oldest = oldest.filter(|_| Arc::strong_count(self) <= 2 * MAX_TOPICS);
            let full = || format!("Too many live pages; the limit is {MAX_TOPICS}.");
            topics.remove(&oldest.ok_or_else(full)?);
        }
        let (sender, latest) = watch::channel(Latest::default());
        let sender = Arc::new(sender);
        let versions = Arc::downgrade(&sender);
        let (keep, kept) = channel();
        let (hub, page_topic) = (self.clone(), topic.clone());
        std::thread::Builder::new()
            .name("page".into())
            .spawn(move || hub.publish(&page_topic, sender, &kept))
            .map_err(|error| format!("Cannot start a thread: {error}."))?;
        topics.insert(topic, Page { versions, requested, _keep: keep });
        Ok(latest)
    }

    /// Publishes the versions of a page until the page is removed, or has had no viewer for
    /// [`IDLE_TICKS`] ticks.
    fn publish(&self, topic: &Topic, sender: Arc<watch::Sender<Latest>>, kept: &Receiver<()>) {
        let mut fragments: LivePage<'_> = match topic {
            Topic::Runs(url_query) => self.runs.page(url_query),
            Topic::Run(run) => run_page(&self.results, run),
            #[cfg(feature = "cluster")]
            Topic::Cluster(url_query) => self.monitor.page(&self.results, url_query),
        };
        let mut idle_ticks = 0;
        loop {
            let before = sender.borrow().clone();
            // An unchanged page is not published, so viewers receive nothing.
            if let Some(next) = fragments().and_then(|fragments| before.next(fragments)) {
                sender.send_replace(Arc::new(next));
            }
            if kept.recv_timeout(TICK) == Err(RecvTimeoutError::Disconnected) {
                return;
            }
            idle_ticks = if sender.receiver_count() == 0 { idle_ticks + 1 } else { 0 };
            if idle_ticks >= IDLE_TICKS {
                let _topics = lock(&self.topics);
                // The count is read under the lock that viewers hold to subscribe, so no viewer can
                // subscribe to a page that is ending.
                if sender.receiver_count() == 0 {
                    drop(sender);
                    return;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_page_replaces_the_longest_idle_page() {
        let hub = Arc::new(Hub::new("/none".into(), Arc::new(ClusterMonitor::new(false))));
        let follow = |number: usize| hub.follow(Topic::Run(number.to_string()));
        let _watched = follow(0).unwrap();
        for number in 1..MAX_TOPICS {
            follow(number).unwrap();
        }
        follow(1).unwrap();
        follow(MAX_TOPICS).unwrap();
        let is_live =
            |number: usize| lock(&hub.topics).contains_key(&Topic::Run(number.to_string()));
        assert!([0, 1, MAX_TOPICS].into_iter().all(is_live) && !is_live(2));
        let all: Vec<_> = (0..=MAX_TOPICS).filter(|number| *number != 2).map(follow).collect();
        assert!(all.iter().all(Result::is_ok));
        assert!(follow(2).is_err(), "all pages have viewers");
    }
}
