//! `arbiter tune simulate`: a schedule applied to a simulated objective.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::listed;
use crate::failure::Failure;
use crate::output::{OutputFormat, Rows, print_report};
use arbiter_plan::{DEFAULT_ITERATIONS, DEFAULT_TUNING_PAIRS};
use arbiter_report::{Document, Table, to_value};
use arbiter_spsa::{A_RATIO, ALPHA, GAMMA, Parameter, SimulatedObjective, Tuning};

/// Default distance of the optimum from the initial value, in steps of C_END.
const USUAL_OFFSET: f64 = 2.0;

/// Flags of `arbiter tune simulate`.
#[derive(Debug, Args)]
#[command(after_help = "\
The objective is quadratic: Elo falls with the square of the distance from the optimum, and a distance of
C_END costs --step-elo. In practice, C_END should cost 2 to 3 Elo.

The forecast is a first-order approximation: with rate R, step S in Elo, draw ratio D and C = 800 / ln 10,
a distance shrinks to 1/e in C / (4 R S) games, and noise keeps each parameter C (1 - D) R / 8 Elo below
the optimum. --alpha 0 --gamma 0 makes rate and perturbation constant.

Examples:
  arbiter tune simulate --params params.txt --iterations 2000 --pairs 8 --step-elo 2")]
pub(super) struct SimulateArgs {
    /// File with a table of parameters
    #[arg(long, value_name = "FILE", required_unless_present = "param")]
    params: Option<PathBuf>,
    /// Parameter, as a line of --params; may be repeated
    #[arg(long, value_name = "LINE")]
    param: Vec<String>,
    /// Optimum of each parameter [default: two steps of C_END from START, towards the middle of the
    /// range]
    #[arg(long, value_name = "V,…", value_delimiter = ',', allow_negative_numbers = true)]
    optimum: Vec<f64>,
    /// Elo lost at a distance of C_END from the optimum: one value, or one per parameter
    #[arg(long, value_name = "ELO,…", value_delimiter = ',', default_value = "2")]
    step_elo: Vec<f64>,
    /// Share of drawn games, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    draw_ratio: f64,
    /// Number of iterations of SPSA
    #[arg(long, value_name = "N", default_value_t = DEFAULT_ITERATIONS)]
    iterations: u64,
    /// Pairs per iteration
    #[arg(long, value_name = "N", default_value_t = DEFAULT_TUNING_PAIRS)]
    pairs: u64,
    /// Step size exponent
    #[arg(long, value_name = "X", default_value_t = ALPHA)]
    alpha: f64,
    /// Perturbation exponent
    #[arg(long, value_name = "X", default_value_t = GAMMA)]
    gamma: f64,
    /// Stability constant A as a share of all pairs; damps the first steps
    #[arg(long, value_name = "SHARE", default_value_t = A_RATIO)]
    a_ratio: f64,
    /// Number of simulated runs, each with its own seed
    #[arg(long, value_name = "N", default_value_t = 10)]
    runs: u64,
    /// Seed of the first run
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Format of the result
    #[arg(long, value_parser = OutputFormat::of_one(), default_value = "text")]
    format: OutputFormat,
}

/// Result of a schedule on a simulated objective: `arbiter tune simulate`. A loss is the difference
/// from the optimum, in Elo.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.tune.simulate/1")]
pub(crate) struct SimulationFigures<'a> {
    /// Number of games of a tuning run.
    games: u64,
    /// Number of iterations; each iteration moves the values.
    iterations: u64,
    /// Number of pairs of an iteration.
    pairs: u64,
    /// Exponent by which steps decrease.
    alpha: f64,
    /// Exponent by which perturbations decrease.
    gamma: f64,
    /// The constant A as a share of all pairs.
    a_ratio: f64,
    /// Share of drawn games, 0 to 1.
    draw_ratio: f64,
    /// Parameters of the objective.
    parameters: Vec<ParameterFigures<'a>>,
    /// Loss of the initial values, in Elo.
    start_loss_elo: f64,
    /// Mean loss of the final values, in Elo.
    mean_loss_elo: f64,
    /// Standard error of `mean_loss_elo`; `null` for a single tuning run.
    mean_loss_elo_error: Option<f64>,
    /// Theoretical forecast of the final loss, in Elo.
    forecast_loss_elo: f64,
    /// Mean loss due to noise if the tuning run continued at its final rates, in Elo.
    noise_elo: f64,
    /// 95th percentile of the loss due to noise, in Elo.
    noise_elo_95: f64,
    /// Simulated tuning runs.
    runs: &'a [TuningRun],
}

