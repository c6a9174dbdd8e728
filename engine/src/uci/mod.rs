//! Talking to the outside: the UCI protocol and the command line.
//!
//! Here, in the bench and nowhere else is anything printed. One thread reads commands and answers
//! at once; another owns the memory and searches. What comes in is never trusted: whatever cannot be
//! understood is answered with an `info string` and otherwise ignored.

pub mod cli;
mod contrast;
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
