//! Tuning of an engine's parameters through games, by SPSA: simultaneous perturbation stochastic
//! approximation (Spall 1992), in the form that Kiiski gave it for chess. Pure.
//!
//! An iteration moves every parameter a little up or down, as coins say, and plays pairs between
//! the engine with these values and the engine with the opposite ones. The values then move towards
//! the side that won more. Start at [`gains`] for how far they move, [`perturb`] for the two sides,
//! and [`ascent`] for the whole climb as a fold over the results of its pairs.
//!
//! [`landscape`] climbs hills whose top is known, to choose the steps before games are spent.

pub mod ascent;
pub mod gains;
pub mod landscape;
pub mod parameter;
pub mod patch;
pub mod perturb;
#[cfg(test)]
mod reference;
pub mod table;
pub mod tuning;
