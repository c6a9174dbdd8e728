//! `arbiter stats sprt`: strength and SPRT state computed from given counts.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;

use super::{TestArgs, counts, format_number};
use crate::output::{OutputFormat, Rows};
use arbiter_report::{
    Document, EloFigures, Strength, Table, ends, interval, percent, plus_minus_95, signed, to_value,
};
use arbiter_run::Encounter;
use arbiter_schedule::seed::{seed_for, uniform};
use arbiter_settings::{CORRECTIONS, one_of};
use arbiter_stats::elo::Estimate;
use arbiter_stats::{
    Correction, Decision, Model, Pentanomial, Sprt, SprtMonitor, SprtStatus, Trinomial, bayes,
    opening_bias, sequential,
};

/// Flags of `arbiter stats sprt`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("sample").required(true).multiple(true))]
pub(crate) struct CountArgs {
    /// Pairs by points: both lost, one lost and one drawn, even, one won and one drawn, both won
    #[arg(long, value_name = "LL,LD,DD,WD,WW", group = "sample", value_parser = counts::<5>,
        allow_hyphen_values = true)]
    counts: Option<[u64; 5]>,
    /// Games won, drawn and lost; with --counts, these must be the games of the pairs
    #[arg(long, value_name = "W,D,L", group = "sample", value_parser = counts::<3>,
        allow_hyphen_values = true)]
    wdl: Option<[u64; 3]>,
    #[command(flatten)]
    test: TestArgs,
    /// Correction of the LLR bounds for overshoot; requires counts of pairs [default: as in arbiter
    /// sprt]
    #[arg(long, value_parser = one_of(CORRECTIONS), requires = "counts")]
    overshoot: Option<Correction>,
}

/// Strength and SPRT state computed from given counts: `arbiter stats sprt`. All intervals are 95 %
/// confidence intervals.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(tag = "schema", rename = "arbiter.stats.sprt/2")]
pub(crate) struct CountFigures {
    /// Number of games.
    games: u64,
    /// Number of games won; `null` without --wdl.
    wins: Option<u64>,
    /// Number of games drawn; `null` without --wdl.
    draws: Option<u64>,
    /// Number of games lost; `null` without --wdl.
    losses: Option<u64>,
    /// Numbers of pairs by score, from 0 to 2: LL, LD, DD and WL, WD, WW; `null` without --counts.
    pentanomial: Option<[u64; 5]>,
    /// Mean score of a game, 0 to 1.
    score: Option<f64>,
    /// Variance of the score of a game.
    variance_per_game: Option<f64>,
    /// Number of pairs with more than one point, divided by the number of pairs with less than one
    /// point.
    pairs_ratio: Option<f64>,
    /// Share of pairs with one point, 0 to 1.
    level_ratio: Option<f64>,
    /// Share of drawn games, 0 to 1.
    draw_ratio: Option<f64>,
    /// Root mean square of the openings' bias, in Elo.
    opening_bias_elo: Option<f64>,
    /// Lower end of the 95 % interval of `opening_bias_elo`.
    opening_bias_low: Option<f64>,
    /// Upper end of the 95 % interval of `opening_bias_elo`; `null` if the end is infinite.
    opening_bias_high: Option<f64>,
    #[serde(flatten)]
    strength: EloFigures,
    /// Bias-corrected logistic Elo, which accounts for the stopping rule.
    elo_sequential: Option<f64>,
    /// Lower end of the 95 % interval of `elo_sequential`.
    elo_sequential_low: Option<f64>,
    /// Upper end of the 95 % interval of `elo_sequential`.
    elo_sequential_high: Option<f64>,
    /// Likelihood of superiority that accounts for the stopping rule, 0 to 1.
    los_sequential: Option<f64>,
    /// `true` if the log-likelihood ratio is beyond a bound; the test then counts as stopped at the
    /// bound.
    sequential_clamped: Option<bool>,
    #[serde(flatten)]
    test: Sprt,
    /// Log-likelihood ratio.
    llr: f64,
    /// Log-likelihood ratio by the classical BayesElo formula; `null` for other models.
    llr_classical: Option<f64>,
    /// Wald's lower bound for the log-likelihood ratio.
    llr_lower: f64,
    /// Wald's upper bound for the log-likelihood ratio.
    llr_upper: f64,
    /// Lower bound, corrected for overshoot: H0 is accepted at or below it.
    llr_stop_lower: f64,
    /// Upper bound, corrected for overshoot: H1 is accepted at or above it.
    llr_stop_upper: f64,
    /// Verdict: `H1`, `H0` or `inconclusive`.
    verdict: &'static str,
    /// Probability that the test accepts H1 if pair scores stay distributed as in the counts, 0 to
    /// 1.
    h1_probability: Option<f64>,
    /// Expected number of remaining games if pair scores stay distributed as in the counts.
    expected_remaining_games: Option<f64>,
}

