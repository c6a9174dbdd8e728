//! Runs that are played by other machines, over NATS JetStream.
//!
//! [`coordinator`] is the far end of [`arbiter_runner::executor::remote`]: it sends pairs out, or other
//! assignments, takes results in, and believes only what [`in_flight`] and [`verify`] let through.
//! [`worker`] plays pairs with the same executor as a local run. JetStream carries both; the store of the run is the truth,
//! and what it lacks is sent out again. [`wire`] has all that is ever sent, and nothing else is.

pub mod access;
pub mod asking;
pub mod assignment;
pub mod bench;
pub mod coordinator;
pub mod in_flight;
pub mod outliers;
pub mod overview;
mod range_set;
pub mod subject;
pub mod trust;
pub mod verify;
pub mod watch;
pub mod wire;
pub mod worker;
