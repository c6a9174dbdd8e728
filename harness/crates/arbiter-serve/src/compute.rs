//! Pages that are made for one viewer, from the store as it is at the moment.

use std::path::Path;

use super::fold::Fold;
use crate::web::compare::{self, ComparedRun};
use crate::web::trends;
use crate::web::{NavPage, static_page};
use arbiter_plan::{Effect, command_line};
use arbiter_report::{LlrHistory, LogEntry, Summary, gates_table, utc_time};
use arbiter_store::{Store, StoreError, StoredRun};

/// Runs side by side.
pub(crate) fn compare(results: &Path, runs: &[String]) -> Result<String, StoreError> {
    let store = Store::observe(results)?;
    let runs: Result<Vec<_>, _> = runs.iter().map(|run| compared(&store, run)).collect();
    Ok(static_page(NavPage::Other, &compare::compare(&runs?)))
}

fn compared(store: &Store, run: &str) -> Result<ComparedRun, StoreError> {
    let mut history = LlrHistory::default();
    let fold = Fold::begin(store, run, |effect| {
        if let Effect::Count { tally, sprt_status } = effect {
            history.count(&tally, sprt_status);
        }
    })?;
    let summary = fold.summary(store)?;
    let history = if summary.engines.len() == 2 { history.points() } else { Vec::new() };
    let settings = settings(&fold.stored, &summary);
    Ok(ComparedRun { summary, started: utc_time(fold.stored.head.created_ms), history, settings })
}

/// What decides what the figures of a run mean.
fn settings(stored: &StoredRun, summary: &Summary) -> Vec<(&'static str, String)> {
    let plan = &stored.plan;
    let all = |values: Vec<String>| values.join("; ");
    let limits = summary.limits().map(|limits| limits.to_string()).collect();
    let short = |hash: &String| hash.chars().take(16).collect::<String>();
    let hashes = stored.fingerprints.engines.iter().map(short).collect();
    vec![
        ("kind", plan.kind.to_string()),
        ("engines", all(summary.engines.clone())),
        ("programs (BLAKE3)", all(hashes)),
        ("limits", all(limits)),
        ("openings (BLAKE3)", short(&stored.fingerprints.book)),
        ("adjudication", all(plan.rules.words())),
        ("concurrency", plan.concurrency.to_string()),
        ("seed", plan.seed.to_string()),
        ("arbiter", stored.version.clone()),
        ("command", command_line(plan)),
    ]
}

/// What came of commits.
pub(crate) fn trends(results: &Path) -> Result<String, StoreError> {
    let store = match Store::observe(results) {
        Err(StoreError::Missing(_)) => {
            return Ok(static_page(NavPage::Trends, &trends::trends(&[], None)));
        }
        store => store?,
    };
    let mut trials = Vec::new();
    for outline in store.outlines()? {
        let stored = store.run(&outline.run)?;
        if let [first, _] = &stored.plan.engines[..]
            && first.provenance.is_some()
        {
            let summary = Fold::begin(&store, &outline.run, |_| ())?.summary(&store)?;
            trials.push(LogEntry { started: utc_time(stored.head.created_ms), summary });
        }
    }
    let steps = store.gates(None)?;
    let gates = (!steps.is_empty()).then(|| gates_table(&steps));
    Ok(static_page(NavPage::Trends, &trends::trends(&trials, gates)))
}
