//! The part of a run that decides: [`state`] is told events and answers with effects.

pub mod control;
pub mod counts;
pub mod cpu_sets;
pub mod event;
pub mod job;
pub mod latency;
pub mod noise;
pub mod state;
