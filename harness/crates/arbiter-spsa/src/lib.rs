//! Tuning of an engine's parameters through games, by SPSA: simultaneous perturbation stochastic
//! approximation (J. Spall, 1992), in the form that G. Kiiski gave it for chess. Pure: no I/O.
//!
//! An iteration perturbs every parameter up or down at random and plays pairs of games between the
//! engine with these values and the engine with the opposite ones. The values then move towards
//! the side that won more. [`Gains`] says how far they move, [`SpsaState`] folds the results of all
//! pairs into the values. [`SimulatedObjective`] stands in for games, to choose a schedule before
//! any are played.

mod gains;
mod objective;
mod parameter;
pub mod patch;
mod perturb;
#[cfg(test)]
mod reference;
mod state;
pub mod table;
mod tuning;

pub use gains::{A_RATIO, ALPHA, GAMMA, Gains};
pub use objective::{Forecast, SimulatedObjective, noise};
pub use parameter::{Parameter, ParameterError, ParameterKind};
pub use state::{Iteration, PathPoint, SpsaState};
pub use tuning::{Tuning, TuningError};
