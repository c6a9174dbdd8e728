//! One game: rules ([`referee`]), result ([`outcome`]), record ([`record`]), and the [`driver`],
//! which passes turns and answers between the referee and the engines. [`live_game`] shows the game
//! in progress.

pub mod adjudicate;
pub mod annotation;
pub mod consistency;
pub mod driver;
pub mod engine;
pub mod lint;
pub mod live_game;
pub mod outcome;
pub mod record;
pub mod referee;
mod relay;
pub mod replay;
#[expect(missing_docs, reason = "functions that `serde_conv` makes have none")]
pub mod text;
pub mod transcript;
