//! Counts the leaves of well-known positions with several move generators, which take turns. Prints
//! the speed of each generator, in millions of leaves per second of CPU time, and the ratio of this
//! speed to the speed of the first generator.
//!
//! `cargo run --release [ROUNDS [NAME]]`: the fastest of `ROUNDS` rounds counts (default: 5). With
//! `NAME`, only the first generator and the generators whose names contain `NAME` run.

mod generators;

use std::time::Duration;

use generators::Generator;
use rustix::time::{ClockId, clock_gettime};

/// Name, FEN, depth in plies, and number of leaves.
const POSITIONS: [(&str, &str, u32, u64); 6] = [
    ("startpos", "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", 6, 119_060_324),
    (
        "kiwipete",
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        5,
        193_690_690,
    ),
    ("position 3", "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", 7, 178_633_661),
    (
        "position 4",
        "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
        6,
        706_045_033,
    ),
    ("position 5", "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8", 5, 89_941_194),
    (
        "position 6",
        "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        5,
        164_075_551,
    ),
];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds: u32 = arguments.next().map_or(5, |text| text.parse().expect("a number of rounds"));
    let name = arguments.next().unwrap_or_default();
    let mut generators = generators::all();
    let mut index = 0;
    generators.retain(|generator| {
        index += 1;
        index == 1 || generator.name.contains(&name)
    });
    let speeds = measure(&generators, rounds);
    print_table("Mnps", &generators, |row, column| speeds[row][column], 0);
    let base = generators[0].name.clone();
    let ratio = |row: usize, column: usize| speeds[row][column] / speeds[0][column];
    print_table(&format!("x {base}"), &generators, ratio, 2);
}

/// Returns millions of leaves per second, by generator and position. The generators take turns, so
/// that a slow phase of the machine affects all generators.
fn measure(generators: &[Generator], rounds: u32) -> Vec<Vec<f64>> {
    let mut speeds = vec![vec![0f64; POSITIONS.len()]; generators.len()];
    for (column, (name, fen, depth, expected)) in POSITIONS.into_iter().enumerate() {
        let counters: Vec<_> = generators.iter().map(|generator| (generator.bind)(fen)).collect();
        for _ in 0..rounds {
            for (row, counter) in counters.iter().enumerate() {
                let start = Stopwatch::start();
                let found = counter(depth);
                let seconds = start.seconds();
                assert_eq!(found, expected, "{}, {name}", generators[row].name);
                speeds[row][column] = speeds[row][column].max(found as f64 / seconds / 1e6);
            }
        }
    }
    speeds
}

fn print_table(
    title: &str,
    generators: &[Generator],
    value: impl Fn(usize, usize) -> f64,
    decimals: usize,
) {
    print!("{title:<20}");
    for (name, ..) in POSITIONS {
        print!("{name:>12}");
    }
    println!("{:>12}", "geo. mean");
    for (row, generator) in generators.iter().enumerate() {
        print!("{:<20}", generator.name);
        let mut logarithms = 0.0;
        for column in 0..POSITIONS.len() {
            let value = value(row, column);
            logarithms += value.ln();
            print!("{value:>12.decimals$}");
        }
        println!("{:>12.decimals$}", (logarithms / POSITIONS.len() as f64).exp());
    }
    println!();
}

/// Measurement of the CPU time of this thread.
struct Stopwatch {
    started: Duration,
}

impl Stopwatch {
    fn start() -> Stopwatch {
        Stopwatch { started: cpu_time() }
    }

    fn seconds(&self) -> f64 {
        (cpu_time() - self.started).as_secs_f64()
    }
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
