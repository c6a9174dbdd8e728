//! Measures how long a UCI engine takes to answer `isready`:
//! `cargo run -p arbiter-process --example round_trips -- ENGINE [ARGUMENT]...`

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::error::Error;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use arbiter_process::{Chunk, Launch, QUIT_GRACE, Spawner};

const ROUND_TRIPS: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(10);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("usage: round_trips ENGINE [ARGUMENT]...")?;
    let launch = Launch { program: program.into(), args: args.collect(), ..Launch::default() };
    let (sender, chunks) = mpsc::channel();
    let spawner = Spawner::start()?;
    let mut engine = spawner.spawn(&launch, move |chunk| sender.send(chunk).is_ok())?;
    engine.write(b"uci\n")?;
    wait_for(&chunks, "uciok")?;
    let mut times = Vec::new();
    for _ in 0..ROUND_TRIPS {
        let asked = Instant::now();
        engine.write(b"isready\n")?;
        times.push(wait_for(&chunks, "readyok")?.saturating_duration_since(asked));
    }
    times.sort_unstable();
    println!("{ROUND_TRIPS} round trips of isready and readyok");
    for (name, index) in [("median", 500), ("99 %", 990), ("longest", 999)] {
        println!("{name:>8} {:8.1} µs", times[index].as_secs_f64() * 1e6);
    }
    engine.write(b"quit\n")?;
    engine.stop(QUIT_GRACE);
    Ok(())
}

/// When the line was read.
fn wait_for(chunks: &mpsc::Receiver<Chunk>, line: &str) -> Result<Instant, Box<dyn Error>> {
    loop {
        let chunk = chunks.recv_timeout(TIMEOUT)?;
        if chunk.lines.iter().any(|read| read == line) {
            return Ok(chunk.at);
        }
        if chunk.closed {
            return Err(format!("the engine ended before it said {line}").into());
        }
    }
}
