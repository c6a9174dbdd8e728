//! Prometheus metrics, as handles that share their counts with a registry.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use super::monitor::WorkerState;

/// Gauges by the value of the label `state`.
type ByState = Family<[(&'static str, String); 1], Gauge>;

fn register_connected(registry: &mut Registry, connected: &Gauge) {
    let help = "1 if connected to the NATS server";
    registry.register("arbiter_nats_connected", help, connected.clone());
}

/// Metrics of workers and jobs on a server.
#[derive(Debug, Clone)]
pub struct ClusterMetrics {
    connected: Gauge,
    workers: ByState,
    jobs: ByState,
    /// Time from the creation of a job to its accepted result, in seconds.
    job_duration: Histogram,
}

impl Default for ClusterMetrics {
    fn default() -> ClusterMetrics {
        // Buckets from 0.5 s to 4,096 s, for pairs of fast and of slow time controls.
        let job_duration = Histogram::new(exponential_buckets(0.5, 2.0, 14));
        let (connected, workers, jobs) = Default::default();
        ClusterMetrics { connected, workers, jobs, job_duration }
    }
}

impl ClusterMetrics {
    /// Registers the metrics that coordinators and observers of a server share.
    pub fn register(&self, registry: &mut Registry) {
        register_connected(registry, &self.connected);
        let help = "Workers by state";
        registry.register("arbiter_workers", help, self.workers.clone());
        let help = "Unfinished jobs, by whether a worker has started them";
        registry.register("arbiter_jobs", help, self.jobs.clone());
    }

    /// Registers all metrics of a coordinator: the metrics of [`register`](Self::register), and the
    /// job duration.
    pub fn register_coordinator(&self, registry: &mut Registry) {
        self.register(registry);
        let help =
            "Time from the creation of a job to its accepted result, to a quarter of a second";
        let duration = self.job_duration.clone();
        registry.register_with_unit("arbiter_job_duration", help, Unit::Seconds, duration);
    }

    /// Sets the metrics to the current workers and jobs (queued, playing) of a connected server.
    pub(crate) fn set(&self, workers: impl Iterator<Item = WorkerState>, jobs: [u64; 2]) {
        self.connected.set(1);
        let workers: Vec<WorkerState> = workers.collect();
        for state in arbiter_names::variants::<WorkerState>() {
            let count = workers.iter().filter(|own| **own == state).count();
            self.workers.get_or_create(&[("state", state.to_string())]).set(count as i64);
        }
        for (state, count) in ["queued", "playing"].into_iter().zip(jobs) {
            self.jobs.get_or_create(&[("state", state.to_owned())]).set(count.cast_signed());
        }
    }

    /// Sets the metrics for a lost connection.
    pub fn disconnected(&self) {
        self.set(std::iter::empty(), [0, 0]);
        self.connected.set(0);
    }

    pub(crate) fn job_done(&self, took: std::time::Duration) {
        self.job_duration.observe(took.as_secs_f64());
    }
}

/// Metrics of a worker.
#[derive(Debug, Clone, Default)]
pub struct WorkerMetrics {
    pub(crate) connected: Gauge,
    pub(crate) playing: Gauge,
    pub(crate) pairs: Counter,
    pub(crate) refused: Gauge,
}

impl WorkerMetrics {
    /// Registers the metrics of a worker with this number of slots.
    pub fn register(&self, registry: &mut Registry, slots: u32) {
        register_connected(registry, &self.connected);
        let all = Gauge::<i64>::default();
        all.set(slots.into());
        registry.register("arbiter_slots", "Slots of the worker", all);
        registry.register("arbiter_slots_playing", "Slots that play", self.playing.clone());
        let help = "Pairs played, and tasks of suites done, since the worker started";
        registry.register("arbiter_pairs", help, self.pairs.clone());
        let help = "Runs on the server that the worker does not play";
        registry.register("arbiter_refused_runs", help, self.refused.clone());
    }
}
