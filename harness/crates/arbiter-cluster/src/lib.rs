//! Distributed runs over NATS JetStream: workers on other machines play the pairs of a run.
//!
//! [`coordinate`] starts a coordinator, which is connected to an [`arbiter_runner::RemoteExecutor`]
//! by a job channel. The coordinator sends pairs or suite positions to workers, and passes to the
//! dispatcher the results that `in_flight` and `verify` accept. [`serve`] runs a worker, which
//! plays pairs with the executor of local runs. JetStream stores jobs and results in transit. The
//! coordinator sends a job again if its result does not arrive. [`wire`] contains all messages.

mod assignment;
mod bench;
mod connection;
mod coordinator;
mod in_flight;
mod join_file;
mod metrics;
mod monitor;
mod outliers;
mod overview;
mod range_set;
mod server_setup;
mod subject;
mod suite;
mod trust;
mod verify;
pub mod wire;
mod worker;

pub use assignment::Assignment;
pub use bench::measure;
pub use connection::{Access, AccessError, Connection, Credentials, Secret, denied};
pub use coordinator::{
    AuditSpec, RunSpec, WorkerHistory, check, check_engines, coordinate, describe, describe_suite,
};
pub use join_file::{Role, read_join_file};
pub use metrics::{ClusterMetrics, WorkerMetrics};
pub use monitor::{Announcement, Cluster, Listener, WorkerState, observe};
pub use outliers::worker_residuals;
pub use overview::{benches, cluster_text, document, runs_table, trouble};
pub use server_setup::{
    CONFIGURATION, JOIN_SUFFIX, SetupError, add_workers, join_path, make_server,
};
pub use subject::{
    ALL_COORDINATOR_MESSAGES, BEACONS, INBOX, JOB_CONSUMER, RunId, is_inbox, worker_status,
};
pub use suite::{SuiteResults, SuiteRunError, run_suite};
pub use trust::{Key, PublicKey, Token, proof};
pub use worker::{Config, Phase, serve};
