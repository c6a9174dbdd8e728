//! Games in the formats of other programs, and transcripts of games.

mod compat;
mod epd;
mod pgn;
mod transcript;

pub use {compat::*, epd::*, pgn::*, transcript::*};
