//! The UCI protocol and the command line.
//!
//! Only this module and the bench print. One thread reads commands and answers at once; another
//! owns the memory and searches. Input that cannot be parsed is answered with an `info string`.

pub mod cli;
mod comparison;
mod evaluation;
mod explain;
mod json;
mod options;
mod output;
mod parse;
mod perft;
mod print;
mod session;
mod trace;
mod tune;
mod worker;

pub use output::Output;
pub use session::run;
