#![doc = include_str!("../README.md")]

pub mod bayes;
mod brownian;
mod calibration;
mod coin;
mod discrete_walk;
mod distribution;
pub mod elo;
mod fisher;
mod forecast;
mod gsprt;
mod monitor;
pub mod normalized;
mod overshoot;
pub mod paired;
mod pentanomial;
pub mod planning;
pub mod ratings;
pub mod residuals;
mod roots;
mod scale;
pub mod sequential;
mod signed_rank;
pub mod simulate;
pub mod speed;
mod sprt;

#[cfg(test)]
mod tests;

pub use brownian::Exit;
pub use calibration::{Calibration, EvaluationBuckets};
pub use coin::{binomial_tail, ln_bias_evidence};
pub use distribution::{Distribution, Moments};
pub use fisher::{FailureCount, fisher_exact};
pub use monitor::{SprtMonitor, SprtStatus};
pub use pentanomial::{GameResult, Pentanomial, Trinomial, opening_bias};
pub use scale::Model;
pub use sprt::{
    Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Decision, Evidence, LlrBounds, Sprt,
};
