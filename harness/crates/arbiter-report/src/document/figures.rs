//! Charts of a run.

use super::{Document, Figure, result_figures, search};
use crate::ablation;
use crate::chart::{self, Chart, Intervals, Line, Lines};
use crate::statistics::{GameStatistics, HistoryPoint};
use crate::summary::Summary;
use crate::table::Table;
use crate::text::{interval, signed};
use arbiter_names::counted;
use arbiter_stats::elo::finite;
use arbiter_stats::{Sprt, SprtStatus, opening_bias};

/// Most rows of a table of values over games.
const HISTORY_ROWS: usize = 16;

/// Adds LLR and Elo over the games and the pairs by points, or the Elo of each feature.
pub(super) fn history(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    let points = statistics.llr_history.points();
    if summary.engines.len() == 2 && !points.is_empty() {
        let drawn = likelihood(summary, &points).into_iter().chain(elo(summary, &points));
        let mut drawn: Vec<Figure> = drawn.collect();
        let heading = match (drawn.is_empty(), summary.plan.sprt) {
            (true, _) => "Pairs",
            (false, Some(_)) => "LLR history",
            (false, None) => "Elo history",
        };
        drawn.extend(pairs(summary));
        // While all single games were won, there is nothing to show.
        if !drawn.is_empty() {
            document.heading(heading);
            document.multiples(drawn);
        }
    }
    document.figures(ablation(summary));
}

/// Adds endings, colours, search statistics, calibration and openings.
pub(super) fn games(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    let told: &[_] = if summary.engines.len() == 2 { &statistics.engines } else { &[] };
    let endings = summary.counts.terminations.iter().map(|(ending, count)| {
        let wins = told.iter().map(|own| own.wins.get(ending).copied().unwrap_or_default());
        (ending.words(), *count, wins.collect())
    });
    let names: Vec<&str> = summary.engines.iter().map(String::as_str).take(told.len()).collect();
    let endings = result_figures::endings(&names, endings.collect());
    let by_colour = statistics.engines.iter().map(|own| own.by_colour);
    let by_colour: Vec<_> = summary.engines.iter().map(String::as_str).zip(by_colour).collect();
    let colours = result_figures::colours(&by_colour, statistics.white);
    // The pairs of a tuning stand here, because they have no place beside its path.
    let pairs = summary.spsa.as_ref().and_then(|_| pairs(summary));
    document.multiples(pairs.into_iter().chain([endings, colours]));
    document.paragraph(bias(summary));
    search::all(document, summary, statistics);
    let openings = statistics.openings.iter();
    let first = (summary.engines.len() == 2).then(|| summary.engines[0].as_str());
    result_figures::openings(
        document,
        first,
        openings.map(|(number, opening)| opening.named(*number)),
    );
}

/// Returns the pairs of two engines by the points of the first.
fn pairs(summary: &Summary) -> Option<Figure> {
    let counts = summary.strength().pairs;
    (counts.pairs() > 0).then(|| result_figures::pairs(&summary.engines[0], counts.0))
}

fn likelihood(summary: &Summary, points: &[HistoryPoint]) -> Option<Figure> {
    let (sprt, last) = summary.test()?;
    let sprt_statuses: Vec<_> =
        points.iter().filter_map(|point| Some((point.games, point.sprt_status?))).collect();
    let mut table = Table::new(["games", "LLR", "lower bound", "upper bound"]);
    for &(games, sprt_status) in thinned(&sprt_statuses) {
        let cells = [sprt_status.llr, sprt_status.lower, sprt_status.upper];
        table.push_with([&games], cells.map(|value| signed(value, 2)));
    }
    let points =
        sprt_statuses.iter().map(|(games, sprt_status)| (*games as f64, sprt_status.llr)).collect();
    let lines = vec![Line::plain("LLR", points)];
    let levels = vec![("H1".to_owned(), last.upper), ("H0".to_owned(), last.lower)];
    let shades = vec![(last.upper, f64::INFINITY), (f64::NEG_INFINITY, last.lower)];
    let chart = Lines { x: "games", y: "log-likelihood ratio".to_owned(), lines, levels, shades };
    let caption = "Log-likelihood ratio of the test".to_owned();
    let (SprtStatus { llr, lower, upper, .. }, Sprt { elo0, elo1, .. }) = (last, sprt);
    let games = counted(summary.counts.games(), "game");
    let description = format!(
        "LLR {} after {games}; H0 ({elo0} Elo) is accepted at {lower:.2} and H1 ({elo1} Elo) at \
         {upper:.2}.",
        signed(llr, 2)
    );
    Some(Figure { caption, description, chart: Chart::Lines(chart), table })
}

