//! The subcommands, one file each. None imports another.

pub(crate) mod ablate;
pub(crate) mod builds;
pub(crate) mod check;
pub(crate) mod ci;
pub(crate) mod cluster;
pub(crate) mod compat;
pub(crate) mod ctl;
pub(crate) mod engine;
pub(crate) mod epd;
pub(crate) mod manual;
pub(crate) mod mine;
pub(crate) mod openings;
pub(crate) mod perft;
pub(crate) mod play;
pub(crate) mod rate;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod results;
pub(crate) mod samples;
pub(crate) mod serve;
pub(crate) mod speed;
pub(crate) mod stats;
pub(crate) mod tune;
pub(crate) mod worker;
