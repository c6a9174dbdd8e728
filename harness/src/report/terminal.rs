//! The end of a run as text for a terminal.

use std::fmt::Write as _;
use std::io::Write as _;

use crate::config::plan::Kind;
use crate::config::tuning::base_name;
use crate::report::latency;
use crate::report::standings_text;
use crate::report::status::{interval, percent, plus_minus};
use crate::report::summary::{Strength, Summary, Verdict};
use crate::report::table::Table;
use crate::report::tuned;
use crate::report::worth;
use crate::run::event::Ending;
use crate::run::noise::Disturbances;
use crate::stats::sequential::SequentialEstimate;
use crate::stats::sprt::{Correction, Sprt};
use crate::stats::watch::Look;
use crate::tune::ascent::Ascent;

/// The summary in some ten lines; the last one is the verdict as a sentence.
pub fn render(summary: &Summary) -> String {
    let mut text = String::new();
    let strength = summary.strength();
    line(&mut text, "Run", format!("{} (seed {})", summary.run, summary.seed));
    if let Some(about) = &summary.about {
        line(&mut text, "About", about);
    }
    // The others of an ablation are named by the feature they lack.
    let is_one = summary.ablation.is_some() || summary.ascent.is_some();
    let shown = if is_one { 1 } else { summary.engines.len() };
    for (name, limits) in summary.engines.iter().zip(&summary.limits).take(shown) {
        let name = if summary.ascent.is_some() { base_name(name) } else { name };
        line(&mut text, "Engine", format!("{name}, {limits}"));
    }
    for (name, from) in summary.engines.iter().zip(&summary.provenance) {
        if let Some(from) = from {
            line(&mut text, "Built", format!("{name}: {}", from.words()));
        }
    }
    if let Some(scale) = summary.scale {
        line(&mut text, "Scale", scale.words());
    }
    if let Some(ascent) = &summary.ascent {
        tuning_lines(&mut text, summary, ascent);
    } else if summary.ablation.is_some() {
        text.push_str(&worth::table(summary).sharp());
    } else if summary.engines.len() == 2 {
        strength_lines(&mut text, &strength, summary.after_stop());
    }
    if summary.is_single {
        line(&mut text, "Unit", "games: each opening was played once, colours are not balanced");
    }
    if let Some(standings) = &summary.standings {
        text.push_str(&standings_text::render(standings, &summary.engines));
        text.push('\n');
        text.push_str(&encounter_table(summary));
    }
    if let Some((sprt, look)) = summary.test().filter(|_| summary.ablation.is_none()) {
        line(&mut text, "LLR", sprt_text(&sprt, look));
        line(&mut text, "Bounds", bounds_text(&sprt));
    }
    if !summary.quarantine.is_empty() {
        line(&mut text, "Openings", left_out(summary));
    }
    if let Some(noise) = host_noise(summary).filter(|_| summary.disturbances != Default::default())
    {
        line(&mut text, "Noise", noise);
    }
    line(&mut text, "Endings", terminations(summary));
    line(&mut text, "Faults", faults(summary));
    text.push_str(&latency::terminal(summary));
    text.push('\n');
    if summary.ablation.is_some() {
        let notes = worth::notes(summary).into_iter().chain([worth::conclusion(summary)]);
        notes.for_each(|note| text.push_str(&format!("{note}\n")));
    }
    text.push_str(&verdict_sentence(summary));
    text.push('\n');
    text
}

/// A line on standard error. A reader that went away, as when a terminal closes, must not end a
/// run, so a failure to print is no error.
pub fn note(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

fn line(text: &mut String, label: &str, value: impl AsRef<str>) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{label:<8} {}", value.as_ref());
}

/// The values of a tuning, ready to be used.
fn tuning_lines(text: &mut String, summary: &Summary, ascent: &Ascent) {
    let games = summary.strength().games;
    line(
        text,
        "Games",
        format!(
            "{}: {} won, {} drawn, {} lost by the first sides",
            games.games(),
            games.wins,
            games.draws,
            games.losses
        ),
    );
    line(text, "Tuning", tuned::names(ascent.tuning()));
    line(text, "SPSA", tuned::schedule(ascent.tuning()));
    text.push_str(&tuned::table(ascent).sharp());
    tuned::notes(summary, ascent).iter().for_each(|note| line(text, "Note", note));
    text.push('\n');
    text.push_str(&tuned::options(ascent));
    let changed = tuned::assignments(ascent);
    if !changed.is_empty() {
        text.push('\n');
        text.push_str(&changed);
    }
    text.push('\n');
}

fn strength_lines(text: &mut String, strength: &Strength, after: Option<SequentialEstimate>) {
    let games = strength.games;
    line(
        text,
        "Games",
        format!(
            "{}: {} won, {} drawn, {} lost",
            games.games(),
            games.wins,
            games.draws,
            games.losses
        ),
    );
    if strength.pairs.pairs() > 0 {
        let ptnml = format!("{:?} (LL, LD, DD+WL, WD, WW)", strength.pairs.0);
        line(text, "Pairs", format!("{}: {ptnml}", strength.pairs.pairs()));
    }
    let naive = format!("{} (95 %)", plus_minus(strength.elo.as_ref()));
    match after {
        None => line(text, "Elo", naive),
        Some(after) => {
            line(text, "Elo (naive)", naive);
            line(text, "Elo (after the stop)", format!("{} (95 %)", interval(&after.elo)));
        }
    }
    line(text, "nElo", format!("{} (95 %)", plus_minus(strength.nelo.as_ref())));
    line(text, "LOS", percent(strength.los));
}