/// A parameter of the objective.
#[derive(Debug, Serialize, JsonSchema)]
struct ParameterFigures<'a> {
    #[serde(flatten)]
    parameter: &'a Parameter,
    /// Best value of the parameter.
    optimum: f64,
    /// Number of games in which the distance from the optimum shrinks to 1/e at the final rates.
    time_constant_games: f64,
}

/// Result of one simulated tuning run.
#[derive(Debug, Serialize, JsonSchema)]
struct TuningRun {
    /// Seed of the tuning run.
    seed: u64,
    /// Final values in the order of the parameters.
    #[serde(rename = "values")]
    theta: Vec<f64>,
    /// Final loss in Elo.
    #[serde(rename = "loss_elo")]
    elo: f64,
}

/// Runs the command.
pub(super) fn run(args: &SimulateArgs) -> Result<(), Failure> {
    let tuning = Arc::new(tuning(args)?);
    let objective = objective(args, &tuning)?;
    let runs: Vec<TuningRun> = (0..args.runs)
        .map(|run| {
            let seed = args.seed.wrapping_add(run);
            let path = objective.simulate(&tuning, seed);
            let theta = path.last().map_or_else(|| tuning.start(), |point| point.theta.clone());
            TuningRun { seed, elo: objective.loss(&theta), theta }
        })
        .collect();
    let forecast = objective.forecast(&tuning);
    let (mean_loss_elo, mean_loss_elo_error) = mean(&runs);
    let parameters = tuning.parameters.iter().zip(&objective.optimum);
    let parameters = parameters.zip(&forecast.time_constants);
    let parameters = parameters.map(|((parameter, &optimum), &time_constant_games)| {
        ParameterFigures { parameter, optimum, time_constant_games }
    });
    let figures = SimulationFigures {
        games: 2 * tuning.all_pairs(),
        iterations: tuning.iterations,
        pairs: tuning.pairs,
        alpha: tuning.alpha,
        gamma: tuning.gamma,
        a_ratio: tuning.a_ratio,
        draw_ratio: args.draw_ratio,
        parameters: parameters.collect(),
        start_loss_elo: objective.loss(&tuning.start()),
        mean_loss_elo,
        mean_loss_elo_error,
        forecast_loss_elo: forecast.end_elo,
        noise_elo: forecast.noise_elo,
        noise_elo_95: forecast.noise_elo_95,
        runs: &runs,
    };
    let document = document(&figures, &tuning);
    let rows = Rows { list: Some("runs"), first: &["seed", "loss_elo"] };
    print_report(&args.format.of_document(&document, || to_value(&figures), rows))
}

fn tuning(args: &SimulateArgs) -> Result<Tuning, Failure> {
    if args.runs == 0 || args.iterations == 0 || args.pairs == 0 {
        let message = "expected --runs, --iterations and --pairs of at least 1";
        return Err(Failure::nothing_to_run(message));
    }
    let tuning = Tuning {
        parameters: listed(args.params.as_deref(), &args.param)?,
        alpha: args.alpha,
        gamma: args.gamma,
        a_ratio: args.a_ratio,
        iterations: args.iterations,
        pairs: args.pairs,
        ahead: 0,
    };
    tuning.check().map_err(Failure::invalid)?;
    Ok(tuning)
}

