//! The monitor of the workers and runs of a NATS server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{interval, sleep};

use super::hub::LivePage;
use crate::web::{Fragment, fragments};
use arbiter_cluster::access::{Access, AccessError, Link};
use arbiter_cluster::overview::document;
use arbiter_cluster::watch::{Cluster, Listener};
use arbiter_report::document::Document;

/// Time before the server is contacted again.
const RECONNECT: Duration = Duration::from_secs(5);

/// What is known of the cluster, shared by the task that listens and the page that shows it.
#[derive(Debug)]
pub struct ClusterMonitor(Mutex<State>);

#[derive(Debug)]
enum State {
    /// No server was named.
    Unconfigured,
    /// The server cannot be reached, for this reason.
    Disconnected(String),
    /// What was received, and the connection over which it was.
    Connected(Box<Connection>),
}

#[derive(Debug)]
struct Connection {
    cluster: Cluster,
    link: Link,
}

impl ClusterMonitor {
    /// Nothing was heard yet, if there is a server to listen to.
    pub fn new(is_named: bool) -> ClusterMonitor {
        let waiting = || State::Disconnected("not connected yet".to_owned());
        ClusterMonitor(Mutex::new(if is_named { waiting() } else { State::Unconfigured }))
    }

    fn state(&self) -> MutexGuard<'_, State> {
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
            *self.state() = State::Disconnected(reason);
            sleep(RECONNECT).await;
        }
    }

    async fn listen(&self, access: &Access) -> Result<(), AccessError> {
        let link = access.connect("arbiter serve").await?;
        let mut listener = Listener::new(&link).await?;
        *self.state() = State::Connected(Box::new(Connection {
            cluster: Cluster::default(),
            link: link.clone(),
        }));
        let mut forbidden = link.forbidden.clone();
        let mut second = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                heard = listener.next() => {
                    let Some(heard) = heard else { return Ok(()) };
                    if let State::Connected(connection) = &mut *self.state() {
                        connection.cluster.hear(heard);
                    }
                }
                _ = second.tick() => {
                    if let State::Connected(connection) = &mut *self.state() {
                        connection.cluster.second();
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

impl LivePage for Arc<ClusterMonitor> {
    fn fragments(&mut self) -> Vec<Fragment> {
        let document = match &*self.state() {
            State::Unconfigured => {
                notice("No NATS server is configured: start arbiter serve with --nats URL.")
            }
            State::Disconnected(reason) => {
                notice(&format!("The NATS server cannot be reached: {reason}."))
            }
            State::Connected(connection) if !connection.link.is_connected() => {
                notice("The connection to the NATS server is lost; reconnecting.")
            }
            State::Connected(connection) => document(&connection.cluster),
        };
        fragments(&document)
    }
}

fn notice(words: &str) -> Document {
    let mut document = Document::new("Cluster".to_owned());
    document.paragraph(words);
    document
}
