//! Plays a run from its first pair to its end.
//!
//! [`dispatch`] selects an event, applies it to [`arbiter_plan::run::state`], and carries out the
//! effects; it decides nothing. [`executor`] plays pairs, here or elsewhere.

pub mod analysis;
pub mod control_socket;
pub mod dispatch;
pub mod executor;
pub mod fingerprint;
pub mod live_games;
pub mod preflight;
pub mod signal;
pub mod tuning_check;
