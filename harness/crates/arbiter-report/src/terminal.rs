//! The end of a run as text for a terminal.

use std::fmt::Write as _;

use anstyle::Style;
use indicatif::ProgressBar;
use tabled::settings::width::Wrap;

use crate::ablation;
use crate::latency;
use crate::standings_text;
use crate::status::{interval, percent, plus_minus, results};
use crate::style::{BAD, GOOD, LABEL, OPEN, styled};
use crate::summary::{Strength, Summary, Verdict};
use crate::table::Table;
use crate::tuned;
use arbiter_plan::plan::Kind;
use arbiter_plan::run::event::Ending;
use arbiter_plan::run::noise::Disturbances;
use arbiter_plan::tuning::base_name;
use arbiter_spsa::SpsaState;
use arbiter_stats::sequential::SequentialEstimate;
use arbiter_stats::{Correction, Sprt, SprtStatus};

/// Columns of the names of values.
const LABEL_WIDTH: usize = 8;

/// The summary in some ten lines for a terminal of so many columns; the last one is the verdict as a
/// sentence. It is in colour, which whoever prints it may take out.
pub fn render(summary: &Summary, width: Option<usize>) -> String {
    let mut page = Page { text: String::new(), width };
    let strength = summary.strength();
    page.line("Run", format!("{} (seed {})", summary.run, summary.seed));
    if let Some(about) = &summary.about {
        page.line("About", about);
    }
    // The others of an ablation are named by the feature they lack.
    let is_one = summary.ablation.is_some() || summary.spsa.is_some();
    let shown = if is_one { 1 } else { summary.engines.len() };
    for (name, limits) in summary.engines.iter().zip(&summary.limits).take(shown) {
        let name = if summary.spsa.is_some() { base_name(name) } else { name };
        page.line("Engine", format!("{name}, {limits}"));
    }
    for (name, from) in summary.engines.iter().zip(&summary.provenance) {
        if let Some(from) = from {
            page.line("Built", format!("{name}: {}", from.words()));
        }
    }
    if let Some(scale) = summary.scale {
        page.line("Scale", scale.words());
    }
    if let Some(spsa) = &summary.spsa {
        tuning_lines(&mut page, summary, spsa);
    } else if summary.ablation.is_some() {
        page.text.push_str(&ablation::table(summary).fitted(width));
    } else if summary.engines.len() == 2 {
        strength_lines(&mut page, &strength, summary.after_stop());
    }
    if summary.is_single {
        page.line("Unit", "games: each opening was played once, colours are not balanced");
    }
    if let Some(standings) = &summary.standings {
        page.text.push_str(&standings_text::render(standings, &summary.engines, width));
        page.text.push('\n');
        page.text.push_str(&encounter_table(summary).fitted(width));
    }
    if let Some((sprt, sprt_status)) = summary.test().filter(|_| summary.ablation.is_none()) {
        page.line("LLR", sprt_text(&sprt, sprt_status));
        page.line("Bounds", bounds_text(&sprt));
    }
    rest(&mut page, summary);
    page.text
}

/// What the games were like, and the verdict.
fn rest(page: &mut Page, summary: &Summary) {
    if !summary.quarantine.is_empty() {
        page.line("Openings", left_out(summary));
    }
    if let Some(noise) = host_noise(summary).filter(|_| summary.disturbances != Default::default())
    {
        page.line("Noise", noise);
    }
    for excluded in &summary.excluded {
        page.line("Excluded", excluded.to_string());
    }
    page.line("Endings", terminations(summary));
    page.line("Faults", faults(summary));
    page.text.push_str(&latency::terminal(summary, page.width));
    page.text.push('\n');
    if summary.ablation.is_some() {
        let notes = ablation::notes(summary).into_iter().chain([ablation::conclusion(summary)]);
        notes.for_each(|note| page.sentence(Style::new(), &note));
    }
    let style = match summary.verdict() {
        _ if summary.is_invalid() => BAD,
        Verdict::H1 => GOOD,
        Verdict::H0 => BAD,
        Verdict::Inconclusive => OPEN,
        Verdict::None if summary.ending == Some(Ending::Complete) => GOOD,
        Verdict::None => OPEN,
    };
    verdict_sentence(summary).lines().for_each(|line| page.sentence(style, line));
}

/// Text as it grows, in columns.
struct Page {
    text: String,
    width: Option<usize>,
}

impl Page {
    /// A value with its name before it.
    fn line(&mut self, label: &str, value: impl AsRef<str>) {
        let indent = LABEL_WIDTH.max(label.chars().count()) + 1;
        let named = styled(LABEL, &format!("{label:<LABEL_WIDTH$}"));
        let value = self.wrapped(value.as_ref(), indent);
        // Writing to a string cannot fail.
        let _ =
            writeln!(self.text, "{named} {}", value.replace('\n', &format!("\n{:indent$}", "")));
    }

    fn sentence(&mut self, style: Style, words: &str) {
        for line in self.wrapped(words, 0).lines() {
            let _ = writeln!(self.text, "{}", styled(style, line));
        }
    }

