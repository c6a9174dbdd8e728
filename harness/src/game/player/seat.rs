//! What a player needs to know of its engine.

use crate::annotation::LinePattern;
use crate::process::Launch;
use crate::protocol::{Protocol, Restart};
use crate::uci::session::{Deadlines, Setup};

/// What a player needs to know of its engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// The engine's name in the plan, for messages.
    pub name: String,
    /// What to start.
    pub launch: Launch,
    /// What language it speaks.
    pub protocol: Protocol,
    /// What it is told before its first game.
    pub setup: Setup,
    /// Whether it stays for the next game.
    pub restart: Restart,
    /// How long answers may take.
    pub deadlines: Deadlines,
    /// Which lines of its searches the user wants to see.
    pub pattern: Option<LinePattern>,
}
