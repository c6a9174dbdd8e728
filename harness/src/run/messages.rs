//! Messages before and after a run: its engines, its workers, and the resume command.

use std::path::Path;

use super::{LoadedPlan, ReadyRun};
use crate::{
    exit_code::ExitCode, failure::Failure, fleet::Fleet, output::quoted, project::ResultsArg,
};
use arbiter_names::quantity;
use arbiter_openings::Book;
use arbiter_plan::{Engine, LaunchSettings, Plan, RunKind, cpu_list, default_concurrency};
use arbiter_report::{log_warn, note, repeats_text, rules_text, tuned_names, tuning_schedule};
use arbiter_runner::{RunError, cpu_sets_of};
use arbiter_store::{EngineHashes, Store};

/// Maximum number of excluded lines, and of corrected lines, that are quoted from a book.
const QUOTED_FAULTS: usize = 2;

/// Prints the settings of the run before its first game.
pub(super) fn announce(ready: &ReadyRun, book: &Book, fleet: Option<&Fleet>) {
    let ReadyRun { name, plan, state, .. } = ready;
    let engines = plan.own_engines();
    let engines = engines.map(|(name, engine)| format!("{name} ({})", engine.conditions.limits));
    let engines: Vec<String> = engines.collect();
    note(&format!("run {name}: {}", engines.join(" v ")));
    if let Some(ablation) = &plan.ablation {
        note(&format!("against itself without {}", ablation.features.join(", ")));
    }
    if let Some(tuning) = &plan.tuning {
        note(&format!("tuning {}", tuned_names(tuning)));
        note(&format!("SPSA: {}", tuning_schedule(tuning)));
    }
    let kinds = [
        ("excluded", "invalid excluded", &book.quarantine),
        ("corrected", "corrected", &book.corrected),
    ];
    for (label, _, faults) in kinds {
        faults.first(QUOTED_FAULTS).iter().for_each(|line| log_warn(&format!("{label}: {line}")));
    }
    let counts = kinds.iter().filter(|(.., faults)| !faults.is_empty());
    let mut counts: Vec<String> =
        counts.map(|(_, how, faults)| format!("{} {how}", faults.count)).collect();
    if book.duplicates > 0 {
        counts.push(format!("{} duplicates", book.duplicates));
    }
    let without =
        if counts.is_empty() { String::new() } else { format!(" ({})", counts.join(", ")) };
    let openings = quantity(book.len(), "opening");
    let concurrency = match fleet {
        None => format!(", concurrency {}{}", plan.concurrency, concurrency_reason(plan)),
        Some(_) => String::new(),
    };
    note(&format!("{openings} from {}{without}, seed {}{concurrency}", book.name, plan.seed));
    if let Some(words) = repeats_text(plan, book) {
        note(&words);
    }
    if let Some(fleet) = fleet {
        fleet.announce();
    }
    if plan.tuning.is_none() {
        note(&rules_text(&plan.design, plan.engines.len(), plan.sprt.is_some()));
    }
    for rule in plan.rules.describe() {
        note(&rule);
    }
    let games = cpu_sets_of(plan).unwrap_or_default();
    let games: Vec<String> =
        games.iter().take(plan.concurrency).map(|cpus| cpu_list(cpus)).collect();
    if !games.is_empty() {
        note(&format!("processors by game: {}", games.join(" | ")));
    }
    if let Some(sprt) = plan.sprt {
        note(&format!(
            "SPRT: {} Elo {} against {}, alpha {}, beta {}, overshoot correction {}",
            sprt.model, sprt.elo0, sprt.elo1, sprt.alpha, sprt.beta, sprt.correction
        ));
    }
    let pairs = state.counted_pairs().count();
    if pairs > 0 {
        note(&format!("{} already counted", quantity(pairs, "pair")));
    }
}

