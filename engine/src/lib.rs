//! Palimpsest, a chess engine whose evaluation is selected by name.
//!
//! [`chess`] contains the rules, [`eval`] the evaluations and [`search`] the search. [`tune`] finds
//! weights for the hand-crafted evaluation. [`datagen`] generates training positions for a network,
//! and [`train`] trains the network. [`uci`] implements the protocol. [`run`] is the entry point of
//! the program.

pub mod bench;
pub mod chess;
pub mod datagen;
pub mod eval;
mod failure;
mod input;
pub mod line;
mod random;
pub mod search;
pub mod time;
mod tools;
pub mod train;
pub mod tt;
pub mod tune;
pub mod uci;

/// Runs the engine with command-line arguments (without the program name), and returns the exit
/// code. Without arguments, the engine speaks UCI on standard input and output.
pub fn run(args: impl Iterator<Item = String>) -> i32 {
    tools::run(args)
}
