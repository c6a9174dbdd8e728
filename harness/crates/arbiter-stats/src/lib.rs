//! Match statistics: what a pile of game results says about two engines.
//!
//! Pure numbers in, pure numbers out. Nothing here reads a clock, draws a random number or knows
//! where the counts came from. Counts are always seen from the first engine's side.
//!
//! Start at [`pentanomial`] for the counts, then [`elo`] and [`normalized`] for estimates, then
//! [`sprt`] for the sequential test. [`distribution`], [`gsprt`] and [`roots`] are the machinery.
//!
//! Undefined quantities are `None`, infinite ones are [`elo::Extended`]; a NaN or an infinity
//! never leaves this module.

pub mod bayes;
pub mod brownian;
pub mod calibration;
pub mod discrete_walk;
pub mod distribution;
pub mod elo;
pub mod excess;
pub mod gsprt;
pub mod normalized;
pub mod outlook;
pub mod overshoot;
pub mod paired;
pub mod pentanomial;
pub mod planning;
pub mod ratings;
pub mod residuals;
pub mod roots;
pub mod sequential;
pub mod signed_rank;
pub mod simulate;
pub mod speed;
pub mod sprt;
pub mod watch;

#[cfg(test)]
mod reference;
#[cfg(test)]
mod tests;
