//! Strength of engines against each other: encounters, SPRT, and the history of Elo and LLR.

use super::result_figures;
use crate::figures::{GameStatistics, HistoryPoint, Strength, Summary};
use crate::parts::{
    Chart, Document, Figure, Line, Lines, Table, interval, plus_minus, plus_minus_95, ratio,
    results, signed, table_rows,
};
use arbiter_names::quantity;
use arbiter_stats::{Correction, LlrBounds, Sprt, SprtStatus};

/// Adds charts of LLR and Elo over the number of games, and a chart of the pairs by points.
pub(crate) fn history(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
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
        // If no pairs are counted and all games have the same result, there is no chart.
        if !drawn.is_empty() {
            document.heading(heading);
            document.figures(drawn);
        }
    }
}

/// Returns the chart of pairs by points of the first engine; `None` if there are no pairs.
pub(crate) fn pairs(summary: &Summary) -> Option<Figure> {
    let counts = summary.strength().pairs;
    (counts.pairs() > 0).then(|| result_figures::pairs(&summary.engines[0], counts.0))
}

fn likelihood(summary: &Summary, points: &[HistoryPoint]) -> Option<Figure> {
    let (sprt, last) = summary.test()?;
    let sprt_statuses: Vec<_> =
        points.iter().filter_map(|point| Some((point.games, point.sprt_status?))).collect();
    let mut table = Table::new(["games", "LLR", "lower bound", "upper bound"]);
    for &(games, sprt_status) in table_rows(&sprt_statuses) {
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
    let games = quantity(summary.counts.games(), "game");
    let description = format!(
        "LLR {} after {games}; H0 ({elo0} Elo) is accepted at {lower:.2} and H1 ({elo1} Elo) at \
         {upper:.2}.",
        signed(llr, 2)
    );
    Some(Figure { caption, description, chart: Chart::Lines(chart), table })
}

/// Returns the chart of Elo over the number of games; `None` if no point has an interval, for
/// example if all games were won.
fn elo(summary: &Summary, points: &[HistoryPoint]) -> Option<Figure> {
    let estimates: Vec<_> =
        points.iter().filter_map(|point| Some((point.games, point.elo?))).collect();
    let mut table = Table::new(["games", "Elo (95 %)"]);
    for (games, estimate) in table_rows(&estimates) {
        table.push([games, &interval(estimate)]);
    }
    let line = Line::of_estimates(summary.engines[0].clone(), &estimates);
    line.points.first()?;
    let levels = vec![(String::new(), 0.0)];
    let hypotheses = summary.hypotheses();
    let shades = hypotheses.map(|[elo0, elo1]| (elo0, elo1)).into_iter().collect();
    let rule = if summary.plan.sprt.is_some() { ", not corrected for stopping" } else { "" };
    let caption = format!("Elo by number of games (95 % interval at each point{rule})");
    let (first, second) = (&summary.engines[0], &summary.engines[1]);
    let games = quantity(summary.counts.games(), "game");
    let elo = summary.strength().elo_text();
    let description = format!("Elo of {first} against {second} after {games}: {elo}.");
    let chart = Lines { x: "games", y: "Elo".to_owned(), lines: vec![line], levels, shades };
    Some(Figure { caption, description, chart: Chart::Lines(chart), table })
}

/// Adds the strength of the first of two engines to the short report.
pub(crate) fn brief(document: &mut Document, summary: &Summary) {
    let strength = summary.strength();
    document.value("Games", results(&strength.games, ""));
    let pairs = strength.pairs;
    if pairs.pairs() > 0 {
        let counts = format!("{}: {:?} (LL, LD, DD+WL, WD, WW)", pairs.pairs(), pairs.0);
        document.value("Pairs", counts);
    }
    document.value("Elo", strength.elo_in_full());
    document.value("nElo", plus_minus_95(strength.nelo));
    document.value("LOS", strength.los_text());
}

/// Returns the table of encounters for the short report.
pub(crate) fn brief_table(summary: &Summary) -> Table {
    let mut table = Table::new(["first", "second", "games", "won", "drawn", "lost", "Elo (95 %)"]);
    for (engines, encounter) in &summary.counts.encounters {
        let [first, second] = engines.map(|engine| &summary.engines[engine]);
        let strength = Strength::of(*encounter);
        let games = strength.games;
        let elo = strength.elo_text();
        table.push([first, second, &games.games(), &games.wins, &games.draws, &games.losses, &elo]);
    }
    table
}

const LEGEND_SINGLE: &str = "Figures are from the first engine's point of view. Each opening was \
    played once, so figures are computed from games, and colours are not balanced.";

const BOUNDS: &str = "An Elo with > or < is a 95 % bound: all games were won or all were lost, \
    so there is no finite estimate.";

const NAIVE: &str = "The Elo and LOS in the first table are corrected for the stopping rule. The \
    naive Elo is biased towards the verdict.";

const LEGEND: &str = "Figures are from the first engine's point of view, and are computed from \
    pairs: two games from one opening with colours reversed. Pairs are grouped by the points of the \
    first engine, from 0 (LL) to 2 (WW).";

/// Adds the full table of encounters, with its legend.
pub(crate) fn encounters(document: &mut Document, summary: &Summary) {
    document.table(table(summary));
    document.paragraph(if summary.plan.design.is_single { LEGEND_SINGLE } else { LEGEND });
    let mut met = summary.counts.encounters.values().map(|met| Strength::of(*met).elo);
    if met.any(|elo| elo.is_some_and(|elo| elo.value.is_infinite())) {
        document.paragraph(BOUNDS);
    }
}

/// Returns the full table of encounters.
pub(crate) fn table(summary: &Summary) -> Table {
    let mut table = Table::with_columns(
        ["first", "second", "Elo (95 %)", "nElo (95 %)", "LOS", "games", "won", "drawn", "lost"],
        ["pairs LL, LD, DD+WL, WD, WW"],
    );
    for engines in summary.counts.encounters.keys() {
        let strength = summary.strength_of(*engines);
        let [first, second] = engines.map(|engine| &summary.engines[engine]);
        let elo = strength.elo_text();
        table.push_with([first, second, &elo], strength_cells(&strength));
    }
    table
}

/// Adds the state of the SPRT, followed by the legend of the table of encounters.
pub(crate) fn test(document: &mut Document, summary: &Summary) {
    if let Some((sprt, sprt_status)) = summary.test() {
        let mut table = Table::new(["", ""]);
        let mut row = |label: &str, value: String| table.push([&label, &value]);
        row("LLR", sprt_text(&sprt, sprt_status));
        row("LLR bounds", bounds_text(&sprt));
        let naive = summary.strength().naive;
        if naive.is_some() {
            row("Elo, naive (95 %)", plus_minus(naive));
        }
        document.table(table);
        if naive.is_some() {
            document.paragraph(NAIVE);
        }
    }
    document.paragraph(LEGEND);
}

/// Formats the LLR of an SPRT, with the current bounds and the hypotheses.
pub(crate) fn sprt_text(sprt: &Sprt, sprt_status: SprtStatus) -> String {
    format!("{} for {}", ratio(sprt_status), hypotheses(sprt))
}

/// Describes how the LLR bounds of an SPRT are computed.
pub(crate) fn bounds_text(sprt: &Sprt) -> String {
    let LlrBounds { lower, upper } = sprt.bounds;
    match sprt.correction {
        Correction::None => "Wald, without overshoot correction".to_owned(),
        Correction::Dynamic => format!("corrected for overshoot (Wald: [{lower:.2}, {upper:.2}])"),
    }
}

/// Formats the hypotheses and error rates of an SPRT.
pub(crate) fn hypotheses(sprt: &Sprt) -> String {
    let Sprt { elo0, elo1, alpha, beta, model, .. } = sprt;
    format!("{model} Elo {elo0} against {elo1}, alpha {alpha}, beta {beta}")
}

/// Returns table cells with the nElo, the LOS, the games by result, and the pairs by points.
pub(crate) fn strength_cells(strength: &Strength) -> [String; 7] {
    let Strength { games, pairs, nelo, .. } = strength;
    let [all, won, drawn, lost] =
        [games.games(), games.wins, games.draws, games.losses].map(|count| count.to_string());
    [plus_minus(*nelo), strength.los_text(), all, won, drawn, lost, format!("{:?}", pairs.0)]
}
