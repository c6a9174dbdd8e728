//! Looks at a cluster from outside: who is there, and which runs.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::Subscriber;
use futures_util::StreamExt;
use tokio::time::timeout;

use super::access::{AccessError, Link};
use super::subject::{ALL_WORKER_STATUSES, BEACON, speaker};
use super::wire::{Beacon, WorkerStatus};

/// Seconds of silence after which a worker or run is forgotten: workers send their status every 3
/// seconds, coordinators their beacon every second.
const SILENCE: u32 = 10;

/// Workers and runs that are remembered at most, each; who sends more names does not fill our memory.
const MOST: usize = 10_000;

/// What was heard, by name of the worker and token of the run, and how many seconds ago.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Cluster {
    workers: BTreeMap<String, (WorkerStatus, u32)>,
    runs: BTreeMap<String, (Beacon, u32)>,
}

/// What is said in a cluster to all who listen.
#[derive(Debug, Clone, PartialEq)]
pub enum Heard {
    /// A worker is there, or leaves.
    Worker(WorkerStatus),
    /// A run is.
    Run(Beacon),
}

impl Cluster {
    /// Takes in what was heard.
    pub fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Worker(status) if status.is_leaving => drop(self.workers.remove(&status.worker)),
            Heard::Worker(status) => {
                if self.workers.len() < MOST || self.workers.contains_key(&status.worker) {
                    self.workers.insert(status.worker.clone(), (status, 0));
                }
            }
            Heard::Run(beacon) => {
                if self.runs.len() < MOST || self.runs.contains_key(&beacon.token) {
                    self.runs.insert(beacon.token.clone(), (beacon, 0));
                }
            }
        }
    }

    /// A second has passed; who has been silent for long is forgotten.
    pub fn second(&mut self) {
        let is_there = |silent: &mut u32| {
            *silent += 1;
            *silent < SILENCE
        };
        self.workers.retain(|_, (_, silent)| is_there(silent));
        self.runs.retain(|_, (_, silent)| is_there(silent));
    }

    /// The workers, by name.
    pub fn workers(&self) -> impl Iterator<Item = &WorkerStatus> {
        self.workers.values().map(|(status, _)| status)
    }

    /// The runs, by token.
    pub fn runs(&self) -> impl Iterator<Item = &Beacon> {
        self.runs.values().map(|(beacon, _)| beacon)
    }
}

/// Who listens.
#[derive(Debug)]
pub struct Listener {
    beacons: Subscriber,
    statuses: Subscriber,
}

impl Listener {
    /// Begins to listen.
    pub async fn new(link: &Link) -> Result<Listener, AccessError> {
        Ok(Listener {
            beacons: link.hear(BEACON).await?,
            statuses: link.hear(ALL_WORKER_STATUSES).await?,
        })
    }

    /// The next that is said and can be understood; `None` if the connection is gone for good.
    pub async fn next(&mut self) -> Option<Heard> {
        loop {
            let heard = tokio::select! {
                Some(message) = self.beacons.next() => Beacon::read(&message.payload).map(Heard::Run),
                Some(message) = self.statuses.next() => {
                    WorkerStatus::read(speaker(&message.subject), &message.payload).map(Heard::Worker)
                }
                else => return None,
            };
            if let Ok(heard) = heard {
                return Some(heard);
            }
        }
    }
}

/// Listens for so long.
pub async fn listen(link: &Link, time: Duration) -> Result<Cluster, AccessError> {
    let mut listener = Listener::new(link).await?;
    let mut cluster = Cluster::default();
    let listening = async {
        while let Some(heard) = listener.next().await {
            cluster.hear(heard);
        }
    };
    // That time is over is how it ends.
    let _ = timeout(time, listening).await;
    Ok(cluster)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_or_falls_silent_is_there_no_more() {
        let status = |worker: &str, is_leaving| {
            let (system, cpu, version) = (String::new(), String::new(), String::new());
            Heard::Worker(WorkerStatus {
                worker: worker.to_owned(),
                version,
                slots: 1,
                playing: 0,
                pairs: 0,
                recent_pairs: 0,
                recent_secs: 0,
                cores: 1,
                memory_mib: 1,
                system,
                cpu,
                benches: Vec::new(),
                refusals: Vec::new(),
                trouble: None,
                is_leaving,
            })
        };
        let beacon = Heard::Run(Beacon {
            token: "0123456789abcdef".to_owned(),
            run: "run".to_owned(),
            priority: 1,
            queued: 2,
            playing: 3,
        });
        let mut cluster = Cluster::default();
        for heard in [status("a", false), status("b", false), beacon, status("b", true)] {
            cluster.hear(heard);
        }
        let names = |cluster: &Cluster| -> Vec<String> {
            let workers = cluster.workers().map(|status| status.worker.clone());
            workers.chain(cluster.runs().map(|beacon| beacon.run.clone())).collect()
        };
        assert_eq!(names(&cluster), ["a", "run"]);
        (1..SILENCE).for_each(|_| cluster.second());
        assert_eq!(names(&cluster), ["a", "run"]);
        cluster.hear(status("a", false));
        cluster.second();
        assert_eq!(names(&cluster), ["a"]);
    }
}
