//! Engine-testing and tournament harness for UCI chess engines.
pub mod adjudicate;
pub mod cli;
pub mod clock;
pub mod config;
pub mod game;
pub mod openings;
pub mod process;
pub mod rate;
pub mod report;
pub mod run;
pub mod schedule;
pub mod seed;
pub mod stats;
pub mod store;
pub mod suite;
pub mod uci;
