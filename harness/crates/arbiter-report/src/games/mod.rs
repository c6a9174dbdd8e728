//! Games in the formats of other programs, and transcripts of games.

pub(crate) mod compat;
pub(crate) mod epd;
pub(crate) mod pgn;
pub(crate) mod transcript;
