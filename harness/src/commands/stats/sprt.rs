//! `arbiter stats sprt`: what given counts say.

use clap::Args;
use serde_json::json;

use super::numbers::{shown, with_interval};
use super::{Answer, ONE_ROW, TestArgs, numbers};
use crate::CORRECTIONS;
use arbiter_report::{Document, Table, interval, percent, plus_minus};
use arbiter_schedule::seed::{seed_for, uniform};
use arbiter_stats::sequential::{self, SequentialEstimate};
use arbiter_stats::{
    Correction, Decision, Model, Moments, Pentanomial, Sprt, SprtMonitor, SprtStatus, Trinomial,
    bayes, elo, normalized, opening_bias,
};

/// Flags of `arbiter stats sprt`.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("sample").required(true).multiple(true))]
pub(crate) struct CountArgs {
    /// Pairs by points: lost both, lost one and drew one, even, won one and drew one, won both
    #[arg(long, value_name = "LL,LD,DD,WD,WW", group = "sample", value_parser = numbers::counts::<5>)]
    counts: Option<[u64; 5]>,
    /// Games won, drawn and lost. With --counts too, they must be the games of those pairs
    #[arg(long, value_name = "W,D,L", group = "sample", value_parser = numbers::counts::<3>)]
    wdl: Option<[u64; 3]>,
    #[command(flatten)]
    test: TestArgs,
    /// How the bounds of the ratio allow for its jumps, which take pairs to measure [default: as in
    /// arbiter sprt]
    #[arg(long, value_parser = CORRECTIONS.parser())]
    overshoot: Option<Correction>,
}

/// All figures of one sample.
struct Figures {
    test: Sprt,
    pairs: Option<Pentanomial>,
    games: Option<Trinomial>,
    moments: Option<Moments>,
    status: SprtStatus,
    llr_classical: Option<f64>,
    sequential: Option<SequentialEstimate>,
}

/// Carries out the command.
pub(crate) fn run(args: &CountArgs) -> Result<Answer, String> {
    let test = args.test.test().map_err(|error| error.to_string())?;
    let pairs = args.counts.map(Pentanomial);
    let games = args.wdl.map(|[wins, draws, losses]| Trinomial { losses, draws, wins });
    if let (Some(pairs), Some(games)) = (&pairs, &games) {
        check_agreement(pairs, games)?;
    }
    let test = test.with_correction(args.overshoot.unwrap_or(test.usual_correction()));
    let is_bayesian = test.model == Model::Bayesian;
    let (elo0, elo1) = (test.elo0, test.elo1);
    let mut orders = seed_for(1, "orders", 0);
    let (moments, status, classical, sequential) = match (pairs, games) {
        (Some(own), _) => (
            own.distribution().moments(),
            test.status_of_counts(&own, || uniform(&mut orders)),
            bayes::llr_classical_pairs(&own, elo0, elo1),
            sequential::after(&test, &own, Decision::Continue),
        ),
        (None, Some(own)) => (
            own.distribution().moments(),
            status_of_games(&test, &own),
            bayes::llr_classical(&own, elo0, elo1),
            sequential::of_games(&test, &own),
        ),
        (None, None) => return Err("expected --counts or --wdl".to_owned()),
    };
    let llr_classical = is_bayesian.then_some(classical);
    let figures = Figures { test, pairs, games, moments, status, llr_classical, sequential };
    let mut document = Document::new("What the counts say".to_owned());
    let mut table = Table::new(["figure", "value"]);
    lines(&figures).iter().for_each(|(label, value)| table.push([label, value]));
    document.table(table);
    Ok(Answer { json: json(&figures), document, rows: ONE_ROW })
}

/// The overshoot of a test of games is not measured.
fn status_of_games(test: &Sprt, games: &Trinomial) -> SprtStatus {
    let (llr, start) = (test.llr_games(games), SprtMonitor::new(*test, 1).start());
    SprtStatus { llr, decision: test.decide(llr), ..start }
}

/// The games of pairs are twice as many and score the same points.
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

impl Figures {
    fn verdict(&self) -> &'static str {
        match self.status.decision {
            Decision::AcceptH1 => "H1",
            Decision::AcceptH0 => "H0",
            Decision::Continue => "inconclusive",
        }
    }

    fn number_of_games(&self) -> u64 {
        match (self.pairs, self.games) {
            (Some(pairs), _) => pairs.games(),
            (None, games) => games.map_or(0, |games| games.games()),
        }
    }

    fn bias(&self) -> Option<f64> {
        opening_bias(self.pairs.as_ref()?, self.games.as_ref()?)
    }
}

