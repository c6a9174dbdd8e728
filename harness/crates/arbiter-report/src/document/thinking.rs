//! Search statistics of the engines: depth, speed, time, and calibration of their evaluations.

use super::{Block, Document, Figure, calibration};
use crate::chart::{Bars, Chart, Line, Lines};
use crate::statistics::{
    EngineStatistics, GameStatistics, MOVES_PER_RANGE, Phase, SearchStatistics,
};
use crate::summary::Summary;
use crate::table::Table;

/// Engines beyond which a chart has no line for each.
const MAX_LINES: usize = 8;

/// Engines beyond which a chart has no bars for each.
const MAX_BARS: usize = 4;

/// A figure of search statistics: its name, its unit, and the value.
type Measure<'a> = (&'a str, &'a str, fn(&SearchStatistics) -> Option<f64>);

const MEASURES: [Measure<'static>; 3] = [
    ("Depth", "plies, mean", SearchStatistics::depth),
    ("Speed", "nodes per second", SearchStatistics::speed),
    ("Time", "ms for a move, mean", SearchStatistics::time_ms),
];

/// All there is, if the engines told anything.
pub(super) fn all(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    let figures = MEASURES.map(|measure| phases(summary, statistics, measure)).into_iter();
    let figures = figures.chain(MEASURES.map(|measure| move_numbers(summary, statistics, measure)));
    let figures = figures.chain([times(summary, statistics), evaluations(summary, statistics)]);
    let figures: Vec<Block> = figures.flatten().map(Block::Figure).collect();
    if figures.is_empty() {
        return;
    }
    document.heading("Search statistics");
    document.paragraph(
        "A phase is told by the pieces besides kings and pawns, with 1 for a minor piece, 2 for a rook \
         and 4 for a queen: the opening has at least 22 of 24 left, the endgame less than 9.",
    );
    document.blocks.extend(figures);
}

/// A measure of each engine in each phase; none if only one phase has any.
fn phases(
    summary: &Summary,
    statistics: &GameStatistics,
    (title, unit, value): Measure<'_>,
) -> Option<Figure> {
    let head = std::iter::once("engine").chain(Phase::ALL.map(Phase::as_str));
    let mut rows: Vec<Vec<String>> = vec![head.map(str::to_owned).collect()];
    let mut series = Vec::new();
    for (name, engine) in shown(summary, statistics) {
        let values: Vec<Option<f64>> = engine.phases.iter().map(|(_, sums)| value(sums)).collect();
        let cells = values.iter().map(|value| value.map_or(String::new(), compact));
        rows.push(std::iter::once(name.clone()).chain(cells).collect());
        series.push((name.clone(), values.into_iter().map(Option::unwrap_or_default).collect()));
    }
    let told = |(_, values): &&(String, Vec<f64>)| values.iter().any(|value| *value > 0.0);
    if !series.iter().any(|one| told(&one)) {
        return None;
    }
    series.truncate(MAX_BARS);
    Some(Figure {
        caption: format!("{title} by phase"),
        description: format!("{title} of each engine ({unit}) in opening, middlegame and endgame."),
        chart: Chart::Bars(Bars {
            y: unit.to_owned(),
            labels: Phase::ALL.map(|phase| phase.as_str().to_owned()).to_vec(),
            series,
            is_lying: false,
        }),
        table: Table::from_rows(rows),
    })
}

