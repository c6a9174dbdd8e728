//! Measures the overhead of Arbiter, and of other runners (named by environment variables), in
//! matches of an instant engine against itself.
//!
//! - CPU: user and system time of the runner without its child processes, in µs per ply.
//! - Turnaround: time from the `bestmove` of one engine until its opponent reads the next `go`,
//!   recorded by both engines with the same clock.
//! - Memory: peak resident set size of the runner.
//! - End: time from the last move of the last game to the exit of the runner.
//!
//! With `--clock`, this program plays matches of a real engine instead, and measures the number of
//! counted games per minute and the share of the time during which engines think. Pairs that a
//! runner plays again reduce both figures.

mod measure;
mod runners;

use std::path::Path;

use clap::Parser;
use tabled::builder::Builder;
use tabled::settings::{Alignment, Style, object::Columns};

use crate::measure::{Figures, measure, time};
use crate::runners::{Runner, runners};

/// Measure the costs of match runners, or with --clock the number of games they play.
#[derive(Parser)]
struct Args {
    /// Number of concurrent games; may be repeated
    #[arg(long, default_values_t = [1, 64])]
    concurrency: Vec<usize>,
    /// Number of games of each match
    #[arg(long, default_value_t = 400)]
    games: usize,
    /// Number of matches of each runner, in turn; the one with the least CPU per ply is shown
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Time control of the engine; may be repeated
    #[arg(long)]
    clock: Vec<String>,
    /// UCI engine that plays itself under the clock [default: the release build of Palimpsest]
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../target/release/palimpsest"), hide_default_value = true)]
    engine: std::path::PathBuf,
    /// Opening book of the matches (EPD)
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../openings/balanced.epd"))]
    book: std::path::PathBuf,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args = Args::parse();
    let book = args.book.canonicalize()?;
    let runners = runners()?;
    if !args.clock.is_empty() {
        return count(&args, &runners, &book);
    }
    for &concurrency in &args.concurrency {
        let mut best: Vec<Option<Figures>> = vec![None; runners.len()];
        for _ in 0..args.rounds {
            // The runners take turns, so that other load on the machine affects all of them.
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

/// Prints, for each runner, the games per minute, the plies per game, and the share of the total
/// time during which engines think. Each figure is the mean of the rounds ± two standard errors.
fn count(args: &Args, runners: &[Runner], book: &Path) -> Result<(), Box<dyn std::error::Error>> {
    let engine = args.engine.canonicalize()?;
    let mut table = Builder::default();
    table.push_record([
        "clock",
        "concurrency",
        "runner",
        "games/min",
        "plies a game",
        "thinking %",
    ]);
    for clock in &args.clock {
        for &concurrency in &args.concurrency {
            let mut found = vec![Vec::new(); runners.len()];
            for _ in 0..args.rounds {
                for (runner, found) in runners.iter().zip(&mut found) {
                    found.push(time(runner, &engine, clock, [args.games, concurrency], book)?);
                }
            }
            for (runner, found) in runners.iter().zip(&found) {
                let cells = [0, 1, 2].map(|figure| {
                    let n = found.len() as f64;
                    let mean = found.iter().map(|all| all[figure]).sum::<f64>() / n;
                    let squares: f64 = found.iter().map(|all| (all[figure] - mean).powi(2)).sum();
                    format!("{mean:.1} ± {:.1}", 2.0 * (squares / (n - 1.0) / n).sqrt())
                });
                let row = [clock.clone(), concurrency.to_string(), runner.name.clone()];
                table.push_record(row.into_iter().chain(cells));
            }
        }
    }
    let mut table = table.build();
    table.with(Style::markdown()).modify(Columns::new(3..), Alignment::right());
    println!("{} games each, {} times in turn\n{table}", args.games, args.rounds);
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
