//! How to start an engine and what to tell it.

use crate::annotation::LinePattern;
use arbiter_process::Launch;
use arbiter_protocol::{Deadlines, Protocol, Restart, Setup};

/// How to start an engine and what to tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSetup {
    /// The engine's name in the plan, for messages.
    pub name: String,
    /// What to start.
    pub launch: Launch,
    /// Its protocol.
    pub protocol: Protocol,
    /// What it is told before its first game.
    pub setup: Setup,
    /// Whether it stays for the next game.
    pub restart: Restart,
    /// How long answers may take.
    pub deadlines: Deadlines,
    /// Which lines of its searches the user wants to see.
    pub pattern: Option<LinePattern>,
    /// Whether the transcript is recorded.
    pub is_recorded: bool,
}

impl EngineSetup {
    /// The same, restricted to `cpus`.
    pub fn on(&self, cpus: &[usize]) -> EngineSetup {
        let launch = Launch { cpus: cpus.to_vec(), ..self.launch.clone() };
        EngineSetup { launch, ..self.clone() }
    }
}
