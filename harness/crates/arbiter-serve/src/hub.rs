//! What viewers of the same page share: one thread that looks at the store and makes the page, as
//! long as anybody looks at it. A viewer that is slow misses what came in between, and delays nobody.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;

use super::cluster::ClusterMonitor;
use super::list::ListWatch;
use super::run::RunWatch;
use crate::web::{Part, Publication};

/// How often a page is looked after. Boards change that often; the rest takes several beats.
pub const BEAT: Duration = Duration::from_millis(500);

/// Beats for which a page that nobody looks at is kept up to date, as somebody may come back.
const LINGER: u32 = 60;

/// Pages that are kept up to date at once.
const MAX_TOPICS: usize = 64;

/// A page that changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The list of runs.
    Runs,
    /// A run, by its name.
    Run(String),
    /// The workers and runs on a NATS server.
    Cluster,
}

/// What was published last; nothing yet before the first look.
pub type Latest = Option<Arc<Publication>>;

/// All pages that somebody looks at.
#[derive(Debug)]
pub struct Hub {
    results: PathBuf,
    monitor: Arc<ClusterMonitor>,
    topics: Mutex<BTreeMap<Topic, watch::Sender<Latest>>>,
}

/// Makes the parts of a page, again and again.
pub trait Watch {
    /// The parts as they are now.
    fn look(&mut self) -> Vec<Part>;
}

impl Hub {
    /// Nobody looks yet.
    pub fn new(results: PathBuf, monitor: Arc<ClusterMonitor>) -> Hub {
        Hub { results, monitor, topics: Mutex::default() }
    }

    /// Lets somebody see a page, and all that it becomes. The error is a sentence.
    pub fn follow(self: &Arc<Self>, topic: Topic) -> Result<watch::Receiver<Latest>, String> {
        let mut topics = self.topics();
        if let Some(sender) = topics.get(&topic) {
            return Ok(sender.subscribe());
        }
        if topics.len() >= MAX_TOPICS {
            return Err(format!("{MAX_TOPICS} runs are being looked at already."));
        }
        let (sender, receiver) = watch::channel(None);
        topics.insert(topic.clone(), sender.clone());
        drop(topics);
        let hub = self.clone();
        let listed = Listed { hub, topic: topic.clone() };
        let thread = std::thread::Builder::new().name("page".into());
        match thread.spawn(move || listed.keep_up(&sender)) {
            Ok(_) => Ok(receiver),
            Err(error) => {
                self.topics().remove(&topic);
                Err(format!("No thread can be started: {error}."))
            }
        }
    }

    fn topics(&self) -> MutexGuard<'_, BTreeMap<Topic, watch::Sender<Latest>>> {
        // Nothing in here can panic half-way.
        self.topics.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A topic of the hub, which is taken out of it again however its thread ends.
#[derive(Debug)]
struct Listed {
    hub: Arc<Hub>,
    topic: Topic,
}

impl Listed {
    fn keep_up(self, sender: &watch::Sender<Latest>) {
        let results = self.hub.results.clone();
        let mut page: Box<dyn Watch> = match &self.topic {
            Topic::Runs => Box::new(ListWatch::new(results)),
            Topic::Run(run) => Box::new(RunWatch::new(results, run.clone())),
            Topic::Cluster => Box::new(self.hub.monitor.clone()),
        };
        let mut unseen = 0;
        loop {
            publish(sender, page.look());
            std::thread::sleep(BEAT);
            unseen = if sender.receiver_count() == 0 { unseen + 1 } else { 0 };
            if unseen >= LINGER && self.leave(sender) {
                return;
            }
        }
    }

    /// Takes the topic out, unless somebody has come in the last moment.
    fn leave(&self, sender: &watch::Sender<Latest>) -> bool {
        let mut topics = self.hub.topics();
        let is_alone = sender.receiver_count() == 0;
        if is_alone {
            topics.remove(&self.topic);
        }
        is_alone
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        // Otherwise it has left, and another thread may have its place by now.
        if std::thread::panicking() {
            self.hub.topics().remove(&self.topic);
        }
    }
}

fn publish(sender: &watch::Sender<Latest>, parts: Vec<Part>) {
    let before = sender.borrow().clone();
    let next = match before {
        None => Some(Publication::first(parts)),
        Some(before) => before.next(parts),
    };
    if let Some(next) = next {
        sender.send_replace(Some(Arc::new(next)));
    }
}
