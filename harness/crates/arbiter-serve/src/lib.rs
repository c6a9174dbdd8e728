//! Live pages of the runs of a results store, over HTTP.

mod asked;
#[cfg(feature = "cluster")]
mod cluster;
mod compute;
mod connections;
mod fold;
mod games;
mod guard;
mod hub;
mod list;
mod metrics;
#[cfg(not(feature = "cluster"))]
mod no_cluster;
mod routes;
mod run;
mod steer;
mod web;

#[cfg(not(feature = "cluster"))]
use no_cluster as cluster;

pub use cluster::ClusterMonitor;
pub use guard::{Guard, MIN_TOKEN};
pub use metrics::serve_metrics;
pub use routes::Site;
pub use steer::{NewTest, StartResult, Starter};
