#![doc = include_str!("../README.md")]

mod gains;
mod objective;
mod parameter;
pub mod patch;
mod perturb;
mod state;
pub mod table;
#[cfg(test)]
mod tests;
mod tuning;

pub use gains::{A_RATIO, ALPHA, GAMMA};
pub use objective::{Forecast, SimulatedObjective, noise};
pub use parameter::{Parameter, ParameterKind};
pub use state::{Iteration, PathPoint, SpsaState};
pub use tuning::Tuning;
