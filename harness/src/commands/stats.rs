//! `arbiter stats`: figures for given counts, and plans and simulations of SPRTs.

pub(super) mod plan;
pub(super) mod simulate;
pub(super) mod sprt;

use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::{Args, Subcommand};

use crate::failure::Failure;
use crate::output::{OutputFormat, print_report};
use arbiter_settings::{MODELS, one_of};
use arbiter_stats::{Correction, DEFAULT_ELO0, DEFAULT_ELO1, DEFAULT_ERROR, Model, Sprt};

const HELP: &str = "\
Exit codes: 0 if the figures could be computed, whatever the verdict;
2 for usage errors, 3 for invalid input, 7 if the result cannot be written.";

/// Range of the openings' bias in plans and simulations, in logistic Elo.
const BIASES: RangeInclusive<f64> = 0.0..=400.0;

/// Maximum count. Twice the sum of five such counts is still exact as `f64`.
const MAX_COUNT: u64 = 1_000_000_000_000_000;

/// Flags of `arbiter stats`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StatsArgs {
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text", global = true)]
    format: OutputFormat,
    #[command(subcommand)]
    command: StatsCommand,
}

#[derive(Debug, Subcommand)]
enum StatsCommand {
    /// Compute Elo, normalized Elo, likelihood of superiority and SPRT state from counts.
    ///
    /// The exit code does not depend on the verdict.
    #[command(after_help = HELP)]
    Sprt(sprt::CountArgs),
    /// Plan an SPRT: compute the probability of accepting H1 and the mean number of games for
    /// several values of the true Elo.
    Plan(plan::PlanArgs),
    /// Simulate SPRTs, and count how often their verdicts are correct.
    Simulate(simulate::SimulateArgs),
}

/// Bounds and model of an SPRT.
#[derive(Debug, Clone, Copy, Args)]
struct TestArgs {
    /// Elo of the null hypothesis
    #[arg(long, value_name = "ELO", allow_negative_numbers = true, default_value_t = DEFAULT_ELO0)]
    elo0: f64,
    /// Elo of the alternative
    #[arg(long, value_name = "ELO", allow_negative_numbers = true, default_value_t = DEFAULT_ELO1)]
    elo1: f64,
    /// Probability of accepting the alternative if the null hypothesis holds
    #[arg(long, value_name = "P", default_value_t = DEFAULT_ERROR)]
    alpha: f64,
    /// Probability of accepting the null hypothesis if the alternative holds
    #[arg(long, value_name = "P", default_value_t = DEFAULT_ERROR)]
    beta: f64,
    /// Scale of the Elo bounds
    #[arg(long, value_parser = one_of(MODELS), default_value_t = Model::Normalized)]
    model: Model,
}

/// Returns the error for games whose results have no variance.
fn no_variance(bias: f64, draw_ratio: f64) -> String {
    format!(
        "no variance with a bias of {bias} Elo and a draw ratio of {draw_ratio}; lower one of \
         these values"
    )
}

impl TestArgs {
    /// Returns the test, by default with the correction of `arbiter sprt`.
    fn test(&self, overshoot: Option<Correction>) -> Result<Sprt, String> {
        let test = Sprt::new(self.elo0, self.elo1, self.alpha, self.beta, self.model);
        let test = test.map_err(|error| error.to_string())?;
        Ok(test.with_correction(overshoot.unwrap_or(test.usual_correction())))
    }
}

/// Runs the command.
pub(crate) fn run(args: StatsArgs) -> Result<(), Failure> {
    let answer = match &args.command {
        StatsCommand::Sprt(command) => sprt::run(command, args.format),
        StatsCommand::Plan(command) => plan::run(command, args.format),
        StatsCommand::Simulate(command) => simulate::run(command, args.format),
    };
    print_report(&answer.map_err(Failure::invalid)?)
}

/// Parses exactly `N` numbers separated by commas.
fn list<T: FromStr, const N: usize>(text: &str) -> Result<[T; N], String> {
    let wrong = || format!("expected {N} numbers separated by commas, got '{text}'");
    let words: Vec<T> = text
        .split(',')
        .map(|word| word.trim().parse().map_err(|_| wrong()))
        .collect::<Result<_, _>>()?;
    words.try_into().map_err(|_| wrong())
}

/// Parses exactly `N` counts separated by commas.
fn counts<const N: usize>(text: &str) -> Result<[u64; N], String> {
    if let Some(word) = text.split(',').map(str::trim).find(|word| word.starts_with('-')) {
        return Err(format!("a count is negative: {word}"));
    }
    let counts = list::<u64, N>(text)?;
    match counts.iter().find(|count| **count > MAX_COUNT) {
        Some(count) => Err(format!("expected counts of at most {MAX_COUNT}, got {count}")),
        None => Ok(counts),
    }
}

/// Returns a number with the given number of decimals, or a dash if the number is undefined.
fn format_number(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_wrong_length_are_rejected() {
        assert_eq!(counts::<3>("1, 2,3"), Ok([1, 2, 3]));
        for bad in ["", "1,2", "1,2,3,4", "1,2,x", "1,2,-3", "1,2,1000000000000001"] {
            assert!(counts::<3>(bad).is_err(), "{bad}");
        }
        let negative = Err("a count is negative: -1".to_owned());
        assert_eq!(counts::<3>("-1,2,3"), negative);
        assert_eq!(counts::<3>("1, -1"), negative);
        assert_eq!(list::<f64, 2>("0.5,1e-3"), Ok([0.5, 1e-3]));
    }
}
