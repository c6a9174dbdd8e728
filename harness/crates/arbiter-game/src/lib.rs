//! One game: who may do what ([`referee`]), how it ended ([`outcome`]), what is kept of it
//! ([`record`]), and the thin driver that moves bytes and time between engines and referee, in
//! whichever thread hears an engine ([`relay`]). Onlookers see it through a [`pane`].

pub mod adjudicate;
pub mod annotation;
pub mod driver;
pub mod outcome;
pub mod pane;
pub mod player;
pub mod pulse;
pub mod record;
pub mod referee;
mod relay;
pub mod replay;
pub mod tablebases;
pub mod transcript;
