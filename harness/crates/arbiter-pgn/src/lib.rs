//! PGN reader for all crates: for ratings, opening books, samples and mining.
//!
//! [`Blocks`] splits a stream into blocks of complete games, so that memory does not grow with the
//! file. [`Text`] converts a block into normal form, which `pgn-reader` reads without loss.
//! [`Games`] passes the parts of each game to a [`GameVisitor`]. [`legal_move`] finds the legal
//! move for a written move, and [`read_move`] finds the legal move for a single token.
//! [`evaluation`] finds the evaluation in a comment. This crate does not open files.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blanks;
mod blocks;
mod evaluation;
mod games;
mod moves;
mod tag_text;
mod tags;
mod text;
mod words;

pub use blocks::Blocks;
pub use evaluation::{Evaluation, command, evaluation};
pub use games::{GameVisitor, Games, Lines};
pub use moves::{Mainline, MoveError, legal_move, read_move};
pub use pgn_reader::Outcome;
pub use shakmaty::san::San;
pub use tags::{MAX_NAME, Tags, text_of};
pub use text::{Text, UNCLOSED};

#[cfg(test)]
#[allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]
mod tests;
