//! Whether flags that are given with `--resume` ask for the run that is to go on.

use super::resolve;
use crate::{Failure, RequestedRun};
use arbiter_plan::{Difference, Plan, RunKind, difference, filled};

/// Flags that may be other when a run goes on, or that decide none of its games.
const FREE_FLAGS: [&str; 22] = [
    "resume",
    "resume-or-start",
    "name",
    "results",
    "config",
    "cache",
    "no-bench",
    "no-probe",
    "pass-env",
    "about",
    "concurrency",
    "affinity",
    "pgn",
    "format",
    "quiet",
    "verbose",
    "color",
    "on",
    "priority",
    "lease",
    "audit",
    "insecure",
];

/// Flags that name engines.
const ENGINES: [&str; 4] = ["engine", "eval", "test", "base"];

/// Flags of which the engines of a plan are made, limits included.
const ENGINE_FLAGS: [&str; 9] =
    ["engine", "eval", "each", "test", "base", "repo", "sandbox", "scale", "reference-nps"];

/// Flags of the test of what was tuned, which are not of the run itself.
const CONFIRM_FLAGS: [&str; 4] = ["confirm", "confirm-pairs", "elo0", "elo1"];

/// Flags of what is written of a game.
const OUTPUT_FLAGS: [&str; 8] =
    ["pgn-fields", "pgn-match", "pgn-minimal", "notation", "event", "site", "epd", "transcripts"];

/// An error says which of the flags that were given asks for something else than the run does that is to
/// go on.
pub(super) fn check(
    kind: RunKind,
    name: &str,
    plan: &Plan,
    mut requested: RequestedRun,
) -> Result<(), Failure> {
    let mut given = std::mem::take(&mut requested.given);
    given.retain(|flag| !FREE_FLAGS.contains(&flag.as_str()) && !flag.starts_with("nats-"));
    if kind == RunKind::Tune {
        given.retain(|flag| !CONFIRM_FLAGS.contains(&flag.as_str()));
    }
    if given.is_empty() {
        return Ok(());
    }
    let other = |before: &str, now: &str| {
        Err(Failure::invalid(format!(
            "run '{name}' was started with {before}, and now it is {now}; leave the flag out, or start \
             another run with --name"
        )))
    };
    let has = |flags: &[&str]| flags.iter().any(|flag| given.contains(*flag));
    if !has(&ENGINES) {
        requested.request.engines.clear();
    }
    // A line that may start the run says all of the engines that it names.
    let is_whole = requested.may_start && has(&ENGINES);
    requested.request = filled(std::mem::take(&mut requested.request), plan, is_whole);
    requested.name = None;
    let mut asked = resolve(kind, &mut requested)?;
    let mut own = plan.clone();
    for (asked, own) in asked.engines.iter_mut().zip(&mut own.engines) {
        // It may have been found out.
        asked.launch.protocol = own.launch.protocol;
        // In whichever order they are told.
        asked.options.sort();
        own.options.sort();
    }
    let matters = |flag: &str| match flag {
        "concurrency" | "affinity" => false,
        "engine" | "each" => has(&ENGINE_FLAGS),
        "pairs" => has(&["pairs", "games", "rounds", "iterations"]),
        "param" => has(&["param", "params", "spins"]),
        "elo0" | "elo1" => has(&[flag, "sprt"]),
        _ => given.contains(flag),
    };
    if let Some(Difference { before, now }) = difference(&own, &asked, matters) {
        return other(&before, &now);
    }
    let written = |plan: &Plan| (plan.annotation.clone(), plan.epd.clone(), plan.transcripts);
    match has(&OUTPUT_FLAGS) && written(plan) != written(&asked) {
        true => other("other settings of what is written of games", "not the same"),
        false => Ok(()),
    }
}