/// How many moves took how long.
fn times(summary: &Summary, statistics: &GameStatistics) -> Option<Figure> {
    let counts =
        |engine: &EngineStatistics| engine.times.iter().map(|(_, n)| n).collect::<Vec<_>>();
    let all: Vec<(String, Vec<u64>)> =
        shown(summary, statistics).map(|(name, engine)| (name.clone(), counts(engine))).collect();
    let ends: Vec<Option<u64>> =
        statistics.engines.first()?.times.iter().map(|(end, _)| end).collect();
    let has_any = |bucket: &usize| all.iter().any(|(_, counts)| counts[*bucket] > 0);
    let first = (0..ends.len()).find(has_any)?;
    let last = (0..ends.len()).rfind(has_any)?;
    let label = |bucket: usize| match (ends[bucket], ends[bucket.saturating_sub(1)]) {
        (Some(end), _) => format!("< {}", duration(end)),
        (None, start) => format!("≥ {}", duration(start.unwrap_or_default())),
    };
    let labels: Vec<String> = (first..=last).map(label).collect();
    let mut rows = vec![std::iter::once("engine".to_owned()).chain(labels.clone()).collect()];
    let mut series = Vec::new();
    for (name, counts) in all {
        let counts = &counts[first..=last];
        let cells = counts.iter().map(u64::to_string);
        rows.push(std::iter::once(name.clone()).chain(cells).collect());
        let moves = counts.iter().sum::<u64>().max(1) as f64;
        series.push((name, counts.iter().map(|n| 100.0 * *n as f64 / moves).collect()));
    }
    series.truncate(MAX_BARS);
    Some(Figure {
        caption: "Moves by the time they took".to_owned(),
        description: format!(
            "Share of each engine's moves in steps of time from {} to {}.",
            labels[0],
            labels[labels.len() - 1]
        ),
        chart: Chart::Bars(Bars { y: "moves, %".to_owned(), labels, series, is_lying: false }),
        table: Table::from_rows(rows),
    })
}

/// Milliseconds in the unit that suits them.
fn duration(ms: u64) -> String {
    if ms < 1_000 { format!("{ms} ms") } else { format!("{} s", ms / 1_000) }
}

/// The engines that a chart shows.
fn shown<'a>(
    summary: &'a Summary,
    statistics: &'a GameStatistics,
) -> impl Iterator<Item = (&'a String, &'a EngineStatistics)> {
    summary.engines.iter().zip(&statistics.engines).take(MAX_LINES)
}

fn evaluations(summary: &Summary, statistics: &GameStatistics) -> Option<Figure> {
    let engines = shown(summary, statistics);
    let engines: Vec<_> =
        engines.map(|(name, engine)| (name.as_str(), &engine.calibration)).collect();
    calibration::figure(&engines)
}

fn move_numbers(
    summary: &Summary,
    statistics: &GameStatistics,
    (title, unit, value): Measure<'_>,
) -> Option<Figure> {
    let mut rows = vec![vec!["engine".to_owned()]];
    let firsts = statistics.engines.first()?.by_move_number.iter().map(|(first, _)| first);
    rows[0].extend(firsts.map(|first| format!("{first}–{}", first + MOVES_PER_RANGE - 1)));
    let mut lines = Vec::new();
    for (name, engine) in shown(summary, statistics) {
        let values: Vec<_> =
            engine.by_move_number.iter().map(|(first, s)| (first, value(s))).collect();
        let cells = values.iter().map(|(_, value)| value.map_or(String::new(), compact));
        rows.push(std::iter::once(name.clone()).chain(cells).collect());
        let middle = |first: u32| f64::from(first) + f64::from(MOVES_PER_RANGE - 1) / 2.0;
        let points = values.iter().filter_map(|(first, value)| Some((middle(*first), (*value)?)));
        lines.push(Line::plain(name.clone(), points.collect()));
    }
    if lines.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    Some(Figure {
        caption: format!("{title} by move number"),
        description: format!(
            "{title} of each engine ({unit}) by ranges of {MOVES_PER_RANGE} moves."
        ),
        chart: Chart::Lines(Lines {
            x: "move".to_owned(),
            y: unit.to_owned(),
            lines,
            levels: Vec::new(),
        }),
        table: Table::from_rows(rows),
    })
}

/// A number in few characters.
fn compact(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{:.2} M", v / 1e6),
        v if v >= 1e4 => format!("{:.0} k", v / 1e3),
        v if v >= 100.0 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    }
}
