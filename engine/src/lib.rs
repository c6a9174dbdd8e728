//! Palimpsest, a chess engine with an evaluation chosen by name.
pub mod chess;
pub mod eval;
pub mod line;
pub mod search;
pub mod time;
pub mod tt;
