//! The UCI protocol.
//!
//! One thread reads commands and answers immediately; another thread owns the memory and searches.
//! Input that cannot be parsed is answered with an `info string`.

mod effect;
pub(crate) mod explain;
pub(crate) mod options;
mod output;
mod parse;
mod print;
mod session;
mod tuning;
mod values;
mod worker;

pub use output::Output;
pub use session::run;
