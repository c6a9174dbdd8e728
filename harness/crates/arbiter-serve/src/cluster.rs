//! The monitor of the workers and runs of a NATS server.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{interval, sleep};

use super::hub::LivePage;
use crate::web::{Fragment, fragments};
use arbiter_cluster::{Access, AccessError, Cluster, Connection, Listener, document};
use arbiter_report::Document;

/// Time before the server is contacted again.
const RECONNECT: Duration = Duration::from_secs(5);

/// What is known of the cluster, shared by the task that listens and the page that shows it: the
/// workers and runs, and the connection to the server; or a sentence that says why they are not known.
#[derive(Debug)]
pub struct ClusterMonitor(Mutex<Result<(Cluster, Connection), String>>);

fn unreachable(reason: &str) -> String {
    format!("The NATS server cannot be reached: {reason}.")
}

impl ClusterMonitor {
    /// A monitor that is not connected yet; `is_named` says whether there is a server.
    pub fn new(is_named: bool) -> ClusterMonitor {
        let none = "No NATS server is configured: start arbiter serve with --on URL.";
        let why = if is_named { unreachable("not connected yet") } else { none.to_owned() };
        ClusterMonitor(Mutex::new(Err(why)))
    }

    fn state(&self) -> MutexGuard<'_, Result<(Cluster, Connection), String>> {
        // Nothing in there can panic half-way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens without end, and connects again whenever the connection is lost.
    pub async fn keep(&self, access: Access) {
        loop {
            let reason = match self.listen(&access).await {
                Ok(()) => "the connection was lost".to_owned(),
                Err(error) => error.to_string(),
            };
            *self.state() = Err(unreachable(&reason));
            sleep(RECONNECT).await;
        }
    }

    async fn listen(&self, access: &Access) -> Result<(), AccessError> {
        let mut connection = access.connect("arbiter serve").await?;
        let mut listener = Listener::new(&connection).await?;
        *self.state() = Ok((Cluster::default(), connection.clone()));
        let mut second = interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                announcement = listener.next() => {
                    let Some(announcement) = announcement else { return Ok(()) };
                    if let Ok((cluster, _)) = &mut *self.state() {
                        cluster.update(announcement);
                    }
                }
                _ = second.tick() => {
                    if let Ok((cluster, _)) = &mut *self.state() {
                        cluster.tick();
                    }
                }
                reason = connection.denied() => {
                    return Err(AccessError::Denied { what: "to listen".into(), reason });
                }
            }
        }
    }
}

impl LivePage for Arc<ClusterMonitor> {
    fn fragments(&mut self) -> Vec<Fragment> {
        let notice = match &*self.state() {
            Ok((cluster, connection)) if connection.is_connected() => {
                return fragments(&document(cluster));
            }
            Ok(_) => "The connection to the NATS server is lost; reconnecting.".to_owned(),
            Err(why) => why.clone(),
        };
        let mut document = Document::new("Cluster".to_owned());
        document.paragraph(notice);
        fragments(&document)
    }
}
