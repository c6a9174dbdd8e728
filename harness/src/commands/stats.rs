//! `arbiter stats`: figures for given counts, and plans and simulations of SPRTs.

mod numbers;
pub(super) mod plan;
pub(super) mod simulate;
pub(super) mod sprt;

use std::ops::RangeInclusive;

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
