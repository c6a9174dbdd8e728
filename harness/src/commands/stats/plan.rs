//! `arbiter stats plan`: the expected number of games of an SPRT.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{BIASES, TestArgs, counts, no_variance};
use crate::output::{OutputFormat, Rows};
use arbiter_report::{Document, Table, to_value};
use arbiter_stats::planning::{Conditions, OperatingPoint, PlannedTest};
use arbiter_stats::{Exit, Pentanomial, Sprt};

/// Width of each plot column, in characters.
const PLOT_WIDTH: usize = 16;

/// Maximum absolute true strength, in logistic Elo.
const MAX_ELO: f64 = 1000.0;

/// Flags of `arbiter stats plan`.
#[derive(Debug, Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    test: TestArgs,
    /// Share of draws between equal engines, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    draw_ratio: f64,
    /// Root mean square of the openings' bias, in Elo
    #[arg(long, value_name = "ELO", default_value_t = 0.0)]
    bias: f64,
    /// True strengths to tabulate, in logistic Elo [default: a range around both hypotheses]
    #[arg(long, value_name = "ELO,…", value_delimiter = ',', allow_hyphen_values = true)]
    elo: Vec<f64>,
    /// Counts of a pilot sample; adds a forecast from these counts
    #[arg(long, value_name = "LL,LD,DD,WD,WW", value_parser = counts::<5>,
        allow_hyphen_values = true)]
    pilot: Option<[u64; 5]>,
}

/// Expected number of games of an SPRT: `arbiter stats plan`.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.stats.plan/1")]
pub(crate) struct CostFigures {
    #[serde(flatten)]
    test: Sprt,
    /// Wald's lower bound for the log-likelihood ratio.
    llr_lower: f64,
    /// Wald's upper bound for the log-likelihood ratio.
    llr_upper: f64,
    /// Variance of the score of a game (0 to 1).
    variance_per_game: f64,
    /// Null hypothesis, in logistic Elo.
    logistic_elo0: Option<f64>,
    /// Alternative hypothesis, in logistic Elo.
    logistic_elo1: Option<f64>,
    /// Expected number of games by true strength.
    points: Vec<Cost>,
    /// Expected number of games at the strength that requires the most games.
    worst: Option<Cost>,
    /// Forecast for pair scores distributed as in --pilot.
    pilot: Option<PilotCost>,
}

/// Expected number of games at one true strength.
#[derive(Debug, Serialize, JsonSchema)]
struct Cost {
    /// True strength in logistic Elo.
    elo: f64,
    /// True strength in normalized Elo.
    nelo: f64,
    /// Probability that H1 is accepted, 0 to 1.
    pass_probability: f64,
    /// Mean number of games.
    expected_games: f64,
}

/// Expected number of games by a pilot sample.
#[derive(Debug, Serialize, JsonSchema)]
struct PilotCost {
    /// Probability that H1 is accepted, 0 to 1.
    pass_probability: f64,
    /// Mean number of games.
    expected_games: f64,
}

/// Computes the plan, and returns it in the given format.
pub(crate) fn run(args: &PlanArgs, format: OutputFormat) -> Result<String, String> {
    let test = args.test.test(None)?;
    if !(0.0..1.0).contains(&args.draw_ratio) {
        return Err(format!("expected a draw ratio from 0 to below 1, got {}", args.draw_ratio));
    }
    if !BIASES.contains(&args.bias) {
        return Err(format!("expected --bias from 0 to {}, got {}", BIASES.end(), args.bias));
    }
    if let Some(elo) = args.elo.iter().find(|elo| elo.is_nan() || elo.abs() > MAX_ELO) {
        return Err(format!("expected true strengths between -{MAX_ELO} and {MAX_ELO}, got {elo}"));
    }
    let conditions = Conditions { draw_rate: args.draw_ratio, bias_elo: args.bias };
    let planned = PlannedTest::new(test, conditions);
    let planned = planned.ok_or_else(|| no_variance(args.bias, args.draw_ratio))?;
    let elos = if args.elo.is_empty() { range(&test, &planned) } else { args.elo.clone() };
    let cost = |elo| {
        let OperatingPoint { elo, nelo, exit } = planned.at(elo);
        let Exit { upper_probability: pass_probability, mean_units: expected_games } = exit;
        Cost { elo, nelo, pass_probability, expected_games }
    };
    let points = elos.into_iter().map(cost).collect();
    let pilot = args.pilot.map(|counts| pilot_cost(&test, &Pentanomial(counts))).transpose()?;
    let figures = CostFigures {
        test,
        llr_lower: test.bounds.lower,
        llr_upper: test.bounds.upper,
        variance_per_game: planned.variance_per_game,
        logistic_elo0: planned.logistic(test.elo0),
        logistic_elo1: planned.logistic(test.elo1),
        points,
        worst: planned.worst().map(cost),
        pilot,
    };
    let rows = Rows { list: Some("points"), first: &["elo", "nelo"] };
    Ok(format.of_document(&document(&figures), || to_value(&figures), rows))
}