/// Returns Elo over the games; `None` as long as no Elo has an interval, as after games that were
/// all won.
fn elo(summary: &Summary, points: &[HistoryPoint]) -> Option<Figure> {
    let known: Vec<_> = points.iter().filter_map(|point| Some((point.games, point.elo?))).collect();
    let mut table = Table::new(["games", "Elo (95 %)"]);
    for (games, estimate) in thinned(&known) {
        table.push([games, &interval(estimate)]);
    }
    let finite = |(games, e): &(u64, arbiter_stats::elo::Estimate)| {
        Some((*games as f64, finite(e.value)?, e.low, e.high))
    };
    let finite: Vec<_> = known.iter().filter_map(finite).collect();
    if finite.is_empty() {
        return None;
    }
    let line = Line {
        name: summary.engines[0].clone(),
        points: finite.iter().map(|(games, elo, ..)| (*games, *elo)).collect(),
        band: finite.iter().map(|(games, _, low, high)| (*games, *low, *high)).collect(),
        engine: None,
    };
    let levels = vec![(String::new(), 0.0)];
    let hypotheses = summary.hypotheses();
    let shades = hypotheses.map(|[elo0, elo1]| (elo0, elo1)).into_iter().collect();
    let allowance = if summary.plan.sprt.is_some() { ", not corrected for the stop" } else { "" };
    let caption = format!("Elo over games (95 % at each moment{allowance})");
    let (first, second) = (&summary.engines[0], &summary.engines[1]);
    let games = counted(summary.counts.games(), "game");
    let elo = summary.strength().elo_in_words();
    let description = format!("Elo of {first} against {second} after {games}: {elo}.");
    let chart = Lines { x: "games", y: "Elo".to_owned(), lines: vec![line], levels, shades };
    Some(Figure { caption, description, chart: Chart::Lines(chart), table })
}

/// Returns the Elo of each feature of an ablation; `None` for another run.
fn ablation(summary: &Summary) -> Option<Figure> {
    let mut table = Table::new(["feature", "Elo (95 %)"]);
    let mut rows = Vec::new();
    for feature in ablation::features(summary) {
        let Some(elo) = feature.strength.elo else { continue };
        table.push([&feature.name, &feature.strength.elo_in_words()]);
        rows.push((feature.name.to_owned(), elo.value, elo.low, elo.high));
    }
    let (first, _, _, _) = rows.first()?;
    let caption = "Elo of each feature, with 95 % intervals".to_owned();
    let description = format!("{first} gains the most Elo of {} features.", rows.len());
    let chart =
        Chart::Intervals(Intervals { x: "Elo", rows, level: Some(0.0), engines: Vec::new() });
    Some(Figure { caption, description, chart, table })
}

/// Returns a text on the advantage of White and the bias of openings.
fn bias(summary: &Summary) -> String {
    let rated = summary.rated();
    let advantage = rated.as_ref().and_then(|rated| rated.advantage);
    let mut words =
        result_figures::advantage(advantage, rated.and_then(|rated| rated.advantage_error));
    let encounter = summary.counts.main_encounter();
    if summary.engines.len() == 2
        && encounter.pairs.pairs() > 0
        && let Some(bias) = opening_bias(&encounter.pairs, &encounter.games)
    {
        words.push_str(&format!(
            " Opening bias: {bias:.0} Elo (root mean square, estimated from the two games of each \
             pair); pairs cancel it."
        ));
    }
    words
}

/// Returns as many of the values as a table has rows.
pub(super) fn thinned<T>(values: &[T]) -> impl Iterator<Item = &T> {
    chart::thinned(values, HISTORY_ROWS)
}
