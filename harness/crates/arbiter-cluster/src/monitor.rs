//! The workers and runs on a NATS server, as announced by status messages and beacons, and the
//! states of workers, as displayed to users.

use std::collections::BTreeMap;
use std::time::Duration;

use async_nats::Subscriber;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::time::timeout;

use super::connection::{AccessError, Connection};
use super::metrics::ClusterMetrics;
use super::subject::{ALL_WORKER_STATUSES, BEACONS, RunId};
use super::wire::{self, Beacon, EXCLUDED, WorkerStatus};

/// Time without a message, in seconds, after which a worker counts as silent and a run is removed.
/// Workers send a status every 3 seconds and coordinators a beacon every second, so a few messages
/// may be lost.
const TIMEOUT_S: u32 = 10;

/// Time, in seconds, for which a silent worker stays in the list, so that users notice that the
/// worker is silent.
const MEMORY_S: u32 = 3600;

/// Maximum number of workers and maximum number of runs. The limits prevent a sender from filling
/// the memory.
const MAX_ENTRIES: usize = 10_000;

/// State of a worker; the variants are ordered by urgency, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WorkerState {
    /// A run has excluded the worker.
    Excluded,
    /// The worker has sent no status for at least 10 s.
    Silent,
    /// The worker plays at least one game.
    Playing,
    /// The worker has nothing to do.
    Idle,
}

arbiter_names::named!(WorkerState);

impl WorkerState {
    /// Returns the state of a worker from its last status, received `silent` seconds ago.
    pub fn of(status: &WorkerStatus, silent: u32) -> WorkerState {
        let is_excluded = status.refusals.iter().any(|(_, why)| why.starts_with(EXCLUDED));
        match status.playing {
            // This state comes first, because the other states follow from a status that may be
            // outdated.
            _ if silent >= TIMEOUT_S => WorkerState::Silent,
            _ if is_excluded => WorkerState::Excluded,
            0 => WorkerState::Idle,
            _ => WorkerState::Playing,
        }
    }
}

/// The workers and runs on a server, each with the seconds since its last message.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Cluster {
    workers: BTreeMap<String, (WorkerStatus, u32)>,
    runs: BTreeMap<RunId, (Beacon, u32)>,
}

/// Message that every client of the server may receive.
#[derive(Debug, Clone, PartialEq)]
pub enum Announcement {
    /// The status of the worker with this name.
    Worker(String, WorkerStatus),
    /// The beacon of a run.
    Run(Beacon),
}

fn insert<K: Ord, V>(map: &mut BTreeMap<K, (V, u32)>, key: K, value: V) {
    if map.len() < MAX_ENTRIES || map.contains_key(&key) {
        map.insert(key, (value, 0));
    }
}

impl Cluster {
    /// Updates the cluster from an announcement.
    pub fn update(&mut self, announcement: Announcement) {
        match announcement {
            Announcement::Worker(name, status) if status.is_leaving => {
                self.workers.remove(&name);
            }
            Announcement::Worker(name, status) => insert(&mut self.workers, name, status),
            Announcement::Run(beacon) => insert(&mut self.runs, beacon.run_id.clone(), beacon),
        }
    }

    /// Adds one second to all times, and removes workers and runs that have been silent for too
    /// long.
    pub fn tick(&mut self) {
        let is_recent = |silent: &mut u32, most| {
            *silent += 1;
            *silent < most
        };
        self.workers.retain(|_, (_, silent)| is_recent(silent, MEMORY_S));
        self.runs.retain(|_, (_, silent)| is_recent(silent, TIMEOUT_S));
    }

    /// Returns the name, the last status, and the age of the status in seconds, for each worker,
    /// sorted by name.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = (&str, &WorkerStatus, u32)> {
        self.workers.iter().map(|(name, (status, silent))| (name.as_str(), status, *silent))
    }

    /// Sets the metrics from the known workers and runs.
    pub fn count(&self, metrics: &ClusterMetrics) {
        let states = self.workers().map(|(_, status, silent)| WorkerState::of(status, silent));
        let sum = |each: fn(&Beacon) -> u64| self.runs().map(each).sum();
        metrics.set(states, [sum(|beacon| beacon.queued), sum(|beacon| beacon.playing)]);
    }

    /// Returns the runs, sorted by ID.
    pub fn runs(&self) -> impl ExactSizeIterator<Item = &Beacon> {
        self.runs.values().map(|(beacon, _)| beacon)
    }
}