/// Computes the figures of the counts, and returns them in the given format.
pub(crate) fn run(args: &CountArgs, format: OutputFormat) -> Result<String, String> {
    let test = args.test.test(args.overshoot)?;
    let pairs = args.counts.map(Pentanomial);
    let games = args.wdl.map(|[wins, draws, losses]| Trinomial { losses, draws, wins });
    if let (Some(pairs), Some(games)) = (&pairs, &games) {
        check_agreement(pairs, games)?;
    }
    let (elo0, elo1) = (test.elo0, test.elo1);
    // The corrected bounds depend on the order of the pairs, which is unknown, so the mean of the
    // bounds over random orders is computed. The seed is fixed, so that the same counts give the
    // same result.
    let mut orders = seed_for(1, "orders", 0);
    let (moments, status, classical, sequential) = match (pairs, games) {
        (Some(pairs), _) => (
            pairs.distribution().moments(),
            test.status_of_counts(&pairs, || uniform(&mut orders)),
            bayes::llr_classical_pairs(&pairs, elo0, elo1),
            sequential::after(&test, &pairs, Decision::Continue),
        ),
        (None, Some(games)) => (
            games.distribution().moments(),
            status_of_games(&test, &games),
            bayes::llr_classical(&games, elo0, elo1),
            sequential::of_games(&test, &games),
        ),
        (None, None) => return Err("expected --counts or --wdl".to_owned()),
    };
    // If all results are equal, an interval would only reflect the regularization of empty cells.
    let sequential = sequential.filter(|_| moments.is_some_and(|sample| sample.variance > 0.0));
    let elo_sequential = sequential.map(|after| after.elo);
    let [sequential_elo, sequential_low, sequential_high] = ends(elo_sequential);
    let bias = pairs.zip(games).and_then(|(pairs, games)| opening_bias(&pairs, &games));
    let [opening_bias_elo, opening_bias_low, opening_bias_high] = ends(bias);
    let forecast = pairs.and_then(|pairs| test.forecast(&pairs));
    let strength = strength(pairs, games);
    // The estimate approximates the LLR linearly, so for lopsided counts it may place the end of a
    // test before the LLR has reached a bound.
    let has_ended = status.decision != Decision::Continue;
    let figures = CountFigures {
        games: pairs.map(|pairs| pairs.games()).or(games.map(|games| games.games())).unwrap_or(0),
        wins: games.map(|games| games.wins),
        draws: games.map(|games| games.draws),
        losses: games.map(|games| games.losses),
        pentanomial: args.counts,
        score: moments.map(|moments| moments.mean),
        variance_per_game: moments.map(|moments| moments.variance_per_game()),
        pairs_ratio: pairs.and_then(|pairs| pairs.pairs_ratio()),
        level_ratio: pairs.and_then(|pairs| pairs.level_ratio()),
        draw_ratio: games.and_then(|games| games.draw_ratio()),
        opening_bias_elo,
        opening_bias_low,
        opening_bias_high,
        strength: EloFigures::of(&strength),
        elo_sequential: sequential_elo,
        elo_sequential_low: sequential_low,
        elo_sequential_high: sequential_high,
        los_sequential: sequential.map(|after| after.los),
        sequential_clamped: sequential.map(|after| after.clamped && has_ended),
        test,
        llr: status.llr,
        llr_classical: (test.model == Model::Bayesian).then_some(classical),
        llr_lower: test.bounds.lower,
        llr_upper: test.bounds.upper,
        llr_stop_lower: status.lower,
        llr_stop_upper: status.upper,
        verdict: match status.decision {
            Decision::AcceptH1 => "H1",
            Decision::AcceptH0 => "H0",
            Decision::Continue => "inconclusive",
        },
        h1_probability: forecast.map(|exit| exit.upper_probability),
        expected_remaining_games: forecast.map(|exit| 2.0 * exit.mean_units),
    };
    let mut document = Document::new("Results of the counts".to_owned());
    document.table(table(&figures, &strength, bias, elo_sequential, status.decision));
    let rows = Rows { list: None, first: &["schema"] };
    Ok(format.of_document(&document, || to_value(&figures), rows))
}

