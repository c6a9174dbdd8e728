//! The subcommands, one file each. None imports another.

pub mod ablate;
pub mod builds;
pub mod check;
pub mod ci;
pub mod cluster;
pub mod compat;
pub mod ctl;
pub mod engine;
pub mod epd;
pub mod manual;
pub mod mine;
pub mod openings;
pub mod perft;
pub mod play;
pub mod rate;
pub mod replay;
pub mod report;
pub mod results;
pub mod samples;
pub mod serve;
pub mod speed;
pub mod stats;
pub mod tune;
pub mod worker;