/// Prints notes about likely mistakes: engines without limits beside engines with limits, and
/// identical engines.
pub(super) fn note_engines(loaded: &LoadedPlan, without_limits: &[usize]) {
    let LoadedPlan { plan, fingerprints, .. } = loaded;
    for engine in without_limits.iter().filter_map(|index| plan.engines.get(*index)) {
        if without_limits.len() < plan.engines.len() {
            let name = &engine.name;
            let limits = engine.conditions.limits;
            note(&format!(
                "{name} has no limits and plays at {limits}; --each sets limits for all engines"
            ));
        }
    }
    // Names and paths do not affect play.
    let settings = |engine: &Engine| Engine {
        name: String::new(),
        program: None,
        launch: LaunchSettings { stderr: None, ..engine.launch.clone() },
        provenance: None,
        ..engine.clone()
    };
    let source =
        |engine: &Engine| engine.provenance.as_ref().map(|p| (p.commit.clone(), p.is_dirty));
    let engines: Vec<_> = plan.own_engines().zip(&fingerprints.engines).collect();
    for (index, ((one, engine), hashes)) in engines.iter().enumerate() {
        let is_same = |((_, other), its): &&((&str, &Engine), &EngineHashes)| {
            its == hashes && settings(other) == settings(engine) && source(other) == source(engine)
        };
        if let Some(((other, _), _)) = engines[index + 1..].iter().find(is_same) {
            note(&format!(
                "{one} and {other}: identical program and settings; any difference is noise"
            ));
        }
    }
}

/// Returns the reason for the default concurrency; empty for any other concurrency.
fn concurrency_reason(plan: &Plan) -> &'static str {
    match plan.is_timed() {
        is_timed if plan.concurrency != default_concurrency(is_timed) => "",
        true => " (one core stays free for timed games)",
        false => " (one game per core)",
    }
}

/// Prints the number of pairs that each worker has played, if workers played.
pub(super) fn note_worker_shares(store: &Store, run: &str) -> Result<(), Failure> {
    let shares = store.pairs_by_worker(run)?;
    let shares: Vec<String> =
        shares.iter().map(|(name, pairs)| format!("{name} {pairs}")).collect();
    if !shares.is_empty() {
        note(&format!("pairs by worker: {}", shares.join(", ")));
    }
    Ok(())
}

/// Returns a hint with the command that resumes a run.
pub(super) fn default_resume_hint(ready: &ReadyRun, fleet: Option<&Fleet>) -> String {
    let ReadyRun { name, plan, results, .. } = ready;
    let on = fleet.map(Fleet::flag).unwrap_or_default();
    format!("resume with: {}{on}", resume_command(name, plan.kind, results))
}

/// Returns the command that resumes a run, without the flags for workers.
pub(super) fn resume_command(run: &str, kind: RunKind, results: &Path) -> String {
    format!("arbiter {kind} --results {} --resume {run}", quoted(results))
}

/// Returns the command that shows a run again.
pub(super) fn show(name: &str, results: &Path) -> String {
    format!("{} show {name}", with_results("results", results))
}

/// Returns the command line of a subcommand, with `--results` if the results folder is not the
/// default.
pub(super) fn with_results(command: &str, results: &Path) -> String {
    let usual = ResultsArg::default().folder();
    if usual.is_ok_and(|usual| usual == results) {
        format!("arbiter {command}")
    } else {
        format!("arbiter {command} --results {}", quoted(results))
    }
}

/// Creates the failure for an error that ended a run; `show` is the command that shows the run, and
/// `resume_hint` is the hint that shows how to resume the run.
pub(super) fn failure(error: &RunError, show: &str, resume_hint: &str) -> Failure {
    let message = format!("{error}; finished pairs are stored\nhint: {resume_hint}");
    match error {
        RunError::Lost(_) => Failure::new(ExitCode::Cluster, message),
        RunError::TooManyFaults(_) => {
            let message = format!("{error}\nhint: see {show}; after fixing it, {resume_hint}");
            Failure::new(ExitCode::TooManyFaults, message)
        }
        RunError::Unsaved(_) => Failure::environment(format!("{error}\nhint: {resume_hint}")),
        RunError::Store(_) | RunError::Observer(_) | RunError::Environment(_) => {
            Failure::environment(message)
        }
    }
}
