//! Prints the meaning of each line of a UCI engine. Reads the lines from a file, or uses a built-in
//! transcript: `cargo run -p arbiter-protocol --example transcript -- [FILE]`

#![expect(clippy::disallowed_methods, reason = "a driver of its own")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::error::Error;
use std::time::Instant;

use arbiter_protocol::{Deadlines, Go, Protocol, Session, Setup, Step};

const TRANSCRIPT: &str = "\
Example 1.0 by Somebody
id name Example 1.0
option name Hash type spin default 16 min 1 max 1024
uciok
readyok
info depth 1 score cp 31 nodes 20 pv e2e4
info depth 2 score cp 90 lowerbound nodes 44
info depth 2 score cp 25 nodes 61 pv e2e4 e7e5
bestmove e2e4 ponder e7e5
bestmove e2e4
";

fn main() -> Result<(), Box<dyn Error>> {
    let transcript = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => TRANSCRIPT.to_owned(),
    };
    // The lines have no times, so all lines get the same time and no answer is late.
    let now = Instant::now();
    let options = vec![("Hash".to_owned(), "64".to_owned())];
    let setup = Setup { options, ..Setup::default() };
    let mut session = Session::new(Protocol::Uci, setup, Deadlines::default());
    send(session.open(now));
    let mut has_asked = false;
    for line in transcript.lines() {
        println!("< {line}");
        match session.receive(now, line)? {
            Step::Send(text) => send(&text),
            Step::Move { text, info, ponder } => println!("  move {text}, {info:?}, {ponder:?}"),
            Step::Continue if session.is_ready() && !has_asked => {
                has_asked = true;
                let go = Go { depth: Some(2), ..Go::default() };
                send(&session.think(now, "position startpos", &go, None));
            }
            step => println!("  {step:?}"),
        }
    }
    Ok(())
}

fn send(text: &str) {
    text.lines().for_each(|line| println!("> {line}"));
}
