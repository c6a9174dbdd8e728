//! What is said around a run: what will be played, how to go on.

use std::path::Path;

use super::Prepared;
use crate::config::affinity::list;
use crate::openings::quarantine;
use crate::report::standings::rules_in_words;
use crate::report::terminal::note;
use crate::report::tuned;
use crate::run::seats::places_of;

/// Says what will be played.
pub(super) fn announce(prepared: &Prepared) {
    let Prepared { name, plan, book, state, .. } = prepared;
    let engines: Vec<String> = plan
        .own_engines()
        .map(|(name, engine)| format!("{name} ({})", engine.conditions.limits))
        .collect();
    note(&format!("run {name}: {}", engines.join(" v ")));
    if let Some(ablation) = &plan.ablation {
        note(&format!("against itself without {}", ablation.features.join(", ")));
    }
    if let Some(tuning) = &plan.tuning {
        note(&format!("tuning {}", tuned::names(tuning)));
        note(&format!("SPSA: {}", tuned::schedule(tuning)));
    }
    let left_out = book.quarantine();
    for line in left_out.first(quarantine::KEPT) {
        note(&format!("left out: {line}"));
    }
    let without = match left_out.count {
        0 => String::new(),
        count => format!(" ({count} bad left out)"),
    };
    note(&format!(
        "{} openings from {}{without}, seed {}, {} games at once",
        book.len(),
        book.name(),
        plan.seed,
        plan.concurrency,
    ));
    if plan.tuning.is_none() {
        note(&rules_in_words(&plan.design, plan.engines.len()));
    }
    for rule in plan.rules.words() {
        note(&rule);
    }
    let games = places_of(plan).unwrap_or_default();
    let games: Vec<String> = games.iter().take(plan.concurrency).map(|cpus| list(cpus)).collect();
    if !games.is_empty() {
        note(&format!("processors of the games at once: {}", games.join(" | ")));
    }
    if let Some(sprt) = plan.sprt {
        note(&format!(
            "SPRT: {} Elo {} against {}, alpha {}, beta {}, overshoot correction {}",
            sprt.model().as_str(),
            sprt.elo0(),
            sprt.elo1(),
            sprt.alpha(),
            sprt.beta(),
            sprt.correction().as_str()
        ));
    }
    let counted = state.counted().count();
    if counted > 0 {
        note(&format!("{counted} pairs are counted already"));
    }
}

/// The command that goes on with a run.
pub(super) fn go_on(prepared: &Prepared) -> String {
    let Prepared { name, plan, results, .. } = prepared;
    format!("arbiter {} --results {} --resume {name}", plan.kind.as_str(), quoted(results))
}

/// The command that shows a run again.
pub(super) fn show(name: &str, results: &Path) -> String {
    format!("arbiter results --results {} show {name}", quoted(results))
}

/// A path as a shell wants it.
fn quoted(path: &Path) -> String {
    shell_words::quote(&path.to_string_lossy()).into_owned()
}