/// A likelihood ratio with the bounds that hold now and what it compares.
pub(super) fn sprt_text(sprt: &Sprt, look: Look) -> String {
    let Look { llr, lower, upper, .. } = look;
    format!("{llr:+.2} [{lower:.2}, {upper:.2}] for {}", hypotheses(sprt))
}

/// What a test compares, and its error rates.
pub(super) fn hypotheses(sprt: &Sprt) -> String {
    format!(
        "{} Elo {} against {}, alpha {}, beta {}",
        sprt.model().as_str(),
        sprt.elo0(),
        sprt.elo1(),
        sprt.alpha(),
        sprt.beta()
    )
}

/// Where the bounds come from.
pub(super) fn bounds_text(sprt: &Sprt) -> String {
    let (lower, upper) = (sprt.bounds().lower(), sprt.bounds().upper());
    match sprt.correction() {
        Correction::None => "Wald's, without correction for overshoot".to_owned(),
        Correction::Dynamic => {
            format!("Wald's [{lower:.2}, {upper:.2}], moved inwards by the overshoot measured")
        }
    }
}

fn encounter_table(summary: &Summary) -> String {
    let heading = ["first", "second", "games", "won", "drawn", "lost", "Elo (95 %)"];
    let mut table = Table::new(heading);
    for (&[first, second], encounter) in &summary.standing.encounters {
        let strength = Strength::of(*encounter);
        let games = strength.games;
        table.push([
            summary.engines[first].clone(),
            summary.engines[second].clone(),
            games.games().to_string(),
            games.wins.to_string(),
            games.draws.to_string(),
            games.losses.to_string(),
            plus_minus(strength.elo.as_ref()),
        ]);
    }
    table.sharp()
}

/// What of the opening book was left out, in one line.
pub(super) fn left_out(summary: &Summary) -> String {
    let count = summary.quarantine.count;
    let first = summary.quarantine.faults.first().map_or("", String::as_str);
    format!("{count} of the book left out as bad; the first: {first}")
}

/// What the machine did to the games; `None` if it was not measured.
pub(super) fn host_noise(summary: &Summary) -> Option<String> {
    let Disturbances { voided, counted } = summary.disturbances;
    let limit = percent(Some(summary.noise_limit?));
    Some(match (voided, counted) {
        (0, 0) => format!("no pair lost more than {limit} to the machine"),
        (_, 0) => format!("{voided} times a pair was void and played again (limit {limit})"),
        _ => format!(
            "{voided} times a pair was void and played again, {counted} pairs count although they \
             were disturbed (limit {limit})"
        ),
    })
}

/// How the games ended, the most frequent way first.
pub(super) fn terminations(summary: &Summary) -> String {
    let mut counts: Vec<_> = summary.standing.terminations.iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let list: Vec<String> = counts.iter().map(|(t, count)| format!("{t} {count}")).collect();
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

/// Who failed, and how.
pub(super) fn faults(summary: &Summary) -> String {
    let faults = &summary.standing.faults;
    let list: Vec<String> = faults
        .iter()
        .map(|((engine, termination), count)| {
            format!("{} {termination} {count}", summary.engines[*engine])
        })
        .collect();
    if list.is_empty() { "none".to_owned() } else { list.join(", ") }
}

/// The verdict; what is left to be said of a run without one.
pub(super) fn verdict_sentence(summary: &Summary) -> String {
    let name = |index: usize| summary.engines.get(index).map_or("?", String::as_str);
    let bounds = |sprt: &Sprt| (sprt.elo0(), sprt.elo1());
    let sentence = match (summary.verdict(), summary.sprt) {
        (Verdict::H1, Some(sprt)) => {
            let (elo0, elo1) = bounds(&sprt);
            format!(
                "H1 accepted: {} beats {} (the test prefers {elo1} Elo to {elo0}).\n\
                 The naive Elo is from a test that stopped when it looked good; it leans upwards.",
                name(0),
                name(1)
            )
        }
        (Verdict::H0, Some(sprt)) => {
            let (elo0, elo1) = bounds(&sprt);
            format!(
                "H0 accepted: {} does not gain on {} (the test prefers {elo0} Elo to {elo1}).\n\
                 The naive Elo is from a test that stopped when it looked bad; it leans downwards.",
                name(0),
                name(1)
            )
        }
        _ => open_sentence(summary),
    };
    if summary.is_invalid() {
        let share = 100.0 * summary.standing.fault_share();
        let limit = 100.0 * summary.fault_limit;
        return format!(
            "{sentence}\nINVALID: engines failed in {share:.1} % of the games, more than the \
             {limit:.1} % of --fault-limit."
        );
    }
    sentence
}

fn open_sentence(summary: &Summary) -> String {
    if let Some(ascent) = &summary.ascent {
        return tuned::verdict(summary, ascent);
    }
    match (summary.ending, summary.kind) {
        (Some(Ending::Complete), Kind::Match | Kind::Tournament) => {
            "Complete: all pairs were played.".to_owned()
        }
        (Some(Ending::Complete | Ending::AcceptedH1 | Ending::AcceptedH0), Kind::Ablate) => {
            match summary.sprt {
                Some(_) => "Complete: all tests are decided or at their cap.".to_owned(),
                None => "Complete: all pairs were played.".to_owned(),
            }
        }
        (Some(Ending::Complete), Kind::Sprt) => {
            "Inconclusive: all pairs were played before the test could decide. Neither hypothesis is\n\
             accepted; the Elo after the stop allows for this end, too."
                .to_owned()
        }
        (Some(_), _) => "Unfinished: the run was interrupted and can be resumed.".to_owned(),
        (None, _) => {
            "Unfinished: the run is being played, or was killed and can be resumed.".to_owned()
        }
    }
}
