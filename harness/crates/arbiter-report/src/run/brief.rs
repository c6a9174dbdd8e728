//! Short report that is printed at the end of a run: about ten lines, with the verdict last.

use super::manifest;
use super::verdict::{verdict_sentence, verdict_tone};
use crate::figures::Summary;
use crate::parts::{Block, Document};
use crate::topics::{ablation, latency, lint, strength, tournament, tuning};
use arbiter_plan::base_name;
use arbiter_run::Remark;

/// Minimum reported waiting time for a processor, as a share (0 to 1) of an engine's thinking time.
const NOTABLE_WAITING: f64 = 0.01;

/// Maximum number of engines for which a table of latencies is shown.
const MAX_LATENCIES: usize = 8;

/// Heading of the remarks about workers.
pub(super) const REMARKS: &str = "Remarks about workers";

/// Returns the short report on a run.
pub fn brief_document(summary: &Summary) -> Document {
    let mut document = Document::new(summary.run.clone());
    document.value("Run", format!("{} (seed {})", summary.run, summary.plan.seed));
    if let Some(about) = &summary.about {
        document.value("About", about);
    }
    // An ablation shows only the first engine, because each opponent is this engine with one
    // feature disabled. In a tuning run, both sides are the same engine.
    let is_one = summary.plan.ablation.is_some() || summary.spsa.is_some();
    let shown = if is_one { 1 } else { summary.engines.len() };
    for (name, limits) in summary.engines.iter().zip(summary.limits()).take(shown) {
        let name = if summary.spsa.is_some() { base_name(name) } else { name };
        document.value("Engine", format!("{name}, {limits}"));
    }
    for (name, engine) in summary.engines.iter().zip(&summary.plan.engines) {
        if let Some(from) = &engine.provenance {
            document.value("Built", format!("{name}: {}", from.describe()));
        }
    }
    if let Some(scale) = summary.plan.scale {
        document.value("Scale", scale.describe());
    }
    if let Some(spsa) = &summary.spsa {
        tuning::brief(&mut document, summary, spsa);
    } else if summary.plan.ablation.is_some() {
        document.table(ablation::table(summary));
    } else if summary.engines.len() == 2 {
        strength::brief(&mut document, summary);
    }
    document.value("Repeats", summary.repeats_text());
    if summary.plan.design.is_single {
        document.value("Unit", "games: each opening played once, colours not balanced");
    }
    if let Some(standings) = &summary.standings {
        tournament::all(&mut document, standings, &summary.engines);
        document.blocks.push(Block::Gap);
        document.table(strength::brief_table(summary));
    }
    if let Some((sprt, sprt_status)) = summary.test().filter(|_| summary.plan.ablation.is_none()) {
        document.value("LLR", strength::sprt_text(&sprt, sprt_status));
        document.value("Bounds", strength::bounds_text(&sprt));
    }
    rest(&mut document, summary);
    document
}

/// Adds the endings, faults, latencies, remarks and the verdict.
fn rest(document: &mut Document, summary: &Summary) {
    manifest::book_facts(summary).for_each(|(_, fault)| document.value("Openings", fault));
    let shares = (0..summary.engines.len()).filter_map(|e| summary.latencies.waiting_share(e..=e));
    let is_notable =
        shares.fold(0.0, f64::max) >= NOTABLE_WAITING || summary.disturbances != Default::default();
    if let Some(contention) = manifest::contention(summary).filter(|_| is_notable) {
        document.value("CPU", contention);
    }
    for excluded in &summary.excluded {
        document.value("Excluded", excluded.to_string());
    }
    document.value("Endings", terminations(summary));
    document.value("Faults", faults(summary));
    for (engine, found) in lint::by_engine(summary) {
        document.value("Lint", format!("{engine}: {found}"));
    }
    let is_short = summary.plan.ablation.is_none() && summary.engines.len() <= MAX_LATENCIES;
    if let Some(table) = latency::quantiles(summary).filter(|_| is_short) {
        document.table(table);
    }
    document.list(REMARKS, summary.remarks.iter().map(Remark::to_string).collect());
    document.blocks.push(Block::Gap);
    if summary.plan.ablation.is_some() {
        let notes = ablation::notes(summary).into_iter().chain([ablation::conclusion(summary)]);
        notes.for_each(|note| document.paragraph(note));
    }
    let verdict = Block::Verdict { tone: verdict_tone(summary), text: verdict_sentence(summary) };
    document.blocks.push(verdict);
}

/// Formats the numbers of games by ending, most frequent first.
pub(super) fn terminations(summary: &Summary) -> String {
    let mut counts: Vec<_> = summary.counts.terminations.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    listed(counts.into_iter().map(|(ending, count)| format!("{} {count}", ending.describe())))
}

/// Formats the numbers of faults by engine and kind.
pub(crate) fn faults(summary: &Summary) -> String {
    listed(summary.counts.faults.iter().map(|((engine, ending), count)| {
        format!("{} {} {count}", summary.engines[*engine], ending.describe())
    }))
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}
