//! Engine-testing and tournament harness for UCI chess engines.
pub mod openings;
pub mod stats;
