//! What is said before the first game.

use super::Prepared;
use crate::config::affinity::list;
use crate::openings::quarantine;
use crate::report::standings::rules_in_words;
use crate::report::terminal::note;
use crate::run::seats::places_of;

/// Says what will be played.
pub(super) fn announce(prepared: &Prepared) {
    let Prepared { name, plan, book, state, .. } = prepared;
    // The others of an ablation are named by the feature they lack.
    let shown = if plan.ablation.is_some() { 1 } else { plan.engines.len() };
    let engines: Vec<String> = plan.engines[..shown]
        .iter()
        .map(|engine| format!("{} ({})", engine.name, engine.conditions.limits))
        .collect();
    note(&format!("run {name}: {}", engines.join(" v ")));
    if let Some(ablation) = &plan.ablation {
        note(&format!("against itself without {}", ablation.features.join(", ")));
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
    note(&rules_in_words(&plan.design, plan.engines.len()));
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
