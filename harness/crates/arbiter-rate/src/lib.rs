//! Games from any PGN, as counts for ratings.
//!
//! Made for files of gigabytes: text comes in blocks of whole games, [`scan`] turns a block into
//! results without keeping its moves, [`tally`] sums them up and finds the pairs. Memory grows
//! with engines and openings, not with games. Nothing here opens files or prints: that is the
//! caller's part. Moves are replayed only on request, because that takes several times as long.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

pub mod blocks;
pub mod evaluations;
pub mod movetext;
pub mod pieces;
pub mod pipeline;
pub mod replay;
pub mod scan;
pub mod tags;
pub mod tally;