fn objective(args: &SimulateArgs, tuning: &Tuning) -> Result<SimulatedObjective, Failure> {
    let count = tuning.parameters.len();
    if !(0.0..1.0).contains(&args.draw_ratio) {
        let message = format!("--draw-ratio {} is not between 0 and 1", args.draw_ratio);
        return Err(Failure::invalid(message));
    }
    let step_elo = match args.step_elo[..] {
        [one] => vec![one; count],
        _ => args.step_elo.clone(),
    };
    if step_elo.len() != count || step_elo.iter().any(|elo| !(*elo > 0.0 && elo.is_finite())) {
        let message = format!("expected one --step-elo above 0, or {count} of them");
        return Err(Failure::invalid(message));
    }
    let usual_optimum = |p: &Parameter| {
        let inwards = if p.start < 0.5 * (p.min + p.max) { 1.0 } else { -1.0 };
        p.clip(p.start + inwards * USUAL_OFFSET * p.c_end)
    };
    let optimum = match args.optimum[..] {
        [] => tuning.parameters.iter().map(usual_optimum).collect(),
        _ => args.optimum.clone(),
    };
    if optimum.len() != count || optimum.iter().any(|value| !value.is_finite()) {
        return Err(Failure::invalid(format!("expected {count} values for --optimum")));
    }
    Ok(SimulatedObjective::by_step(tuning, optimum, &step_elo, args.draw_ratio))
}

/// Returns the mean loss in Elo and its standard error; `None` for a single run.
fn mean(runs: &[TuningRun]) -> (f64, Option<f64>) {
    let count = runs.len() as f64;
    let mean = runs.iter().map(|run| run.elo).sum::<f64>() / count;
    let squares: f64 = runs.iter().map(|run| (run.elo - mean).powi(2)).sum();
    (mean, (runs.len() > 1).then(|| (squares / (count - 1.0) / count).sqrt()))
}

fn document(figures: &SimulationFigures<'_>, tuning: &Tuning) -> Document {
    let mut parameters = Table::new([
        "parameter",
        "start",
        "optimum",
        "first c",
        "c_end",
        "first R",
        "r_end",
        "games to 1/e",
    ]);
    for ParameterFigures { parameter: p, optimum, time_constant_games } in &figures.parameters {
        parameters.push([
            &p.name,
            &p.start,
            optimum,
            &format!("{:.3}", tuning.perturbation(p, 1)),
            &p.c_end,
            &format!("{:.5}", tuning.rate(p, 1)),
            &p.r_end,
            &format!("{time_constant_games:.0}"),
        ]);
    }
    let names = tuning.parameters.iter().map(|p| &p.name);
    let mut table = Table::with_columns(["seed", "Elo below the optimum"], names);
    let mut row = |label: &dyn Display, elo: f64, theta: &[f64]| {
        let values = theta.iter().map(|value| format!("{value:.3}"));
        table.push_with([label, &format!("{elo:.2}")], values);
    };
    row(&"start", figures.start_loss_elo, &tuning.start());
    figures.runs.iter().for_each(|run| row(&run.seed, run.elo, &run.theta));
    let error = figures.mean_loss_elo_error;
    let error = error.map_or(String::new(), |error| format!(" ± {:.2} (95 %)", 1.96 * error));
    let mut document = Document::new("A tuning of a simulated objective".to_owned());
    document.paragraph(format!(
        "{} iterations of {} pairs ({} games), alpha {}, gamma {}, A {}, {} drawn.",
        figures.iterations,
        figures.pairs,
        figures.games,
        figures.alpha,
        figures.gamma,
        tuning.stability(),
        figures.draw_ratio
    ));
    document.table(parameters);
    document.table(table);
    document.paragraph(format!(
        "Mean at the end: {:.2}{error} Elo below the optimum, from {:.2}; in theory {:.2}.",
        figures.mean_loss_elo, figures.start_loss_elo, figures.forecast_loss_elo
    ));
    document.paragraph(format!(
        "Continued at the final rates: {:.2} Elo below the optimum on average, at most {:.2} Elo \
         with 95 % probability.",
        figures.noise_elo, figures.noise_elo_95
    ));
    document
}
