//! Pages computed for each request from the current state of the store.

use std::path::Path;

use super::fold::Fold;
use super::http_error::HttpError;
use crate::web::compare::{self, ComparedRun};
use crate::web::static_page;
use arbiter_report::{LlrHistory, Summary, short_hash, sprt_bounds_text, utc_time_as};
use arbiter_run::Effect;
use arbiter_settings::command_flags;
use arbiter_store::{Store, StoreError, StoredRun};

/// Returns the page that compares runs.
pub(crate) fn compare(results: &Path, runs: &[String]) -> Result<String, HttpError> {
    let store = Store::observe(results)?;
    let runs: Result<Vec<_>, _> = runs.iter().map(|run| compare_run(&store, run)).collect();
    Ok(static_page(&compare::compare(&runs?)))
}

fn compare_run(store: &Store, run: &str) -> Result<ComparedRun, StoreError> {
    let mut history = LlrHistory::default();
    let (fold, summary) = Fold::begin(store, run, |effect| {
        if let Effect::Count { tally, sprt_status } = effect {
            history.count(&tally, sprt_status);
        }
    })?;
    let history = if summary.engines.len() == 2 { history.points() } else { Vec::new() };
    let settings = settings(&fold.stored, &summary);
    let started = utc_time_as(fold.stored.head.created_ms, "%Y-%m-%d %H:%M");
    let flags = command_flags(&fold.stored.plan);
    Ok(ComparedRun { summary, started, history, settings, flags })
}

/// Returns the settings of a run. The comparison shows settings that differ between runs.
fn settings(stored: &StoredRun, summary: &Summary) -> Vec<(&'static str, String)> {
    let plan = &stored.plan;
    let all = |values: Vec<String>| values.join("; ");
    let limits = summary.limits().map(|limits| limits.to_string()).collect();
    let hashes = stored.fingerprints.engines.iter().map(|hash| short_hash(hash)).collect();
    vec![
        ("kind", plan.kind.to_string()),
        ("engines", all(summary.engines.clone())),
        ("programs (BLAKE3)", all(hashes)),
        ("test", plan.sprt.as_ref().map_or("none".to_owned(), sprt_bounds_text)),
        ("limits", all(limits)),
        ("openings (BLAKE3)", short_hash(&stored.fingerprints.book)),
        ("adjudication", all(plan.rules.describe())),
        ("concurrency", plan.concurrency.to_string()),
        ("arbiter", stored.version.clone()),
    ]
}
