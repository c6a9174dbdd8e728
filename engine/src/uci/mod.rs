//! The UCI protocol and the command line.
//!
//! Only this module and the bench print. One thread reads commands and answers immediately; another
//! owns the memory and searches. Input that cannot be parsed is answered with an `info string`.

mod board;
pub mod cli;
mod comparison;
mod datagen;
mod evaluation;
mod explain;
mod genfens;
mod json;
mod options;
mod output;
mod overview;
mod parse;
mod perft;
mod print;
mod session;
mod stages;
mod trace;
mod train;
mod tune;
mod tuning;
mod worker;

use std::fs::File;
use std::io::{self, Read};

pub use output::Output;
pub use session::run;

/// Opens an input file of a tool. A pipe or device is refused, since it may block or never end.
fn open_input(file: &str) -> io::Result<File> {
    match std::fs::metadata(file)?.is_file() {
        true => File::open(file),
        false => Err(io::Error::other("it is not a regular file; save what it gives in one")),
    }
}

/// Reads a whole input file of a tool.
fn read_input(file: &str) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_input(file)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}
