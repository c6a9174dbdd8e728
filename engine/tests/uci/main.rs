//! UCI sessions with the real program.

mod engine;
mod memory;
mod nonsense;
mod searches;
mod session;
