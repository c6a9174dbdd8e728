//! Verdict or state of a run, in sentences.

use crate::figures::{Summary, Verdict};
use crate::parts::{Tone, percent, ratio};
use arbiter_names::quantity;
use arbiter_plan::RunKind;
use arbiter_run::{RunEnd, overload};
use arbiter_spsa::SpsaState;
use arbiter_stats::Sprt;

/// Returns the verdict of a run (or, if there is no verdict, the state of the run), and any
/// warnings.
pub fn verdict_sentence(summary: &Summary) -> String {
    let [first, second] =
        [0, 1].map(|index| summary.engines.get(index).map_or("?", String::as_str));
    let decided = |hypothesis, relation, sprt: Sprt| {
        let Sprt { elo0, elo1, model, .. } = sprt;
        format!(
            "{hypothesis} accepted: {first} {relation} {second} (H1: {model} Elo {elo1}; H0: \
             {model} Elo {elo0})."
        )
    };
    // A negative lower bound means that a small loss is acceptable, so an accepted H1 does not show
    // that the first engine is stronger.
    let (better, worse) = match summary.plan.sprt {
        Some(sprt) if sprt.elo0 < 0.0 => {
            ("passed the non-regression test against", "failed the non-regression test against")
        }
        _ => ("beats", "does not beat"),
    };
    let mut sentence = match (summary.verdict(), summary.plan.sprt) {
        (Verdict::H1, Some(sprt)) => decided("H1", better, sprt),
        (Verdict::H0, Some(sprt)) => decided("H0", worse, sprt),
        _ => open_sentence(summary),
    };
    let suspect = summary.disturbances.counted;
    if suspect > 0 {
        let games = summary.counts.games();
        let pairs = if summary.plan.design.is_single { games } else { games / 2 }.max(suspect);
        let share = percent(Some(suspect as f64 / pairs as f64));
        sentence += &format!(
            "\nWarning: CPU contention may have decided {share} of the pairs ({suspect} of {pairs})."
        );
    }
    if summary.is_invalid() {
        let share = 100.0 * summary.counts.fault_share();
        let limit = 100.0 * summary.plan.fault_limit;
        let overload = overload(&summary.plan, &summary.counts, &summary.latencies);
        let cause = overload.map(|overload| format!("{overload}; ")).unwrap_or_default();
        return format!(
            "INVALID: {cause}engines failed in {share:.1} % of the games, more than the fault limit of \
             {limit:.1} %.\n{sentence}"
        );
    }
    sentence
}

fn open_sentence(summary: &Summary) -> String {
    if let Some(spsa) = &summary.spsa {
        return tuning(summary, spsa);
    }
    let is_exhausted = summary.counts.is_exhausted && summary.ending == Some(RunEnd::Complete);
    let state = match (summary.ending, summary.plan.kind) {
        _ if summary.is_mirrored() && summary.is_over() => {
            "Identical moves in both games of all pairs: non-functional change, or identical engines."
        }
        (_, RunKind::Sprt) if is_exhausted => {
            "Inconclusive: all openings were played, and a whole pass through the book only repeated\n\
             games. Use a larger book or a time control to get new games."
        }
        (_, RunKind::Match | RunKind::Tournament) if is_exhausted => {
            "Complete: all openings were played, and a whole pass through the book only repeated games."
        }
        (_, RunKind::Sprt) if summary.is_over() => {
            "Inconclusive: the maximum number of pairs was reached before a verdict."
        }
        (_, RunKind::Ablate) if summary.is_over() && summary.plan.sprt.is_some() => {
            "Complete: all tests have a verdict or reached the maximum number of pairs."
        }
        _ if summary.is_over() => "Complete: all pairs were played.",
        (Some(_), _) => "Unfinished: the run was interrupted and can be resumed.",
        (None, _) if summary.is_played => "Running.",
        (None, _) if summary.is_invalid() => {
            return "Unfinished: engine faults exceeded the limit.".to_owned();
        }
        (None, _) => "Unfinished: the run is being played, or was killed and can be resumed.",
    };
    match summary.test().filter(|_| !summary.is_over()) {
        Some((_, sprt_status)) => {
            let games = quantity(summary.counts.games(), "game");
            format!("{state}\nNo verdict yet: LLR {} after {games}.", ratio(sprt_status))
        }
        None => state.to_owned(),
    }
}

/// Returns the state of a tuning run; if the run is complete, also the command that tests the tuned
/// values.
fn tuning(summary: &Summary, spsa: &SpsaState) -> String {
    let done = spsa.finished();
    let all = spsa.tuning().iterations;
    match summary.ending {
        Some(RunEnd::Complete) => format!(
            "Complete: all {all} iterations were played. Test the values against the initial values: \
             arbiter tune --resume {} --confirm",
            summary.run
        ),
        Some(_) => format!(
            "Unfinished: the user stopped the run after {done} of {all} iterations; the run can be \
             resumed."
        ),
        None if summary.is_played => format!("Running: {done} of {all} iterations played."),
        None => format!(
            "Unfinished after {done} of {all} iterations: the run is being played, or was killed and \
             can be resumed."
        ),
    }
}

/// Returns the tone of the verdict or state.
pub(super) fn verdict_tone(summary: &Summary) -> Tone {
    match summary.verdict() {
        Verdict::H0 => Tone::Bad,
        _ if summary.is_invalid() => Tone::Bad,
        Verdict::H1 => Tone::Good,
        Verdict::None if summary.ending == Some(RunEnd::Complete) => Tone::Good,
        Verdict::Inconclusive | Verdict::None => Tone::Open,
    }
}
