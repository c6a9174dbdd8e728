//! Engine-testing and tournament harness for UCI chess engines.
pub mod clock;
pub mod config;
pub mod game;
pub mod openings;
pub mod process;
pub mod report;
pub mod run;
pub mod schedule;
pub mod stats;
pub mod store;
pub mod uci;
