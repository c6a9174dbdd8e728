//! Latencies of engine replies, as tables, charts and JSON.

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::Summary;
use crate::parts::{Document, Figure, Table, bars_by_engine};
use arbiter_run::LatencyKind;

/// Explanation of the kinds of latency.
const LEGEND: &str = "ready: from \"isready\" to \"readyok\" before a game. move: from \
     \"go\" to \"bestmove\", minus the last time that the engine reported. overrun: time by which \
     the limit was exceeded, for moves with st= and for games that ended by time forfeit.";

/// Returns a table of latency quantiles by engine and kind; `None` if no latency was measured.
pub(crate) fn quantiles(summary: &Summary) -> Option<Table> {
    let mut table = Table::new(["engine", "latency", "count", "p50", "p90", "p99", "max"]);
    let answers =
        summary.latencies.iter().filter(|(_, kind, _)| LatencyKind::ANSWERS.contains(kind));
    for (engine, kind, distribution) in answers {
        let [p50, p90, p99] = [0.5, 0.9, 0.99].map(|q| time(distribution.quantile_us(q)));
        let most = time(distribution.max_us());
        let name = &summary.engines[engine];
        table.push([name, &kind, &distribution.count(), &p50, &p90, &p99, &most]);
    }
    (table.rows().len() > 1).then_some(table)
}

/// Formats a time of `us` microseconds in µs, ms or s.
pub(crate) fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us} µs"),
        1_000..1_000_000 => format!("{} ms", short(us as f64 / 1e3)),
        _ => format!("{} s", short(us as f64 / 1e6)),
    }
}

/// Formats a number below 10 with at most one decimal place, and a larger number as an integer.
fn short(value: f64) -> String {
    let digits = usize::from(value < 9.95);
    let text = format!("{value:.digits$}");
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

/// Latencies or waiting times of an engine, rounded to two significant digits.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LatencyFigures<'a> {
    /// Name of the engine.
    engine: &'a str,
    /// Kind of the latency.
    kind: LatencyKind,
    /// Number of measurements.
    count: u64,
    /// Median, in microseconds.
    p50_us: u64,
    /// 90 % quantile, in microseconds.
    p90_us: u64,
    /// 99 % quantile, in microseconds.
    p99_us: u64,
    /// Maximum, in microseconds.
    max_us: u64,
    /// Number of measurements by decade: below 1 µs, 1 to 10 µs, 10 to 100 µs and so on.
    decades: Vec<u64>,
}

/// Returns the latencies of each engine and kind for JSON.
pub(crate) fn figures(summary: &Summary) -> impl Iterator<Item = LatencyFigures<'_>> {
    summary.latencies.iter().map(|(engine, kind, distribution)| LatencyFigures {
        engine: &summary.engines[engine],
        kind,
        count: distribution.count(),
        p50_us: distribution.quantile_us(0.5),
        p90_us: distribution.quantile_us(0.9),
        p99_us: distribution.quantile_us(0.99),
        max_us: distribution.max_us(),
        decades: distribution.decades(),
    })
}

/// Adds the section on latencies, unless no latency was measured.
pub(crate) fn all(document: &mut Document, summary: &Summary) {
    let Some(quantiles) = quantiles(summary) else { return };
    document.heading("Response times");
    document.table(quantiles);
    document.paragraph(LEGEND);
    document.figures(LatencyKind::ANSWERS.into_iter().filter_map(|kind| histogram(summary, kind)));
}

/// Returns the chart of the number of replies by decade of latency, for one kind of latency.
fn histogram(summary: &Summary, wanted: LatencyKind) -> Option<Figure> {
    let latencies = summary.latencies.iter().filter(|(_, kind, _)| *kind == wanted);
    let all = latencies.map(|(engine, _, times)| (&summary.engines[engine], times.decades()));
    let mut all: Vec<(&String, Vec<u64>)> = all.collect();
    let most = all.iter().map(|(_, counts)| counts.len()).max().filter(|most| *most > 0)?;
    all.iter_mut().for_each(|(_, counts)| counts.resize(most, 0));
    let label = |end: u64| range_text(&time(end / 10), &time(end));
    let labels: Vec<String> = (0..most as u32).map(|decade| label(10_u64.pow(decade))).collect();
    let description = format!("Response times of each engine: {}.", labels.join(", "));
    let height = |count: &u64, _: &[u64]| *count as f64;
    let (chart, table) = bars_by_engine("count", labels, &all, height);
    Some(Figure { caption: format!("Latency: {wanted}"), description, chart, table })
}

/// Formats a range of times. If both ends have the same unit, the unit is written once.
fn range_text(from: &str, to: &str) -> String {
    let unit = to.trim_start_matches(char::is_numeric);
    format!("{}–{to}", from.strip_suffix(unit).unwrap_or(from))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_in_a_suitable_unit() {
        let cases = [(0, "0 µs"), (999, "999 µs"), (1_000, "1 ms"), (1_460, "1.5 ms")];
        let more =
            [(12_300, "12 ms"), (999_000, "999 ms"), (2_000_000, "2 s"), (90_000_000, "90 s")];
        for (us, expect) in cases.into_iter().chain(more) {
            assert_eq!(time(us), expect);
        }
    }
}
