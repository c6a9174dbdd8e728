//! Engine-testing and tournament harness for UCI chess engines.
pub mod clock;
pub mod game;
pub mod process;
pub mod uci;
