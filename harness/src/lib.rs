//! Engine-testing and tournament harness for UCI chess engines.
pub mod stats;
pub mod openings;
