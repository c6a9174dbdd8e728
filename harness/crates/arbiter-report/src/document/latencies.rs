//! How promptly engines answered: quantiles, and a histogram for each kind.

use super::{Block, Document, Figure};
use crate::chart::{Bars, Chart};
use crate::latency;
use crate::summary::Summary;
use crate::table::Table;
use arbiter_plan::run::latency::Kind;

/// Engines beyond which a chart has no bars for each.
const MAX_BARS: usize = 4;

/// All that was measured; nothing in a run without a clock.
pub(super) fn all(document: &mut Document, summary: &Summary) {
    let Some(quantiles) = latency::quantiles(summary) else { return };
    document.heading("How promptly engines answered");
    document.table(quantiles);
    document.paragraph(latency::LEGEND);
    let figures = Kind::ALL.into_iter().filter_map(|kind| histogram(summary, kind));
    document.blocks.extend(figures.map(Block::Figure));
}

/// The counts by decade of one kind.
fn histogram(summary: &Summary, wanted: Kind) -> Option<Figure> {
    let all: Vec<(&str, Vec<u64>)> = summary
        .latencies
        .iter()
        .filter(|(_, kind, _)| *kind == wanted)
        .map(|(engine, _, times)| (summary.engines[engine].as_str(), times.decades()))
        .collect();
    let most = all.iter().map(|(_, counts)| counts.len()).max().filter(|most| *most > 0)?;
    let labels: Vec<String> =
        (0..most as u32).map(|decade| format!("< {}", latency::time(10_u64.pow(decade)))).collect();
    let mut rows = vec![std::iter::once("engine".to_owned()).chain(labels.clone()).collect()];
    let mut series = Vec::new();
    for (name, mut counts) in all {
        counts.resize(most, 0);
        let cells = counts.iter().map(u64::to_string);
        rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
        series.push((name.to_owned(), counts.iter().map(|count| *count as f64).collect()));
    }
    series.truncate(MAX_BARS);
    Some(Figure {
        caption: format!("Latency: {}", wanted.as_str()),
        description: format!(
            "How many times were in which decade of time, from {} to {}, for each engine.",
            labels[0],
            labels[most - 1]
        ),
        chart: Chart::Bars(Bars { y: "times".to_owned(), labels, series, is_lying: false }),
        table: Table::from_rows(rows),
    })
}
