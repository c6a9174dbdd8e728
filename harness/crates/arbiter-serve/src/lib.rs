//! HTTP server with live pages of the runs in a results store.

#[cfg(feature = "cluster")]
mod cluster;
mod compare;
mod connections;
mod fold;
mod games;
mod guard;
mod http_error;
mod hub;
mod list;
mod metrics;
#[cfg(not(feature = "cluster"))]
mod no_cluster;
mod request_times;
mod routes;
mod run;
mod site;
mod starter;
mod steer;
mod url_query;
mod web;

#[cfg(not(feature = "cluster"))]
use no_cluster as cluster;

pub use cluster::ClusterMonitor;
pub use guard::{Guard, MIN_TOKEN};
pub use metrics::serve_metrics;
pub use site::Site;
pub use starter::{NewTest, StartResult, Starter};
