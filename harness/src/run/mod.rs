//! A run from its first pair to its verdict.
//!
//! [`state`] decides and does nothing; [`dispatch`] does and decides nothing: it selects an event,
//! applies it to the state, and carries out the effects. [`executor`] plays pairs, here or
//! elsewhere.

pub mod analyst;
pub mod control;
pub mod dispatch;
pub mod event;
pub mod executor;
pub mod fit;
pub mod gallery;
pub mod job;
pub mod latency;
pub mod noise;
pub mod places;
pub mod seats;
pub mod signal;
pub mod standing;
pub mod state;