/// Returns the status of a test from game counts, without an estimate of the overshoot.
fn status_of_games(test: &Sprt, games: &Trinomial) -> SprtStatus {
    let llr = test.llr_games(games);
    let start = SprtMonitor::new(*test, 1).start();
    SprtStatus { llr, decision: test.decide(llr), ..start }
}

/// Checks that the games agree with the pairs: there must be twice as many games as pairs, with the
/// same total number of points.
fn check_agreement(pairs: &Pentanomial, games: &Trinomial) -> Result<(), String> {
    let by_pairs: u64 = (0..).zip(pairs.0).map(|(half_points, n)| half_points * n).sum();
    let by_games = 2 * games.wins + games.draws;
    if pairs.games() == games.games() && by_pairs == by_games {
        return Ok(());
    }
    let points = |half_points: u64| half_points as f64 / 2.0;
    Err(format!(
        "expected --wdl to count the games of --counts, {} games with {} points, got {} games with \
         {} points",
        pairs.games(),
        points(by_pairs),
        games.games(),
        points(by_games)
    ))
}

fn strength(pairs: Option<Pentanomial>, games: Option<Trinomial>) -> Strength {
    let pairs = pairs.unwrap_or_default();
    // Only the games of pairs with two wins or two losses are known from the pair counts; draws
    // are unknown.
    let [losses, .., wins] = pairs.0.map(|count| 2 * count);
    let games = games.unwrap_or(Trinomial { losses, wins, draws: 0 });
    Strength::of(Encounter { pairs, games, ..Encounter::default() })
}

/// Returns a table with the name and value of each figure.
fn table(
    figures: &CountFigures,
    strength: &Strength,
    bias: Option<Estimate>,
    sequential: Option<Estimate>,
    decision: Decision,
) -> Table {
    let mut table = Table::new(["figure", "value"]);
    let mut line = |label: &'static str, value: String| table.push([&label, &value]);
    line("Games", figures.games.to_string());
    if let (Some(wins), Some(draws), Some(losses)) = (figures.wins, figures.draws, figures.losses) {
        line("", format!("{wins} won, {draws} drawn, {losses} lost"));
        line("Draw ratio", percent(figures.draw_ratio));
    }
    if let Some(pairs) = figures.pentanomial {
        line("Pairs", format!("{pairs:?} (LL, LD, DD+WL, WD, WW)"));
        let none_lost = pairs[..2] == [0, 0] && pairs[3..] != [0, 0];
        let ratio = format_number(figures.pairs_ratio, 3);
        line("Pairs ratio", if none_lost { "no pair lost".to_owned() } else { ratio });
        line("Level pairs", percent(figures.level_ratio));
        if figures.wins.is_some() {
            // A root mean square has no sign.
            line("Opening bias (Elo)", plus_minus_95(bias).replace('+', ""));
        }
    }
    line("Score", percent(figures.score));
    line("Variance per game", format_number(figures.variance_per_game, 6));
    line("Elo (naive)", strength.elo_in_full());
    if let Some(elo) = sequential {
        let is_clamped = figures.sequential_clamped == Some(true);
        let suffix = if is_clamped { ", past its bound" } else { "" };
        line("Elo (bias-corrected)", format!("{} (95 %{suffix})", interval(&elo)));
    }
    line("nElo", plus_minus_95(strength.nelo));
    line("LOS", strength.los_text());
    let CountFigures { test, llr, llr_stop_lower, llr_stop_upper, .. } = figures;
    let scale = format!("{} Elo {} against {}", test.model, test.elo0, test.elo1);
    let bounds = format!("[{llr_stop_lower:.4}, {llr_stop_upper:.4}]");
    line("LLR", format!("{} {bounds} for {scale}", signed(*llr, 4)));
    if let Some(classical) = figures.llr_classical {
        line("LLR (classical)", signed(classical, 4));
    }
    line("Verdict", figures.verdict.to_owned());
    if let Some(games) = figures.expected_remaining_games.filter(|_| decision == Decision::Continue)
    {
        let probability = percent(figures.h1_probability);
        line("Forecast", format!("H1 in {probability}, about {games:.0} games left"));
    }
    table
}
