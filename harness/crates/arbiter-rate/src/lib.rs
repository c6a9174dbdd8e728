//! Counts of game results for ratings, from PGN files of any size.
//!
//! [`scan_all`] reads a file in blocks of complete games and reduces each block to results without
//! keeping the moves; [`Tally`] adds up the results and finds the pairs. Memory use grows with the
//! numbers of players and openings, and by about 16 bytes per game for the detection of duplicates.
//! This crate neither opens files nor prints. Moves in SAN are replayed only on request, because a
//! scan with replay takes several times as long.

#![deny(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod comments;
mod pipeline;
mod scan;
mod tally;

pub use pipeline::scan_all;
pub use scan::{Block, Game, RejectReason, ScanOptions, UncountedGame};
pub use tally::{Choice, Opening, Player, RejectedGame, Tally};
