//! Latencies of the engines' answers: quantiles, and a histogram for each kind.

use super::{Document, Figure, bars_by_engine};
use crate::latency;
use crate::summary::Summary;
use arbiter_plan::LatencyKind;

/// Adds all latencies measured; nothing in a run without a clock.
pub(super) fn all(document: &mut Document, summary: &Summary) {
    let Some(quantiles) = latency::quantiles(summary) else { return };
    document.heading("Response times");
    document.table(quantiles);
    document.paragraph(latency::LEGEND);
    document
        .multiples(LatencyKind::ANSWERS.into_iter().filter_map(|kind| histogram(summary, kind)));
}

/// Returns the counts of one kind by decade.
fn histogram(summary: &Summary, wanted: LatencyKind) -> Option<Figure> {
    let own = summary.latencies.iter().filter(|(_, kind, _)| *kind == wanted);
    let all = own.map(|(engine, _, times)| (&summary.engines[engine], times.decades()));
    let mut all: Vec<(&String, Vec<u64>)> = all.collect();
    let most = all.iter().map(|(_, counts)| counts.len()).max().filter(|most| *most > 0)?;
    all.iter_mut().for_each(|(_, counts)| counts.resize(most, 0));
    let decades = 0..most as u32;
    let labels: Vec<String> =
        decades.map(|decade| format!("< {}", latency::time(10_u64.pow(decade)))).collect();
    let description = format!(
        "Response times of each engine by decade, from {} to {}.",
        labels[0],
        labels[most - 1]
    );
    let height = |count: &u64, _: &[u64]| *count as f64;
    let (chart, table) = bars_by_engine("times", labels, &all, u64::to_string, height);
    Some(Figure { caption: format!("Latency: {wanted}"), description, chart, table })
}