/// Receiver of announcements.
#[derive(Debug)]
pub struct Listener {
    beacons: Subscriber,
    statuses: Subscriber,
}

impl Listener {
    /// Subscribes to announcements.
    pub async fn new(connection: &Connection) -> Result<Listener, AccessError> {
        Ok(Listener {
            beacons: connection.subscribe(BEACONS).await?,
            statuses: connection.subscribe(ALL_WORKER_STATUSES).await?,
        })
    }

    /// Returns the next readable announcement; `None` if the connection is closed.
    pub async fn next(&mut self) -> Option<Announcement> {
        loop {
            let read = tokio::select! {
                Some(message) = self.beacons.next() => {
                    // Announcements are only displayed, so an observer need not trust any key.
                    wire::unverified(&message.payload).map(Announcement::Run)
                }
                Some(message) = self.statuses.next() => {
                    wire::read_from(&message).map(|(name, status)| Announcement::Worker(name, status))
                }
                else => return None,
            };
            if let Ok(announcement) = read {
                return Some(announcement);
            }
        }
    }
}

/// Collects the workers and runs that are announced within `time`.
pub async fn observe(connection: &Connection, time: Duration) -> Result<Cluster, AccessError> {
    let mut listener = Listener::new(connection).await?;
    let mut cluster = Cluster::default();
    let listening = async {
        while let Some(announcement) = listener.next().await {
            cluster.update(announcement);
        }
    };
    // The stream of announcements does not end, so the timeout is the normal end.
    let _ = timeout(time, listening).await;
    Ok(cluster)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_that_leave_are_removed_and_silent_ones_remembered() {
        let status = |worker: &str, is_leaving| {
            let status = WorkerStatus { slots: 1, is_leaving, ..WorkerStatus::default() };
            Announcement::Worker(worker.to_owned(), status)
        };
        let beacon = Announcement::Run(Beacon {
            run_id: RunId::new("run", 1, "k"),
            at: 0,
            run: "run".to_owned(),
            priority: 1,
            queued: 2,
            playing: 3,
        });
        let mut cluster = Cluster::default();
        for announcement in [status("a", false), status("b", false), beacon, status("b", true)] {
            cluster.update(announcement);
        }
        let names = |cluster: &Cluster| -> Vec<String> {
            let workers = cluster.workers().map(|(name, status, silent)| {
                let state = WorkerState::of(status, silent);
                if state == WorkerState::Silent { format!("({name})") } else { name.to_owned() }
            });
            workers.chain(cluster.runs().map(|beacon| beacon.run.clone())).collect()
        };
        assert_eq!(names(&cluster), ["a", "run"]);
        (1..TIMEOUT_S).for_each(|_| cluster.tick());
        assert_eq!(names(&cluster), ["a", "run"]);
        cluster.update(status("a", false));
        cluster.tick();
        assert_eq!(names(&cluster), ["a"]);
        (1..TIMEOUT_S).for_each(|_| cluster.tick());
        assert_eq!(names(&cluster), ["(a)"]);
        (TIMEOUT_S..MEMORY_S).for_each(|_| cluster.tick());
        assert_eq!(names(&cluster), [""; 0]);
    }

    #[test]
    fn an_excluded_worker_is_not_idle() {
        let refused = |why: &str| vec![(RunId::new("run", 1, "k"), why.to_owned())];
        let state = |playing, refusals| {
            WorkerState::of(&WorkerStatus { playing, refusals, ..WorkerStatus::default() }, 3)
        };
        assert_eq!(state(0, vec![]), WorkerState::Idle);
        assert_eq!(state(2, refused("no such engine here")), WorkerState::Playing);
        assert_eq!(state(0, refused("excluded: crashes")), WorkerState::Excluded);
    }
}
