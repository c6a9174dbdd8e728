//! Decisions of a run: [`state`] receives inputs and returns effects.

pub(super) mod contention;
pub(super) mod control;
pub(super) mod counts;
pub(super) mod cpu_sets;
pub(super) mod event;
pub(super) mod job;
pub(super) mod latency;
pub(super) mod overload;
mod repeats;
pub(super) mod state;