fn json(figures: &Figures) -> serde_json::Value {
    let elo = figures.moments.as_ref().map(elo::estimate);
    let nelo = figures.moments.as_ref().and_then(normalized::estimate);
    let [elo, elo_low, elo_high] = with_interval(elo.as_ref());
    let [nelo, nelo_low, nelo_high] = with_interval(nelo.as_ref());
    let after = figures.sequential.map(|s| s.elo);
    let [sequential, sequential_low, sequential_high] = with_interval(after.as_ref());
    let forecast = figures.pairs.and_then(|pairs| figures.test.forecast(&pairs));
    let bounds = figures.test.bounds;
    json!({
        "schema": "arbiter.stats.sprt/1",
        "games": figures.number_of_games(),
        "wins": figures.games.map(|g| g.wins),
        "draws": figures.games.map(|g| g.draws),
        "losses": figures.games.map(|g| g.losses),
        "pentanomial": figures.pairs.map(|p| p.0),
        "score": figures.moments.map(|m| m.mean),
        "variance_per_game": figures.moments.map(|m| m.variance_per_game()),
        "pairs_ratio": figures.pairs.and_then(|p| p.pairs_ratio()),
        "level_ratio": figures.pairs.and_then(|p| p.level_ratio()),
        "draw_ratio": figures.games.and_then(|g| g.draw_ratio()),
        "opening_bias_elo": figures.bias(),
        "elo": elo, "elo_low": elo_low, "elo_high": elo_high,
        "nelo": nelo, "nelo_low": nelo_low, "nelo_high": nelo_high,
        "los": figures.moments.as_ref().and_then(elo::likelihood_of_superiority),
        "elo_sequential": sequential,
        "elo_sequential_low": sequential_low,
        "elo_sequential_high": sequential_high,
        "los_sequential": figures.sequential.map(|s| s.los),
        "sequential_clamped": figures.sequential.map(|s| s.clamped),
        "elo0": figures.test.elo0, "elo1": figures.test.elo1,
        "alpha": figures.test.alpha, "beta": figures.test.beta,
        "model": figures.test.model,
        "llr": figures.status.llr,
        "llr_classical": figures.llr_classical,
        "llr_lower": bounds.lower, "llr_upper": bounds.upper,
        "llr_stop_lower": figures.status.lower, "llr_stop_upper": figures.status.upper,
        "verdict": figures.verdict(),
        "h1_probability": forecast.map(|exit| exit.upper_probability),
        "expected_remaining_games": forecast.map(|exit| 2.0 * exit.mean_units),
    })
}

/// Each figure with its name.
fn lines(figures: &Figures) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let mut line = |label: &'static str, value: String| lines.push((label, value));
    let elo = figures.moments.as_ref().map(elo::estimate);
    let nelo = figures.moments.as_ref().and_then(normalized::estimate);
    line("Games", figures.number_of_games().to_string());
    if let Some(games) = figures.games {
        line("", format!("{} won, {} drawn, {} lost", games.wins, games.draws, games.losses));
        line("Draw ratio", percent(games.draw_ratio()));
    }
    if let Some(pairs) = figures.pairs {
        line("Pairs", format!("{:?} (LL, LD, DD+WL, WD, WW)", pairs.0));
        line("Pairs ratio", shown(pairs.pairs_ratio(), 3));
        line("Level pairs", percent(pairs.level_ratio()));
    }
    if figures.pairs.is_some() && figures.games.is_some() {
        line("Opening bias", format!("{} Elo", shown(figures.bias(), 1)));
    }
    line("Score", percent(figures.moments.map(|m| m.mean)));
    line("Variance per game", shown(figures.moments.map(|m| m.variance_per_game()), 6));
    line("Elo (naive)", format!("{} (95 %)", plus_minus(elo)));
    let after = figures.sequential.map(|s| interval(&s.elo));
    let note = if figures.sequential.is_some_and(|s| s.clamped) { ", past its bound" } else { "" };
    let after = after.map_or("undefined".to_owned(), |text| format!("{text} (95 %{note})"));
    line("Elo (bias-corrected)", after);
    line("nElo", format!("{} (95 %)", plus_minus(nelo)));
    line("LOS", percent(figures.moments.as_ref().and_then(elo::likelihood_of_superiority)));
    let (test, SprtStatus { llr, lower, upper, decision }) = (figures.test, figures.status);
    let scale = format!("{} Elo {} against {}", test.model, test.elo0, test.elo1);
    line("LLR", format!("{llr:+.4} [{lower:.4}, {upper:.4}] for {scale}"));
    if let Some(classical) = figures.llr_classical {
        line("LLR (classical)", format!("{classical:+.4}"));
    }
    line("Verdict", figures.verdict().to_owned());
    let is_open = decision == Decision::Continue;
    let forecast = figures.pairs.and_then(|pairs| test.forecast(&pairs));
    if let Some(forecast) = forecast.filter(|_| is_open) {
        line(
            "Forecast",
            format!(
                "H1 in {}, about {:.0} games to go",
                percent(Some(forecast.upper_probability)),
                2.0 * forecast.mean_units
            ),
        );
    }
    lines
}
