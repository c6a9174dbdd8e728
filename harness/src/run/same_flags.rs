//! Comparison of the flags given with `--resume` with the settings of the stored run.

use super::start::resolve_plan;
use crate::{failure::Failure, requested_run::RequestedRun};
use arbiter_plan::{Plan, RunKind};
use arbiter_settings::{OnResume, difference, filled, on_resume};

/// Fails if a flag differs from the settings of the run to resume.
pub(super) fn check(
    kind: RunKind,
    name: &str,
    plan: &Plan,
    mut requested: RequestedRun,
) -> Result<(), Failure> {
    let mut given = std::mem::take(&mut requested.given);
    let is_checked = |flag: &str| match on_resume(flag) {
        OnResume::Free => false,
        // In a tuning run, these flags apply to the confirmation of the tuned values, which is a
        // separate run.
        OnResume::Bound => kind != RunKind::Tune,
        _ => true,
    };
    given.retain(|flag| is_checked(flag));
    if given.is_empty() {
        return Ok(());
    }
    let other = |before: &str, now: &str, hint: &str| {
        let reason = format!("run '{name}' was started with {before}, not {now}\nhint: {hint}");
        Err(Failure::invalid(reason))
    };
    let hint = "remove the flag, or start another run with --name";
    let has = |class| given.iter().any(|flag| on_resume(flag) == class);
    let names_engines = ["engine", "eval", "dev", "base"].iter().any(|flag| given.contains(*flag));
    if !names_engines {
        requested.request.engines.clear();
    }
    // With --resume-or-start, the command line may also start the run, so it names all engines.
    let is_whole = requested.flags.resume_or_start && names_engines;
    requested.request = filled(std::mem::take(&mut requested.request), plan, is_whole);
    requested.flags.name = None;
    let mut wanted = resolve_plan(kind, &mut requested)?;
    let mut stored = plan.clone();
    for (wanted, stored) in wanted.engines.iter_mut().zip(&mut stored.engines) {
        // The protocol may have been detected when the run started, without a flag that selects it.
        wanted.launch.protocol = stored.launch.protocol;
        // The order of options does not matter.
        wanted.options.sort();
        stored.options.sort();
    }
    let matters = |flag: &str| match on_resume(flag) {
        OnResume::Free => false,
        OnResume::Bound => given.contains(flag) || given.contains("sprt"),
        OnResume::Length if flag != "pairs" => given.contains(flag),
        class @ (OnResume::Engines | OnResume::Length | OnResume::Parameters) => has(class),
        OnResume::Fixed | OnResume::Written => given.contains(flag),
    };
    if let Some([before, now]) = difference(&stored, &wanted, matters) {
        let longer = more_pairs(&stored, &wanted).filter(|_| before.starts_with("--pairs "));
        return other(&before, &now, longer.as_deref().unwrap_or(hint));
    }
    let written = |plan: &Plan| (plan.annotation.clone(), plan.epd.clone(), plan.transcripts);
    if has(OnResume::Written) && written(plan) != written(&wanted) {
        other("other settings for the records of games", "these", hint)
    } else {
        Ok(())
    }
}

/// Returns the hint for a longer match: the additional pairs can be played as another run with
/// other openings.
fn more_pairs(stored: &Plan, wanted: &Plan) -> Option<String> {
    let more = wanted.design.pairs.checked_sub(stored.design.pairs).filter(|more| *more > 0)?;
    let is_match =
        stored.kind == RunKind::Match && stored.engines.len() == 2 && stored.design.rounds == 1;
    let next = stored.opening_start + stored.design.pairs + 1;
    is_match.then(|| {
        format!(
            "the number of pairs cannot change; play {more} more pairs as another run, with the \
             next openings: --name NAME --pairs {more} --seed {} --openings start={next}",
            stored.seed
        )
    })
}
