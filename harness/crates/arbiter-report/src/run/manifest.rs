//! Manifest of a run: the engines, openings, rules and machine that are needed to repeat the run.

use crate::figures::{Summary, rules_text};
use crate::parts::{Document, Table, options_text, percent, short_hash, utc_time};
use crate::topics::{strength, tuning};
use arbiter_openings::Order;
use arbiter_plan::{Ablation, Affinity, Engine, Plan, RunKind, cpus_per_game};
use arbiter_run::Disturbances;
use arbiter_store::{Fingerprints, StoredRun};

/// Adds a table of the engines with their programs, options and search limits.
pub(super) fn engines(document: &mut Document, plan: &Plan, fingerprints: &Fingerprints) {
    let mut engines = Table::new(["engine", "program", "options", "limits", "BLAKE3"]);
    for ((name, engine), hashes) in plan.own_engines().zip(&fingerprints.engines) {
        let options = options_text(engine, &hashes.option_files);
        let limits = engine.conditions.limits;
        engines.push([&name, &program(engine), &options, &limits, &short_hash(&hashes.program)]);
    }
    document.table(engines);
    if let Some(Ablation { option, .. }) = &plan.ablation {
        document.paragraph(format!(
            "Each opponent is the same engine with the option {option} set to one feature."
        ));
    }
    if let Some(tuning) = &plan.tuning {
        let (names, schedule) = (tuning::tuned_names(tuning), tuning::tuning_schedule(tuning));
        document.paragraph(format!(
            "The engine played itself with perturbed values of {names}. SPSA: {schedule}."
        ));
    }
}

/// Adds a table of the conditions of a run, except the engines. For a played run, the table also
/// contains the number of games and the effects of the conditions, such as CPU contention.
/// `concurrency` is `None` if workers play the games.
pub(super) fn conditions(
    document: &mut Document,
    plan: &Plan,
    fingerprints: &Fingerprints,
    concurrency: Option<usize>,
    played: Option<(&StoredRun, &Summary)>,
) {
    let summary = played.map(|(_, summary)| summary);
    let mut table = Table::new(["", ""]);
    let mut row = |label: &str, value: String| table.push([&label, &value]);
    if let Some((stored, _)) = played {
        row("run", format!("{}, started {}", stored.head.run, utc_time(stored.head.created_ms)));
    }
    if let Some(about) = summary.and_then(|summary| summary.about.as_ref()) {
        row("about", about.clone());
    }
    let version = played.map_or(env!("CARGO_PKG_VERSION"), |(stored, _)| &stored.version);
    row("Arbiter", version.to_owned());
    row("machine", fingerprints.host.clone());
    let book = plan.book.as_ref();
    let book = book.map_or("the bundled book".to_owned(), |path| path.display().to_string());
    let order = match plan.order {
        Order::Random => "in random order",
        Order::Sequential => "in the order of the book",
    };
    row("openings", format!("{book}, BLAKE3 {}, {order}", short_hash(&fingerprints.book)));
    for (kind, fault) in summary.into_iter().flat_map(book_facts) {
        row(&format!("openings {kind}"), fault);
    }
    row("seed", plan.seed.to_string());
    row("schedule", rules_text(&plan.design, plan.engines.len(), plan.sprt.is_some()));
    if let Some(summary) = summary {
        row("games counted", summary.counts.games().to_string());
    }
    let by_workers = "decided by the workers (--slots)".to_owned();
    row("concurrency", concurrency.map_or(by_workers, |number| number.to_string()));
    row("processors", processors(plan));
    if let Some(scale) = plan.scale {
        row("time", scale.describe());
    }
    if let Some(sprt) = plan.sprt {
        let label = if plan.kind == RunKind::Ablate { "test of each feature" } else { "test" };
        row(label, strength::hypotheses(&sprt));
    }
    plan.rules.describe().into_iter().for_each(|rule| row("adjudication", rule));
    row("fault limit", format!("{} of the games", percent(Some(plan.fault_limit))));
    if let Some(contention) = summary.and_then(contention) {
        row("CPU contention", contention);
    }
    for excluded in summary.iter().flat_map(|summary| &summary.excluded) {
        row("excluded", excluded.to_string());
    }
    document.table(table);
}

fn processors(plan: &Plan) -> String {
    match (&plan.affinity, cpus_per_game(&plan.engines)) {
        (Affinity::None, _) => "chosen by the system".to_owned(),
        (affinity, each) => format!("{affinity}, {each} for each game"),
    }
}

fn program(engine: &Engine) -> String {
    let name = match (&engine.provenance, &engine.program) {
        (Some(from), _) => format!("{} at {}", from.repo.display(), from.describe()),
        (None, Some(path)) => path.display().to_string(),
        (None, None) => "Palimpsest, bundled".to_owned(),
    };
    std::iter::once(name).chain(engine.args.iter().cloned()).collect::<Vec<_>>().join(" ")
}

/// Describes the excluded and the corrected openings of the book. Each item has a label and a line
/// of text.
pub(super) fn book_facts(summary: &Summary) -> impl Iterator<Item = (&'static str, String)> {
    let kinds = [
        ("excluded", "excluded as invalid", &summary.quarantine),
        ("corrected", "corrected", &summary.corrected),
    ];
    kinds.into_iter().filter(|(_, _, faults)| !faults.is_empty()).map(|(kind, how, faults)| {
        let first = faults.faults.first().map_or("", String::as_str);
        (kind, format!("{} {how}; the first: {first}", faults.count))
    })
}

/// Describes the time that engines waited for a processor, and the pairs affected by CPU
/// contention. Returns `None` if no waiting time was measured and no pair was affected.
pub(super) fn contention(summary: &Summary) -> Option<String> {
    let names = &summary.engines;
    let shares = (0..names.len()).map(|engine| summary.latencies.waiting_share(engine..=engine));
    let shares: Vec<f64> = shares.flatten().collect();
    let waited = match shares[..] {
        [] => None,
        [first, second] if names.len() == 2 => {
            let [first, second] = [first, second].map(|share| percent(Some(share)));
            let (one, other) = (&names[0], &names[1]);
            let waited = format!("{one} waited for a processor for {first} of its thinking time");
            Some(format!("{waited}, {other} for {second}"))
        }
        _ => Some(format!(
            "engines waited for a processor for at most {} of their thinking time",
            percent(shares.into_iter().reduce(f64::max))
        )),
    };
    let Disturbances { voided, counted } = summary.disturbances;
    let decided = (voided + counted > 0)
        .then(|| format!("pairs with CPU contention: {voided} played again, {counted} counted"));
    let parts: Vec<String> = [waited, decided].into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
