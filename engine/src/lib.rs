//! Palimpsest, a chess engine with an evaluation chosen by name.
pub mod chess;
