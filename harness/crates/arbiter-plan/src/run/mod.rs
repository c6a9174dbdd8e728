//! The part of a run that decides: [`state`] is told events and answers with effects.

pub mod control;
pub mod event;
pub mod job;
pub mod latency;
pub mod noise;
pub mod places;
pub mod standing;
pub mod state;
