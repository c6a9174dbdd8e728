//! The live page: runs of a results store over HTTP.

mod cluster;
mod compute;
mod fold;
mod guard;
mod hub;
mod list;
mod routes;
mod run;
mod web;

pub use cluster::ClusterMonitor;
pub use guard::{Guard, MIN_TOKEN};
pub use hub::Hub;
pub use routes::Site;
