//! Setup of an engine: program, protocol, options and timeouts.

use crate::annotation::LinePattern;
use arbiter_process::Launch;
use arbiter_protocol::{Deadlines, Protocol, Restart, Setup};

/// Setup of an engine: program, protocol, options and timeouts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineSetup {
    /// Name of the engine in the plan, for messages.
    pub name: String,
    /// Program to start.
    pub launch: Launch,
    /// Protocol of the engine.
    pub protocol: Protocol,
    /// Options and commands that are sent before the first game.
    pub setup: Setup,
    /// Restart policy between games.
    pub restart: Restart,
    /// Timeouts for answers.
    pub deadlines: Deadlines,
    /// Pattern that selects the output lines that are kept with the moves.
    pub pattern: Option<LinePattern>,
    /// `true` if the transcript is recorded.
    pub is_recorded: bool,
}

impl EngineSetup {
    /// Returns a copy in which the engine may run only on the processors `cpus`.
    pub fn on(&self, cpus: &[usize]) -> EngineSetup {
        let launch = Launch { cpus: cpus.to_vec(), ..self.launch.clone() };
        EngineSetup { launch, ..self.clone() }
    }
}
