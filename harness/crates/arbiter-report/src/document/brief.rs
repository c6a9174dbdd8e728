//! Short summary of a run, as shown on a terminal at its end: some ten lines, with the verdict
//! last.

use super::{Block, Document, Tone, manifest, run, tournament, tuning};
use crate::summary::{Strength, Summary, Verdict};
use crate::table::Table;
use crate::text::{plus_minus_95, results};
use crate::verdict::verdict_sentence;
use crate::{ablation, latency, lint};
use arbiter_plan::{Ending, Remark, base_name};

/// Least share of the thinking time that an engine has to wait for a processor to be reported.
const NOTABLE_WAITING: f64 = 0.01;

/// Most engines with a table of latencies.
const MAX_LATENCIES: usize = 8;

/// Heading of the remarks about workers.
pub(super) const REMARKS: &str = "Remarks about workers";

/// Returns the short summary.
pub fn brief_document(summary: &Summary) -> Document {
    let mut document = Document::new(summary.run.clone());
    document.value("Run", format!("{} (seed {})", summary.run, summary.plan.seed));
    if let Some(about) = &summary.about {
        document.value("About", about);
    }
    // The opponents of an ablation are named by the feature they lack.
    let is_one = summary.plan.ablation.is_some() || summary.spsa.is_some();
    let shown = if is_one { 1 } else { summary.engines.len() };
    for (name, limits) in summary.engines.iter().zip(summary.limits()).take(shown) {
        let name = if summary.spsa.is_some() { base_name(name) } else { name };
        document.value("Engine", format!("{name}, {limits}"));
    }
    for (name, engine) in summary.engines.iter().zip(&summary.plan.engines) {
        if let Some(from) = &engine.provenance {
            document.value("Built", format!("{name}: {}", from.words()));
        }
    }
    if let Some(scale) = summary.plan.scale {
        document.value("Scale", scale.words());
    }
    if let Some(spsa) = &summary.spsa {
        tuning::brief(&mut document, summary, spsa);
    } else if summary.plan.ablation.is_some() {
        document.table(ablation::table(summary));
    } else if summary.engines.len() == 2 {
        strength(&mut document, summary);
    }
    document.value("Repeats", summary.repeats_in_words());
    if summary.plan.design.is_single {
        document.value("Unit", "games: each opening played once, colours not balanced");
    }
    if let Some(standings) = &summary.standings {
        tournament::all(&mut document, standings, &summary.engines);
        document.blocks.push(Block::Gap);
        document.table(encounters(summary));
    }
    if let Some((sprt, sprt_status)) = summary.test().filter(|_| summary.plan.ablation.is_none()) {
        document.value("LLR", run::sprt_text(&sprt, sprt_status));
        document.value("Bounds", run::bounds_text(&sprt));
    }
    rest(&mut document, summary);
    document
}

/// Adds the counts of the games, and the verdict.
fn rest(document: &mut Document, summary: &Summary) {
    manifest::of_book(summary).for_each(|(_, fault)| document.value("Openings", fault));
    let shares = (0..summary.engines.len()).filter_map(|e| summary.latencies.waiting_share(e));
    let matters =
        shares.fold(0.0, f64::max) >= NOTABLE_WAITING || summary.disturbances != Default::default();
    if let Some(contention) = manifest::contention(summary).filter(|_| matters) {
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
    let verdict = Block::Verdict { tone: tone(summary), text: verdict_sentence(summary) };
    document.blocks.push(verdict);
}

/// Returns the tone of the verdict.
pub(super) fn tone(summary: &Summary) -> Tone {
    match summary.verdict() {
        Verdict::H0 => Tone::Bad,
        _ if summary.is_invalid() => Tone::Bad,
        Verdict::H1 => Tone::Good,
        Verdict::None if summary.ending == Some(Ending::Complete) => Tone::Good,
        Verdict::Inconclusive | Verdict::None => Tone::Open,
    }
}

/// Adds the strength of the first of two engines.
fn strength(document: &mut Document, summary: &Summary) {
    let strength = summary.strength();
    document.value("Games", results(&strength.games, ""));
    let pairs = strength.pairs;
    if pairs.pairs() > 0 {
        let counts = format!("{}: {:?} (LL, LD, DD+WL, WD, WW)", pairs.pairs(), pairs.0);
        document.value("Pairs", counts);
    }
    document.value("Elo", strength.elo_in_full());
    document.value("nElo", plus_minus_95(strength.nelo));
    document.value("LOS", strength.los_in_words());
}

fn encounters(summary: &Summary) -> Table {
    let mut table = Table::new(["first", "second", "games", "won", "drawn", "lost", "Elo (95 %)"]);
    for (engines, encounter) in &summary.counts.encounters {
        let [first, second] = engines.map(|engine| &summary.engines[engine]);
        let strength = Strength::of(*encounter);
        let (games, elo) = (strength.games, strength.elo_in_words());
        table.push([first, second, &games.games(), &games.wins, &games.draws, &games.losses, &elo]);
    }
    table
}

/// Returns the endings of the games, the most frequent first.
pub(super) fn terminations(summary: &Summary) -> String {
    let mut counts: Vec<_> = summary.counts.terminations.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    listed(
        counts.into_iter().map(|(termination, count)| format!("{} {count}", termination.words())),
    )
}

/// Returns the faults by engine and kind.
pub(crate) fn faults(summary: &Summary) -> String {
    let name = |engine: usize| &summary.engines[engine];
    let faults = summary.counts.faults.iter();
    listed(
        faults.map(|((engine, ending), count)| {
            format!("{} {} {count}", name(*engine), ending.words())
        }),
    )
}

fn listed(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    if items.is_empty() { "none".to_owned() } else { items.join(", ") }
}
