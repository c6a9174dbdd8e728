//! The commands of Arbiter, the engine-testing and tournament harness for UCI chess engines.

pub mod cli;
