//! Looks at a cluster from outside: who is there, and which runs.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use super::access::{AccessError, Link};
use super::subject::{BEACON, HELLO};
use super::wire::{Beacon, Hello};

/// What was heard, by name of the worker and token of the run.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Workers.
    pub workers: BTreeMap<String, Hello>,
    /// Runs.
    pub runs: BTreeMap<String, Beacon>,
}

/// Listens for so long. Workers greet every three seconds, runs every second.
pub async fn listen(link: &Link, time: Duration) -> Result<Cluster, AccessError> {
    let (mut beacons, mut hellos) = (link.hear(BEACON).await?, link.hear(HELLO).await?);
    let mut cluster = Cluster::default();
    let listening = async {
        loop {
            tokio::select! {
                Some(message) = beacons.next() => if let Ok(beacon) = Beacon::read(&message.payload) {
                    cluster.runs.insert(beacon.token.clone(), beacon);
                },
                Some(message) = hellos.next() => if let Ok(hello) = Hello::read(&message.payload) {
                    cluster.workers.insert(hello.worker.clone(), hello);
                },
                else => sleep(time).await,
            }
        }
    };
    // That time is over is how it ends.
    let _ = timeout(time, listening).await;
    cluster.workers.retain(|_, hello| !hello.is_leaving);
    Ok(cluster)
}
