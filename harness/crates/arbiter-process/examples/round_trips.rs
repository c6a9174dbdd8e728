//! Measures the time that a UCI engine takes to start and to answer `isready`, with and without a
//! sandbox: `cargo run --release -p arbiter-process --example round_trips -- ENGINE [ARGUMENT]...`

#![expect(clippy::disallowed_methods, reason = "an example of timing")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "an example prints")]

use std::error::Error;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use arbiter_process::{Chunk, Launch, Process, QUIT_GRACE, Sandbox, SandboxSupport, Spawner};

const STARTS: usize = 200;
const ROUND_TRIPS: usize = 1000;
const TIMEOUT: Duration = Duration::from_secs(10);

type Started = (Process, mpsc::Receiver<Chunk>);

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let program = args.next().ok_or("usage: round_trips ENGINE [ARGUMENT]...")?;
    let free = Launch { program: program.into(), args: args.collect(), ..Launch::default() };
    let held = Launch { sandbox: Some(Sandbox::default()), ..free.clone() };
    let spawner = Spawner::start()?;
    println!("sandbox: {}", SandboxSupport::detect());
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..STARTS {
        // The starts alternate, so that other load on the machine affects both measurements
        // equally.
        for (launch, times) in [&free, &held].into_iter().zip(&mut times) {
            let began = Instant::now();
            let (engine, _) = start(&spawner, launch)?;
            times.push(began.elapsed());
            engine.stop(QUIT_GRACE);
        }
    }
    print(&format!("{STARTS} starts until uciok"), times);
    let mut engines = [start(&spawner, &free)?, start(&spawner, &held)?];
    let mut times = [Vec::new(), Vec::new()];
    for _ in 0..ROUND_TRIPS {
        for ((engine, chunks), times) in engines.iter_mut().zip(&mut times) {
            let began = Instant::now();
            engine.write(b"isready\n")?;
            times.push(wait_for(chunks, "readyok")?.saturating_duration_since(began));
        }
    }
    print(&format!("{ROUND_TRIPS} round trips of isready and readyok"), times);
    for (mut engine, _) in engines {
        engine.write(b"quit\n")?;
        engine.stop(QUIT_GRACE);
    }
    Ok(())
}

fn start(spawner: &Spawner, launch: &Launch) -> Result<Started, Box<dyn Error>> {
    let (sender, chunks) = mpsc::channel();
    let mut engine = spawner.spawn(launch, move |chunk| sender.send(chunk).is_ok())?;
    engine.write(b"uci\n")?;
    wait_for(&chunks, "uciok")?;
    Ok((engine, chunks))
}

fn print(what: &str, mut times: [Vec<Duration>; 2]) {
    times.iter_mut().for_each(|times| times.sort_unstable());
    println!("{what}, in µs:   free    in a sandbox");
    for (name, share) in [("fastest", 0.0), ("median", 0.5), ("99 %", 0.99), ("longest", 1.0)] {
        let at = |times: &Vec<Duration>| times[((times.len() - 1) as f64 * share) as usize];
        let [free, held] = times.each_ref().map(|times| at(times).as_secs_f64() * 1e6);
        println!("{name:>8} {free:8.1} {held:8.1}");
    }
}

/// Waits for `line` and returns the time at which the line was read.
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