/// Returns thirteen strengths in logistic Elo, from H0 minus the width of the test (H1 − H0) to H1
/// plus this width.
fn range(test: &Sprt, planned: &PlannedTest) -> Vec<f64> {
    let width = test.elo1 - test.elo0;
    let at = |step: i32| test.elo0 + width * f64::from(step) / 4.0;
    (-4..=8).filter_map(|step| planned.logistic(at(step))).collect()
}

/// Returns the expected number of games of the test if pair scores are distributed as in the
/// sample.
fn pilot_cost(test: &Sprt, pairs: &Pentanomial) -> Result<PilotCost, String> {
    let counts = pairs.distribution();
    // Without variance, the forecast would only reflect the regularization of empty cells.
    let varies = counts.moments().is_some_and(|sample| sample.variance > 0.0);
    let probabilities = counts.regularized().probabilities().filter(|_| varies);
    let probabilities = probabilities.ok_or("expected a pilot with pairs of different results")?;
    let exit = test.exit_of_pairs(&probabilities);
    let exit = exit.ok_or("pairs as in the pilot move the LLR in one direction only")?;
    let expected_games = 2.0 * exit.mean_units;
    Ok(PilotCost { pass_probability: exit.upper_probability, expected_games })
}

fn document(figures: &CostFigures) -> Document {
    let CostFigures { test, variance_per_game, points, worst, pilot, .. } = figures;
    let mut document = Document::new("Expected length of a test".to_owned());
    document.paragraph(format!(
        "SPRT of {} Elo {} against {}, alpha {}, beta {}; variance of a game {:.6}.",
        test.model, test.elo0, test.elo1, test.alpha, test.beta, variance_per_game
    ));
    let mut table = Table::new(["Elo", "nElo", "passes", "", "expected games", ""]);
    let most = points.iter().map(|point| point.expected_games).fold(0.0, f64::max);
    let part = |share: f64| (share * PLOT_WIDTH as f64).round() as usize;
    for Cost { elo, nelo, pass_probability: pass, expected_games: games } in points {
        let filled = part(*pass);
        table.push([
            &format!("{elo:.2}"),
            &format!("{nelo:.2}"),
            &format!("{:.2} %", 100.0 * pass),
            &format!("{}{}", "█".repeat(filled), "·".repeat(PLOT_WIDTH - filled)),
            &format!("{games:.0}"),
            &"▒".repeat(part(if most > 0.0 { games / most } else { 0.0 })),
        ]);
    }
    document.table(table);
    if let Some(Cost { elo, expected_games: games, .. }) = worst {
        document.paragraph(format!("The test takes longest at {elo:+.2} Elo: {games:.0} games."));
    }
    if let Some(PilotCost { pass_probability, expected_games }) = pilot {
        let share = 100.0 * pass_probability;
        document.paragraph(format!(
            "With pairs as in the pilot, H1 is accepted in {share:.2} % of the tests. A test takes \
             {expected_games:.0} games on average."
        ));
    }
    document
}