    /// Text in lines that fit behind an indent.
    fn wrapped(&self, words: &str, indent: usize) -> String {
        let Some(width) = self.width else { return words.to_owned() };
        let lines = Wrap::wrap(words, width.saturating_sub(indent).max(1), true);
        lines.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
    }
}

/// A line on standard error, unless the user wants to hear nothing but results and errors.
pub fn note(line: &str) {
    log::info!("{line}");
}

/// A line on standard error for users who want to hear more.
pub fn detail(line: &str) {
    log::debug!("{line}");
}

/// The values of a tuning, ready to be used.
fn tuning_lines(page: &mut Page, summary: &Summary, spsa: &SpsaState) {
    let sums = results(&summary.strength().games, "");
    page.line("Games", format!("{sums} by the first sides"));
    page.line("Tuning", tuned::names(spsa.tuning()));
    page.line("SPSA", tuned::schedule(spsa.tuning()));
    page.text.push_str(&tuned::table(spsa).fitted(page.width));
    tuned::notes(summary, spsa).iter().for_each(|note| page.line("Note", note));
    // What is to be copied is not wrapped.
    page.text.push('\n');
    page.text.push_str(&tuned::options(spsa));
    let changed = tuned::assignments(spsa);
    if !changed.is_empty() {
        page.text.push('\n');
        page.text.push_str(&changed);
    }
    page.text.push('\n');
}

/// Whether such lines are wanted.
pub(crate) fn has_details() -> bool {
    log::log_enabled!(log::Level::Debug)
}

/// Whether the user wants to hear nothing but results and errors.
pub fn is_quiet() -> bool {
    !log::log_enabled!(log::Level::Info)
}

/// A bar of progress on standard error, which nobody sees who wants to hear nothing.
pub fn bar(length: u64) -> ProgressBar {
    if is_quiet() { ProgressBar::hidden() } else { ProgressBar::new(length) }
}

/// An error on standard error.
pub fn complain(error: impl std::fmt::Display) {
    log::error!("{error}");
}

fn strength_lines(page: &mut Page, strength: &Strength, after: Option<SequentialEstimate>) {
    page.line("Games", results(&strength.games, ""));
    if strength.pairs.pairs() > 0 {
        let ptnml = format!("{:?} (LL, LD, DD+WL, WD, WW)", strength.pairs.0);
        page.line("Pairs", format!("{}: {ptnml}", strength.pairs.pairs()));
    }
    let naive = format!("{} (95 %)", plus_minus(strength.elo.as_ref()));
    match after {
        None => page.line("Elo", naive),
        Some(after) => {
            page.line("Elo (naive)", naive);
            page.line("Elo (after the stop)", format!("{} (95 %)", interval(&after.elo)));
        }
    }
    page.line("nElo", format!("{} (95 %)", plus_minus(strength.nelo.as_ref())));
    page.line("LOS", percent(strength.los));
}

/// A likelihood ratio with the bounds that hold now and what it compares.
pub(super) fn sprt_text(sprt: &Sprt, sprt_status: SprtStatus) -> String {
    let SprtStatus { llr, lower, upper, .. } = sprt_status;
    format!("{llr:+.2} [{lower:.2}, {upper:.2}] for {}", hypotheses(sprt))
}

/// What a test compares, and its error rates.
pub(super) fn hypotheses(sprt: &Sprt) -> String {
    format!(
        "{} Elo {} against {}, alpha {}, beta {}",
        sprt.model.as_str(),
        sprt.elo0,
        sprt.elo1,
        sprt.alpha,
        sprt.beta
    )
}

/// Where the bounds come from.
pub(super) fn bounds_text(sprt: &Sprt) -> String {
    let (lower, upper) = (sprt.bounds.lower, sprt.bounds.upper);
    match sprt.correction {
        Correction::None => "Wald's, without correction for overshoot".to_owned(),
        Correction::Dynamic => {
            format!("Wald's [{lower:.2}, {upper:.2}], moved inwards by the overshoot measured")
        }
    }
}

fn encounter_table(summary: &Summary) -> Table {
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
    table
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
pub fn verdict_sentence(summary: &Summary) -> String {
    let name = |index: usize| summary.engines.get(index).map_or("?", String::as_str);
    let bounds = |sprt: &Sprt| (sprt.elo0, sprt.elo1);
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
    if let Some(spsa) = &summary.spsa {
        return tuned::verdict(summary, spsa);
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
        (Some(_), _) => {
            format!("Unfinished: the run was interrupted and can be resumed.{}", so_far(summary))
        }
        (None, _) if summary.is_played => format!("Still running.{}", so_far(summary)),
        (None, _) => format!(
            "Unfinished: the run is being played, or was killed and can be resumed.{}",
            so_far(summary)
        ),
    }
}

/// Where a test stands that has decided nothing yet; nothing of a run without one.
fn so_far(summary: &Summary) -> String {
    let Some((_, sprt_status)) = summary.test() else { return String::new() };
    format!(
        "\nNeither hypothesis is accepted: LLR {:+.2} of [{:.2}, {:.2}] after {} games.",
        sprt_status.llr,
        sprt_status.lower,
        sprt_status.upper,
        summary.standing.games()
    )
}
