#![doc = include_str!("../README.md")]

mod objective;
mod parameter;
pub mod patch;
mod state;
pub mod table;
#[cfg(test)]
mod tests;
mod tuning;

pub use objective::{Forecast, SimulatedObjective, noise};
pub use parameter::{Parameter, ParameterKind};
pub use state::{Iteration, PathPoint, SpsaState};
pub use tuning::{A_RATIO, ALPHA, GAMMA, Tuning};
