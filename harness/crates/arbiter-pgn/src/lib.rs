//! PGN reader for all crates: for ratings, opening books, samples and mining.
//!
//! [`Blocks`] splits a stream into blocks of complete games, so that memory does not grow with the
//! file. [`Games`] reads the tags and the parts of each game in a block. [`legal_move`] finds the
//! legal move for a written move, and [`read_move`] finds the legal move for a single token.
//! [`evaluation`] finds the evaluation in a comment. This crate does not open files.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod blanks;
mod blocks;
mod evaluation;
mod games;
mod mainline;
mod moves;
mod movetext;
mod tag_text;
mod tags;
mod words;

pub use blocks::Blocks;
pub use evaluation::{Evaluation, evaluation};
pub use games::{Games, Part};
pub use mainline::Mainline;
pub use moves::{MoveError, legal_move, read_move};
pub use shakmaty::Outcome;
pub use shakmaty::san::San;
pub use tags::{ContradictoryResults, MAX_NAME, Tags, text_of};

#[cfg(test)]
#[allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]
mod tests;
