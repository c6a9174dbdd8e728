//! Pages computed for one viewer, from the current state of the store.

use std::collections::HashMap;
use std::path::Path;

use super::asked::Asked;
use super::fold::Fold;
use super::games::Found;
use crate::web::compare::{self, ComparedRun};
use crate::web::trends::{self, Branch};
use crate::web::{NavPage, static_page};
use arbiter_build::Repository;
use arbiter_plan::{Effect, Provenance};
use arbiter_report::{
    LlrHistory, LogEntry, Summary, gates_table, read_one, sprt_in_words, utc_time_as,
};
use arbiter_settings::command_line;
use arbiter_store::{Store, StoreError, StoredRun};

/// Format of times on pages.
const MINUTES: &str = "%Y-%m-%d %H:%M";

/// Returns the page that compares runs.
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
    let begun = utc_time_as(fold.stored.head.created_ms, MINUTES);
    let command = command_line(&fold.stored.plan);
    Ok(ComparedRun { summary, begun, history, settings, command })
}

/// Returns the settings on which the meaning of a run's figures depends.
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
        ("test", plan.sprt.as_ref().map_or("none".to_owned(), sprt_in_words)),
        ("limits", all(limits)),
        ("openings (BLAKE3)", short(&stored.fingerprints.book)),
        ("adjudication", all(plan.rules.words())),
        ("concurrency", plan.concurrency.to_string()),
        ("arbiter", stored.version.clone()),
    ]
}

/// Number of the latest commits of a branch that are read.
const MAX_COMMITS: usize = 10_000;

/// Number of branches that can be chosen, those with the latest commits.
const MAX_BRANCHES: usize = 50;

/// Returns the page with the results of commits: of all in the order of their tests, or of those of
/// a branch in its order.
pub(crate) fn trends(results: &Path, asked: &Asked) -> Found<String> {
    let mut trials = Vec::new();
    let (mut gates, mut unread) = (None, Vec::new());
    match Store::observe(results) {
        Err(StoreError::Missing(_)) => {}
        Err(error) => return Err(error),
        Ok(store) => {
            for outline in store.outlines()? {
                let read = read_one(|| {
                    let stored = store.run(&outline.run)?;
                    let [first, _] = &stored.plan.engines[..] else { return Ok(None) };
                    let fold = |_| Fold::begin(&store, &outline.run, |_| ())?.summary(&store);
                    first.provenance.as_ref().map(fold).transpose()
                });
                match read {
                    Ok(Some(summary)) => {
                        let started = utc_time_as(outline.created_ms, MINUTES);
                        trials.push(LogEntry { started, summary });
                    }
                    Ok(None) => {}
                    Err(why) => unread.push(format!("{} cannot be read: {why}.", outline.run)),
                }
            }
            let steps = store.gates(None)?;
            gates = (!steps.is_empty()).then(|| gates_table(&steps));
        }
    }
    // The repository of the latest trial may no longer exist.
    let repository = trials.last().and_then(|trial| Repository::open(&commit_of(trial)?.repo).ok());
    let branches =
        repository.as_ref().map_or(Vec::new(), |repository| repository.branches(MAX_BRANCHES));
    let branch = match (asked.given("branch"), repository) {
        (None, _) => None,
        (Some(name), Some(repository)) if branches.iter().any(|known| known == name) => {
            let order = match repository.first_parents(name, MAX_COMMITS) {
                Ok(order) => order,
                Err(error) => return Ok(Err(format!("{error}."))),
            };
            let all = trials.len();
            in_order(&mut trials, &order, |trial| Some(&commit_of(trial)?.commit));
            Some(Branch { name: name.to_owned(), elsewhere: all - trials.len() })
        }
        (Some(name), _) => return Ok(Err(format!("No branch is named '{name}'."))),
    };
    let mut document = trends::trends(&trials, branch.as_ref(), gates);
    unread.into_iter().for_each(|text| document.paragraph(text));
    Ok(Ok(trends::trends_page(asked, &branches, &document)))
}

/// Returns the origin of the first engine.
fn commit_of(trial: &LogEntry) -> Option<&Provenance> {
    trial.summary.plan.engines.first()?.provenance.as_ref()
}

/// Keeps the entries of these commits, and sorts them from the oldest to the latest; `order` begins
/// with the latest.
fn in_order<T>(found: &mut Vec<T>, order: &[String], commit: impl Fn(&T) -> Option<&String>) {
    let places: HashMap<&String, usize> = order.iter().rev().zip(0..).collect();
    let place = |one: &T| places.get(commit(one)?).copied();
    found.retain(|one| place(one).is_some());
    found.sort_by_key(place);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_come_in_the_order_of_their_branch() {
        let own = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let mut tested = own(&["c", "lost", "a", "c", "b"]);
        in_order(&mut tested, &own(&["d", "c", "b", "a"]), |commit| Some(commit));
        assert_eq!(tested, ["a", "b", "c", "c"]);
    }
}
