//! One game: who may do what ([`referee`]), how it ended ([`outcome`]), what is kept of it
//! ([`record`]), and the thin driver that moves bytes and time between engines and referee.

pub mod driver;
pub mod outcome;
pub mod player;
pub mod record;
pub mod referee;
pub mod replay;
pub mod transcript;
