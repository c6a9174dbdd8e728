//! Search statistics of engines: depth, speed, time, and calibration of the evaluations.

use super::latency::time;
use super::result_figures::calibration;
use crate::figures::{
    BUCKETS, ENDS_MS, EngineStatistics, GameStatistics, MOVES_PER_RANGE, PHASES, RANGES,
    SearchStatistics, Summary,
};
use crate::parts::svg::LINE_COLOURS;
use crate::parts::{Chart, Document, Figure, Line, Lines, Table, bars_by_engine};

/// Quantity in the search statistics: name, unit, and function that returns the value.
type Measure = (&'static str, &'static str, fn(&SearchStatistics) -> Option<f64>);

const MEASURES: [Measure; 3] = [
    ("Depth", "plies, mean", SearchStatistics::depth),
    ("Speed", "nodes per second", SearchStatistics::speed),
    ("Time", "ms per move, mean", SearchStatistics::time_ms),
];

/// Names and statistics of the engines that are shown.
type Engines<'a> = [(&'a String, &'a EngineStatistics)];

/// Adds the section on search statistics, unless there are no statistics.
pub(crate) fn all(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    let engines = summary.engines.iter().zip(&statistics.engines).take(LINE_COLOURS);
    let engines: Vec<_> = engines.collect();
    let calibrations: Vec<_> =
        engines.iter().map(|(name, engine)| (name.as_str(), &engine.calibration)).collect();
    let figures = MEASURES.map(|measure| move_numbers(&engines, measure)).into_iter();
    let figures = figures.chain([times(&engines), calibration(&calibrations)]);
    let mut figures = figures.flatten().peekable();
    if figures.peek().is_none() {
        return;
    }
    document.heading("Search statistics");
    document.paragraph(
        "The tables also list the figures by game phase. The phase depends on the non-pawn material \
         (minor piece 1, rook 2, queen 4; total at the start: 24): a total of 22 or more is the \
         opening, a total below 9 is the endgame, and all other totals are the middlegame.",
    );
    document.figures(figures);
}

/// Returns the chart of moves by thinking time.
fn times(engines: &Engines<'_>) -> Option<Figure> {
    let has_any = |bucket: &usize| engines.iter().any(|(_, engine)| engine.times[*bucket] > 0);
    let (first, last) = ((0..BUCKETS).find(has_any)?, (0..BUCKETS).rfind(has_any)?);
    // The label shows only the upper end, because a label with both ends would be too wide for the
    // bar.
    let label = |bucket: usize| match ENDS_MS.get(bucket) {
        Some(end) => format!("< {}", time(1_000 * end)),
        None => format!("≥ {}", time(1_000 * ENDS_MS[bucket - 1])),
    };
    let labels: Vec<String> = (first..=last).map(label).collect();
    let rows: Vec<_> =
        engines.iter().map(|(name, engine)| (*name, engine.times[first..=last].to_vec())).collect();
    let description = format!(
        "Share of each engine's moves by thinking time: {}. Each range begins where the previous \
             range ends.",
        labels.join(", ")
    );
    let height =
        |n: &u64, engine: &[u64]| 100.0 * *n as f64 / engine.iter().sum::<u64>().max(1) as f64;
    let (chart, table) = bars_by_engine("moves, %", labels, &rows, height);
    let caption =
        "Moves by thinking time (each range begins where the previous range ends)".to_owned();
    Some(Figure { caption, description, chart, table })
}

/// Returns the chart of a quantity by move number. The table of the chart also contains the
/// quantity by game phase. Returns `None` if no engine has values.
fn move_numbers(engines: &Engines<'_>, (title, unit, value): Measure) -> Option<Figure> {
    let values = |engine: &EngineStatistics| engine.by_move_number.each_ref().map(value);
    let has_values =
        |range: &usize| engines.iter().any(|(_, engine)| values(engine)[*range].is_some());
    let ranges: Vec<usize> = (0..RANGES).filter(has_values).collect();
    let names = ranges.iter().map(|range| MOVES_PER_RANGE * range);
    let names = names.map(|before| format!("{}–{}", before + 1, before + MOVES_PER_RANGE));
    let phases = PHASES.map(|(name, _)| name.to_owned());
    let mut table = Table::with_columns(["engine"], names.chain(phases));
    let mut lines = Vec::new();
    for (name, engine) in engines {
        let values = values(engine);
        let by_phase = engine.phases.each_ref().map(value);
        let cells = ranges.iter().map(|range| &values[*range]).chain(&by_phase);
        table.push_with([name], cells.map(compact));
        let middle = |range| (MOVES_PER_RANGE * range) as f64 + (MOVES_PER_RANGE + 1) as f64 / 2.0;
        let points = values.iter().enumerate();
        let points = points.filter_map(|(range, value)| Some((middle(range), (*value)?)));
        lines.push(Line::plain(name.as_str(), points.collect()));
    }
    if lines.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    let caption = format!("{title} by move number ({unit})");
    let description =
        format!("{title} of each engine ({unit}) by ranges of {MOVES_PER_RANGE} moves.");
    let chart = Lines { x: "move", y: unit.to_owned(), lines, ..Lines::default() };
    Some(Figure { caption, description, chart: Chart::Lines(chart), table })
}

/// Formats a number in a few characters; `None` becomes an empty string.
fn compact(value: &Option<f64>) -> String {
    match *value {
        None => String::new(),
        Some(v) if v >= 1e6 => format!("{:.2} M", v / 1e6),
        Some(v) if v >= 1e4 => format!("{:.0} k", v / 1e3),
        Some(v) if v >= 100.0 => format!("{v:.0}"),
        Some(v) => format!("{v:.1}"),
    }
}
