//! Starts every engine once before a run, so that a wrong option is an error and not a thousand
//! lost games.

use std::time::Duration;

use thiserror::Error;

use crate::config::plan::Plan;
use crate::game::player::{Player, PlayerError, Seat};
use crate::process::Spawner;
use crate::uci::option::check_option;

/// An engine cannot take part.
#[derive(Debug, Error)]
#[error("engine '{name}' {cause}")]
pub struct PreflightError {
    name: String,
    cause: String,
    /// Whether the machine is to blame.
    pub environment: bool,
}

/// Starts, configures and ends each engine.
pub async fn check(
    plan: &Plan,
    seats: &[Seat],
    needs_chess960: bool,
    spawner: &Spawner,
) -> Result<(), PreflightError> {
    for (engine, seat) in plan.engines.iter().zip(seats) {
        let fail = |error: PlayerError| PreflightError {
            name: engine.name.clone(),
            cause: error.to_string(),
            environment: error.is_environment(),
        };
        let player = Player::start(spawner, seat).await.map_err(fail)?;
        let plays = check_option(&player.identity().options, "UCI_Chess960", "true").is_ok();
        player.quit(Duration::from_secs(1)).await;
        if needs_chess960 && !plays {
            return Err(PreflightError {
                name: engine.name.clone(),
                cause: "does not play Chess960, which the opening book needs".to_owned(),
                environment: false,
            });
        }
    }
    Ok(())
}
