//! The workers and runs on a NATS server, for as long as the page is served.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{interval, sleep};

use super::hub::Watch;
use crate::web::{Part, parts};
use arbiter_cluster::access::{Access, AccessError, Link};
use arbiter_cluster::overview::document;
use arbiter_cluster::watch::{Cluster, Listener};
use arbiter_report::document::Document;

/// How long is waited before the server is called again.
const PAUSE: Duration = Duration::from_secs(5);

/// Listens to a cluster and keeps what it heard.
#[derive(Debug)]
pub struct ClusterMonitor(Mutex<View>);

#[derive(Debug)]
enum View {
    /// No server was named.
    Unknown,
    /// The server cannot be reached, for this reason.
    Lost(String),
    /// What was heard, and the connection over which it was.
    Seen(Box<Seen>),
}

#[derive(Debug)]
struct Seen {
    cluster: Cluster,
    link: Link,
}

impl ClusterMonitor {
    /// Nothing was heard yet, if there is a server to listen to.
    pub fn new(is_named: bool) -> ClusterMonitor {
        let waiting = || View::Lost("not connected yet".to_owned());
        ClusterMonitor(Mutex::new(if is_named { waiting() } else { View::Unknown }))
    }

    fn view(&self) -> MutexGuard<'_, View> {
        // Nothing in there can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens for ever, and calls the server again whenever it is lost.
    pub async fn keep(&self, access: Access) {
        loop {
            let reason = match self.listen(&access).await {
                Ok(()) => "the connection was lost".to_owned(),
                Err(error) => error.to_string(),
            };
            *self.view() = View::Lost(reason);
            sleep(PAUSE).await;
        }
    }

    async fn listen(&self, access: &Access) -> Result<(), AccessError> {
        let link = access.connect("arbiter serve").await?;
        let mut listener = Listener::new(&link).await?;
        *self.view() =
            View::Seen(Box::new(Seen { cluster: Cluster::default(), link: link.clone() }));
        let mut forbidden = link.forbidden.clone();
        let mut second = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                heard = listener.next() => {
                    let Some(heard) = heard else { return Ok(()) };
                    if let View::Seen(seen) = &mut *self.view() {
                        seen.cluster.hear(heard);
                    }
                }
                _ = second.tick() => {
                    if let View::Seen(seen) = &mut *self.view() {
                        seen.cluster.second();
                    }
                }
                Ok(()) = forbidden.changed() => {
                    if let Some(reason) = forbidden.borrow_and_update().clone() {
                        return Err(AccessError::Denied { what: "to listen".into(), reason });
                    }
                }
            }
        }
    }
}

impl Watch for Arc<ClusterMonitor> {
    fn look(&mut self) -> Vec<Part> {
        let document = match &*self.view() {
            View::Unknown => told("No server is looked at: start arbiter serve with --nats URL."),
            View::Lost(reason) => told(&format!("Nobody can be heard: {reason}.")),
            View::Seen(seen) if !seen.link.is_connected() => {
                told("The connection to the NATS server is lost; it is being called.")
            }
            View::Seen(seen) => document(&seen.cluster),
        };
        parts(&document)
    }
}

fn told(words: &str) -> Document {
    let mut document = Document::new("Cluster".to_owned());
    document.paragraph(words);
    document
}
