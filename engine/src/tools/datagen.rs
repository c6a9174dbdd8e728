//! The command `datagen`.

#![expect(clippy::disallowed_methods, reason = "speed is shown")]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use super::{Output, THREADS_MAX, number, processors};
use crate::datagen::{Progress, Settings, generate};
use crate::eval::Variant;
use crate::failure::Failure;
use crate::uci::options::variant;

/// Minimum time between two progress lines.
const REPORT_EVERY: Duration = Duration::from_secs(10);

/// Generate training positions from games of the engine against itself
#[derive(Args)]
pub(super) struct DatagenArgs {
    /// File to write; an incomplete file is continued
    file: PathBuf,
    /// Number of positions
    #[arg(long, default_value_t = 1_000_000, value_parser = number::<u64>(1, u64::MAX))]
    positions: u64,
    /// Number of nodes after which a search starts no new iteration
    #[arg(
        long,
        default_value_t = Settings::default().nodes,
        value_parser = number::<u64>(1, 1 << 40),
    )]
    nodes: u64,
    /// Random plies at the start of a game
    #[arg(
        long,
        default_value_t = Settings::default().random_plies,
        value_parser = number::<usize>(1, 40),
    )]
    plies: usize,
    /// Seed of the random plies and walks
    #[arg(
        long,
        default_value_t = Settings::default().seed,
        value_parser = number::<u64>(1, u64::MAX),
    )]
    seed: u64,
    /// Replace each position by the last positions of N random walks, with their static evaluations
    #[arg(long, value_name = "N", value_parser = number::<usize>(1, 1_000))]
    walks: Option<usize>,
    /// Evaluation to play with; by default the network
    #[arg(long, value_name = "NAME", value_parser = variant)]
    variant: Option<Variant>,
    /// Number of games in parallel
    #[arg(long, default_value_t = processors(), value_parser = number(1, THREADS_MAX))]
    threads: usize,
}

impl DatagenArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let settings = self.settings()?;
        let mut meter = Meter { start: Instant::now(), last_report: None, first: None, output };
        let mut report = |progress| meter.report(progress);
        let done = generate(&self.file, settings, self.positions, self.threads, &mut report);
        let failed = |error| Failure::environment(format!("{}: {error}", self.file.display()));
        meter.print_progress(done.map_err(failed)?);
        Ok(())
    }

    fn settings(&self) -> Result<Settings, Failure> {
        let eval = self.variant.unwrap_or_default();
        if self.walks.is_some() && eval == Variant::Micromax {
            let reason = "--walks cannot use micromax: its scores depend on the way to a position";
            return Err(Failure::usage(reason));
        }
        let walks = self.walks.unwrap_or_default();
        Ok(Settings { seed: self.seed, nodes: self.nodes, random_plies: self.plies, eval, walks })
    }
}

/// Periodic progress report.
struct Meter<'a> {
    start: Instant,
    last_report: Option<Instant>,
    /// Numbers of games and positions in the file at the start.
    first: Option<Progress>,
    output: &'a Output,
}

impl Meter<'_> {
    fn report(&mut self, progress: Progress) {
        if self.first.is_none() {
            self.first = Some(progress);
            self.start = Instant::now();
        } else if self.last_report.is_none_or(|last| last.elapsed() >= REPORT_EVERY) {
            self.print_progress(progress);
        }
    }

    fn print_progress(&mut self, progress: Progress) {
        self.last_report = Some(Instant::now());
        let Progress { games, positions } = progress;
        let new = positions - self.first.map_or(0, |first| first.positions);
        let speed = new as f64 / self.start.elapsed().as_secs_f64().max(1e-3);
        self.output.line(&format!("{games} games, {positions} positions, {speed:.0} positions/s"));
    }
}
