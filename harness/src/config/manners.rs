//! How an engine is to be treated, apart from what it plays.

use std::path::PathBuf;

use crate::protocol::{Protocol, Restart};

/// How to start, address and keep an engine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manners {
    /// What language it speaks.
    pub protocol: Protocol,
    /// Lines that it is sent after its options, at every start.
    pub init: Vec<String>,
    /// Whether it stays for the next game.
    pub restart: Restart,
    /// Whether it thinks on its opponent's time.
    pub ponder: bool,
    /// File to which its error output is appended.
    pub stderr: Option<PathBuf>,
    /// Address space that each of its processes may have, in MiB.
    pub memory_mib: Option<u64>,
}
