//! The protocols that chess engines speak, and the chess clock.
//!
//! Pure: text and times in, values out. [`uci`] and [`cecp`] each have one engine's session as a
//! state machine; [`Session`] is both behind one interface.

pub mod cecp;
pub mod clock;
mod session;
pub mod uci;

pub use session::*;
