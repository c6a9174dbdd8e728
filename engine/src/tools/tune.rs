//! The command `tune`.

use std::fs;
use std::io::BufReader;
use std::path::PathBuf;

use clap::Args;

use super::{Output, THREADS_MAX, number, processors};
use crate::eval::palimpsest::trace::weights;
use crate::failure::Failure;
use crate::input;
use crate::tune::samples::Split;
use crate::tune::{Progress, Settings, TuneResult, table, tune};

/// Average number of games per validation game.
const ONE_IN: u64 = 10;

/// Fit the weights of Eval palimpsest to positions with results
#[derive(Args)]
pub(super) struct TuneArgs {
    /// Files of `arbiter samples`, with a line FEN;RESULT;GAME for each position
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// File for the source of the new table of weights
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Maximum number of passes through the positions
    #[arg(long, default_value_t = Settings::default().epochs)]
    epochs: usize,
    /// Positions per step
    #[arg(long, default_value_t = Settings::default().batch)]
    batch: usize,
    /// Largest step of a weight at the start, in centipawns
    #[arg(long, value_name = "CP", default_value_t = Settings::default().rate)]
    rate: f64,
    /// L2 penalty per squared centipawn of distance from the initial weights
    #[arg(long, value_name = "P", default_value_t = Settings::default().l2)]
    pull: f64,
    /// Stop after N epochs without a smaller validation error
    #[arg(long, value_name = "N", default_value_t = Settings::default().patience)]
    patience: usize,
    /// Number of threads
    #[arg(long, default_value_t = processors(), value_parser = number(1, THREADS_MAX))]
    threads: usize,
    /// Seed of the order of the positions
    #[arg(long, default_value_t = Settings::default().seed)]
    seed: u64,
}

impl TuneArgs {
    pub(super) fn run(&self, output: &Output) -> Result<(), Failure> {
        let split = self.split()?;
        let (training, validation) = (split.training.len(), split.validation.len());
        output.line(&format!(
            "{training} samples to learn from, {validation} for validation, {} games, seed {}",
            split.games, self.seed
        ));
        let &TuneArgs { epochs, batch, rate, pull, patience, threads, seed, .. } = self;
        let settings = Settings { epochs, batch, rate, l2: pull, patience, threads, seed };
        let mut report = |progress: Progress| output.line(&line(&progress));
        let tuned = tune(&split, &weights(), settings, &mut report);
        output.line(&summary(&tuned));
        if let Some(out) = &self.out {
            fs::write(out, table::source(&tuned.weights))
                .map_err(|error| Failure::environment(format!("{}: {error}", out.display())))?;
        }
        Ok(())
    }

    fn split(&self) -> Result<Split, Failure> {
        let mut split = Split::default();
        for file in &self.files {
            let failed = |error: String| Failure::input(format!("{}: {error}", file.display()));
            let source = input::open(file).map_err(|error| failed(error.to_string()))?;
            let read = split.read(BufReader::new(source), ONE_IN, self.seed);
            read.map_err(|error| failed(error.to_string()))?;
        }
        let (training, validation) = (split.training.len(), split.validation.len());
        if training == 0 || validation == 0 {
            let counts = format!("{training} samples to learn from and {validation} to validate");
            return Err(Failure::input(format!("{counts} are too few")));
        }
        Ok(split)
    }
}

fn line(progress: &Progress) -> String {
    let Progress { epoch, training, validation, rate } = progress;
    format!("epoch {epoch:>3}  training {training:.7}  validation {validation:.7}  rate {rate:.3}")
}

fn summary(tuned: &TuneResult) -> String {
    let TuneResult { curve, before: [trained, validated], after, .. } = tuned;
    format!(
        "steepness {:.4}\ntraining error {trained:.7} before, {:.7} after\n\
         validation error {validated:.7} before, {:.7} after",
        curve.steepness, after[0], after[1]
    )
}
