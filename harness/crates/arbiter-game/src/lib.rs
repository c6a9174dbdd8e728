//! One game: its rules ([`referee`]), its result ([`outcome`]), what is kept of it ([`record`]),
//! and the [`driver`] that carries lines and times between engines and referee. A [`live_game`]
//! shows it while it is played.

pub mod adjudicate;
pub mod annotation;
pub mod consistency;
pub mod driver;
pub mod engine;
pub mod lint;
pub mod live_game;
pub mod outcome;
pub mod progress;
pub mod record;
pub mod referee;
mod relay;
pub mod replay;
pub mod tablebases;
#[expect(missing_docs, reason = "functions that `serde_conv` makes have none")]
pub mod text;
pub mod transcript;
