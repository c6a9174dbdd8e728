//! The UCI protocol.
//!
//! One thread reads commands and replies immediately. A second thread owns the search memory and
//! searches. The reply to invalid input is an `info string`.

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
