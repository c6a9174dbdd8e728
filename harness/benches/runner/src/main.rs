//! Plays matches of an instant engine against itself through Arbiter, and through other runners
//! where the environment names them, and measures what each runner costs.
//!
//! - CPU: user and system time of the runner's own threads, in µs a ply.
//! - Turn-around: from one engine's `bestmove` to the moment its opponent reads the `go` that
//!   follows, as both engines saw it on the same clock.
//! - Memory: largest resident set of the runner.
//! - End: from the last move of the last game to the exit of the runner.

mod measure;
mod runners;

use clap::Parser;
use tabled::builder::Builder;
use tabled::settings::{Alignment, Style, object::Columns};

use crate::measure::{Figures, measure};
use crate::runners::{Runner, runners};

/// Measures what runners of matches cost.
#[derive(Parser)]
struct Args {
    /// Games at once; repeat for several
    #[arg(long, default_values_t = [1, 64])]
    concurrency: Vec<usize>,
    /// Games of each match
    #[arg(long, default_value_t = 400)]
    games: usize,
    /// Matches of each runner, in turn; the one with the least CPU a ply is shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Book of the matches (EPD)
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../openings/balanced.epd"))]
    book: std::path::PathBuf,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let book = args.book.canonicalize()?;
    let runners = runners()?;
    for &concurrency in &args.concurrency {
        let mut best: Vec<Option<Figures>> = vec![None; runners.len()];
        for _ in 0..args.rounds {
            // In turn, so that what disturbs the machine disturbs all.
            for (runner, best) in runners.iter().zip(&mut best) {
                let figures = measure(runner, args.games, concurrency, &book)?;
                let is_better =
                    best.as_ref().is_none_or(|best| figures.cpu_per_ply() < best.cpu_per_ply());
                if is_better {
                    *best = Some(figures);
                }
            }
        }
        println!("{} games, {concurrency} at once, best of {}", args.games, args.rounds);
        println!("{}\n", table(&runners, best.iter().flatten()));
    }
    Ok(())
}

fn table<'a>(runners: &[Runner], figures: impl Iterator<Item = &'a Figures>) -> String {
    let mut table = Builder::default();
    table.push_record([
        "runner",
        "plies",
        "CPU µs/ply",
        "plies/s",
        "turn p50 µs",
        "turn p99 µs",
        "RSS MiB",
        "threads",
        "end ms",
    ]);
    for (runner, figures) in runners.iter().zip(figures) {
        table.push_record([
            runner.name.clone(),
            figures.plies.to_string(),
            format!("{:.1}", figures.cpu_per_ply()),
            format!("{:.0}", figures.plies_per_second()),
            format!("{:.1}", figures.turn_percentile(0.5)),
            format!("{:.1}", figures.turn_percentile(0.99)),
            format!("{:.1}", figures.resident_bytes as f64 / (1024.0 * 1024.0)),
            figures.threads.to_string(),
            format!("{:.0}", figures.end.as_secs_f64() * 1e3),
        ]);
    }
    let mut table = table.build();
    table.with(Style::markdown()).modify(Columns::new(1..), Alignment::right());
    table.to_string()
}
