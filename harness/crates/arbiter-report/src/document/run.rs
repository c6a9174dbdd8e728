//! Run as a document that can be published: the results, with intervals, and everything needed to
//! play it again.

use std::cmp::Ordering;

use super::manifest::{self, hypotheses};
use super::{
    Block, Document, Tone, brief, figures, games, gates, head, latencies, result_figures,
    tournament, tuning,
};
use crate::run_list::RunPhase;
use crate::standings::{Rating, superiority};
use crate::statistics::GameStatistics;
use crate::summary::{Strength, Summary, Verdict};
use crate::table::Table;
use crate::text::{percent, plus_minus, ratio};
use crate::verdict::verdict_sentence;
use crate::{ablation, standings, tuned};
use arbiter_names::counted;
use arbiter_plan::{Plan, Remark, RunKind, StepOutcome, base_name};
use arbiter_schedule::Format;
use arbiter_settings::command_line;
use arbiter_stats::{Correction, Sprt, SprtStatus};
use arbiter_store::{Fingerprints, StoredRun};

/// Returns the document of a stored run: the counts, the results of the games if there are
/// statistics of them, and the gates of its commits.
pub fn run_document(
    stored: &StoredRun,
    summary: &Summary,
    statistics: Option<&GameStatistics>,
    gates: &[StepOutcome],
) -> Document {
    let StoredRun { plan, fingerprints, .. } = stored;
    let mut document = outcome_document(summary, statistics);
    document.heading("Game endings");
    document.paragraph(format!("Endings: {}.", brief::terminations(summary)));
    document.paragraph(format!("Faults of engines: {}.", brief::faults(summary)));
    if let Some(statistics) = statistics {
        figures::games(&mut document, summary, statistics);
        games::misjudged(&mut document, summary, statistics);
        games::faulty(&mut document, summary, statistics);
    }
    games::lint(&mut document, summary);
    latencies::all(&mut document, summary);
    gates::all(&mut document, gates);
    document.heading("Setup");
    manifest::engines(&mut document, plan, fingerprints);
    manifest::conditions(&mut document, plan, fingerprints, Some((stored, summary)));
    let remarks = summary.remarks.iter().map(Remark::to_string);
    document.list(brief::REMARKS, remarks.collect());
    document.heading("Reproduce");
    document.blocks.push(Block::Command(command_line(plan)));
    if !plan.is_timed() {
        document.paragraph("Deterministic engines repeat the same games.");
    }
    document
}

/// Returns the results of a run: the beginning of its document.
pub fn outcome_document(summary: &Summary, statistics: Option<&GameStatistics>) -> Document {
    let mut document = Document::new(run_title(&summary.plan));
    let mut conclusion = conclusion(summary).into_iter();
    // The verdict comes first, then its figures, then the rest of the conclusion.
    document.blocks.extend(conclusion.next());
    document.blocks.extend(head::head(summary, statistics));
    document.blocks.extend(conclusion);
    let (faults, games) = (summary.counts.faults.values().sum::<u64>(), summary.counts.games());
    if faults > 0 && !summary.is_invalid() {
        document
            .paragraph(format!("{faults} of {} ended by an engine fault.", counted(games, "game")));
    }
    if summary.phase() == RunPhase::Unfinished {
        let (kind, run) = (summary.plan.kind, &summary.run);
        document.blocks.push(Block::Command(format!("arbiter {kind} --resume {run}")));
    }
    results(&mut document, summary, statistics.is_some());
    if let Some(spsa) = &summary.spsa {
        tuning::history(&mut document, spsa);
    } else if let Some(statistics) = statistics {
        figures::history(&mut document, summary, statistics);
    }
    document
}

/// Returns the document of a run that is not played: everything that would determine its games.
pub fn plan_document(plan: &Plan, fingerprints: &Fingerprints) -> Document {
    let mut document = Document::new(format!("Plan of {}", run_title(plan)));
    manifest::engines(&mut document, plan, fingerprints);
    manifest::conditions(&mut document, plan, fingerprints, None);
    document.blocks.push(Block::Command(command_line(plan)));
    document
}

/// Returns the kind of a run, and its players.
pub fn run_title(plan: &Plan) -> String {
    let name = |engine: usize| plan.engines[engine].name.as_str();
    let (first, others) = (name(0), plan.engines.len() - 1);
    match (plan.kind, plan.design.format) {
        (RunKind::Ablate, _) => format!("Ablation of {first}"),
        (RunKind::Tune, _) => format!("Tuning of {}", base_name(name(0))),
        (RunKind::Sprt, _) => format!("SPRT: {first} against {}", name(1)),
        (_, format) if others == 1 && format.is_fixed() => format!("{first} against {}", name(1)),
        (_, Format::Gauntlet) if plan.design.seeds <= 1 => {
            format!("Gauntlet of {first} against {others} engines")
        }
        (_, format) => {
            let word = match format {
                Format::Gauntlet => "Gauntlet",
                Format::RoundRobin => "Round robin",
                Format::Pyramid => "Pyramid",
                Format::Knockout => "Knockout",
                Format::Swiss => "Swiss",
                Format::Ladder => "Ladder",
            };
            format!("{word} of {} engines", others + 1)
        }
    }
}

/// Returns the conclusion of a run, in a sentence or two.
fn conclusion(summary: &Summary) -> Vec<Block> {
    let said = |text: String, more: String| {
        let more =
            (!more.is_empty()).then(|| Block::Paragraph { strong: String::new(), text: more });
        std::iter::once(Block::Verdict { tone: tone(summary), text }).chain(more).collect()
    };
    let state = verdict_sentence(summary).replace('\n', " ");
    let finding = match summary.plan.kind {
        RunKind::Ablate => Some(ablation::conclusion(summary)),
        RunKind::Tune => summary.spsa.as_ref().map(|spsa| tuned::conclusion(summary, spsa)),
        RunKind::Sprt => {
            return said(state, confidence(summary));
        }
        RunKind::Match | RunKind::Tournament if summary.engines.len() == 2 => duel(summary),
        RunKind::Match | RunKind::Tournament => winner(summary).or_else(|| leader(summary)),
    };
    match finding {
        // The text on an invalid run begins with "INVALID".
        Some(finding) if summary.is_invalid() => said(state, finding),
        Some(finding) if summary.is_over() => said(finding, state),
        Some(finding) => said(state, format!("So far: {finding}")),
        None => said(state, String::new()),
    }
}

/// Returns the winner of a tournament that is played for a place and not for points.
fn winner(summary: &Summary) -> Option<String> {
    let standings = summary.standings.as_ref().filter(|_| summary.is_over())?;
    let place = match standings.schedule.design().format {
        Format::Knockout => "won the knockout",
        Format::Swiss => "won the Swiss",
        Format::Ladder => "is at the top of the ladder",
        _ => return None,
    };
    let first: Vec<&str> =
        standings.first().into_iter().map(|engine| summary.engines[engine].as_str()).collect();
    Some(match first[..] {
        [first] => format!("{first} {place}."),
        _ => format!("{} share first place.", first.join(" and ")),
    })
}

/// Returns the engine that is first so far by the table, or by rating.
fn leader(summary: &Summary) -> Option<String> {
    if summary.is_by_table() {
        let (engine, _) = summary.first()?;
        return Some(format!("{} leads the table.", summary.engines[engine]));
    }
    let ratings = summary.ratings()?;
    let (engine, rating) = ratings.first()?;
    let place = if summary.first().is_none() {
        "shares first place"
    } else if is_clear(&ratings) {
        "is rated first"
    } else {
        "is rated first (not significantly)"
    };
    let name = &summary.engines[*engine];
    let games = standings::total(&summary.counts, *engine).games;
    Some(format!("{name} {place}: {}.", rating.in_words(games)))
}

/// Returns the tone of the result for the first engine: that all games were played is not good
/// news.
pub fn tone(summary: &Summary) -> Tone {
    let tone = brief::tone(summary);
    let told = summary.strength().told();
    let is_told = match summary.plan.kind {
        _ if tone != Tone::Good => true,
        RunKind::Sprt => true,
        // Only a test can decide whether the values are better.
        RunKind::Tune => false,
        RunKind::Ablate => ablation::is_told(summary),
        RunKind::Match | RunKind::Tournament => match (told, summary.engines.len()) {
            (Some(Ordering::Less), 2) => return Tone::Bad,
            (told, 2) => told.is_some(),
            _ => summary.ratings().is_some_and(|ratings| is_clear(&ratings)),
        },
    };
    if is_told { tone } else { Tone::Open }
}

/// Returns whether the interval of the first is above those of all others.
fn is_clear(ratings: &[(usize, Rating)]) -> bool {
    let (first, others) = (&ratings[0].1, &ratings[1..]);
    others.iter().all(|(_, other)| first.is_above(other))
}

/// Returns the error rates behind the verdict of a test, and its Elo.
fn confidence(summary: &Summary) -> String {
    let Some((sprt, _)) = summary.test() else { return String::new() };
    let rates = match summary.verdict() {
        Verdict::H1 => {
            let alpha = percent(Some(sprt.alpha));
            format!("If H0 were true, H1 would be accepted in {alpha} of such tests. ")
        }
        Verdict::H0 => {
            let beta = percent(Some(sprt.beta));
            format!("If H1 were true, H0 would be accepted in {beta} of such tests. ")
        }
        Verdict::Inconclusive | Verdict::None => String::new(),
    };
    let strength = summary.strength();
    if strength.naive.is_none() {
        return rates.trim_end().to_owned();
    }
    let (elo, los) = (strength.elo_in_words(), strength.los_in_words());
    let first = &summary.engines[0];
    match summary.is_over() {
        true => format!(
            "{rates}Bias-corrected Elo: {elo} (95 %); likelihood that {first} is stronger: {los}."
        ),
        false => format!(
            "{rates}So far: Elo {elo} (95 %, bias-corrected); likelihood that {first} is stronger: \
             {los}."
        ),
    }
}

fn duel(summary: &Summary) -> Option<String> {
    let (games, elo) = (summary.counts.games(), summary.strength().elo_in_full());
    let (first, second) = (&summary.engines[0], &summary.engines[1]);
    let games = (games > 0).then(|| counted(games, "game"))?;
    Some(format!("{first} against {second}: Elo {elo} after {games}."))
}

/// Adds tables, and the charts of ratings if `has_pictures`.
fn results(document: &mut Document, summary: &Summary, has_pictures: bool) {
    document.heading("Result");
    if summary.counts.games() == 0 {
        document.paragraph("No pair is finished.");
        return;
    }
    match summary.plan.kind {
        RunKind::Ablate => {
            document.table(ablation::table(summary));
            ablation::notes(summary).into_iter().for_each(|note| document.paragraph(note));
        }
        RunKind::Tune => {
            if let Some(spsa) = &summary.spsa {
                tuning::results_in_full(document, summary, spsa);
            }
        }
        RunKind::Sprt => {
            document.table(encounters(summary));
            test(document, summary);
        }
        RunKind::Match | RunKind::Tournament => {
            if let Some(standings) = &summary.standings {
                tournament::in_full(document, summary, standings, has_pictures);
                document.heading("Encounters");
            }
            document.table(encounters(summary));
            document.paragraph(if summary.plan.design.is_single { LEGEND_SINGLE } else { LEGEND });
            let mut met = summary.counts.encounters.values().map(|met| Strength::of(*met).elo);
            if met.any(|elo| elo.is_some_and(|elo| elo.value.is_infinite())) {
                document.paragraph(BOUNDS);
            }
            likelihoods(document, summary);
        }
    }
}

const LEGEND_SINGLE: &str = "Figures are from the first engine's point of view. Each opening was \
    played once: the unit of evidence is the game, and colours are not balanced.";

const BOUNDS: &str = "An Elo with > or < is a 95 % bound: all games were won or lost, so there is \
    no finite estimate.";

const NAIVE: &str = "Elo and LOS of the first table are corrected for the stopping rule. The naive \
    Elo is biased towards the verdict.";

const LEGEND: &str = "Figures are from the first engine's point of view. The unit of evidence is the \
    pair of games from one opening with colours reversed; pairs are counted by the points of the \
    first engine, from none (LL) to both (WW).";

fn encounters(summary: &Summary) -> Table {
    let mut table = Table::with_columns(
        ["first", "second", "Elo (95 %)", "nElo (95 %)", "LOS", "games", "won", "drawn", "lost"],
        ["pairs LL, LD, DD+WL, WD, WW"],
    );
    for engines in summary.counts.encounters.keys() {
        let strength = summary.strength_of(*engines);
        let [first, second] = engines.map(|engine| &summary.engines[engine]);
        let elo = strength.elo_in_words();
        table.push_with([first, second, &elo], ablation::strength_cells(&strength));
    }
    table
}

/// Adds the state of the sequential test.
fn test(document: &mut Document, summary: &Summary) {
    if let Some((sprt, sprt_status)) = summary.test() {
        let mut table = Table::new(["", ""]);
        let mut row = |label: &str, value: String| table.push([&label, &value]);
        row("LLR", sprt_text(&sprt, sprt_status));
        row("LLR bounds", bounds_text(&sprt));
        let naive = summary.strength().naive;
        if naive.is_some() {
            row("Elo, naive (95 %)", plus_minus(naive));
        }
        document.table(table);
        if naive.is_some() {
            document.paragraph(NAIVE);
        }
    }
    document.paragraph(LEGEND);
}

/// Adds the likelihood that each of several engines is the stronger one of two.
fn likelihoods(document: &mut Document, summary: &Summary) {
    let (Some(ratings), Some(rated)) = (summary.ratings(), summary.rated()) else { return };
    if (3..=tournament::MAX_CROSS).contains(&ratings.len()) {
        let engines: Vec<_> = ratings
            .iter()
            .map(|(engine, _)| (*engine, summary.engines[*engine].as_str()))
            .collect();
        let likelihood = |one, other| superiority(&rated, one, other);
        document.table(result_figures::superiority(&engines, likelihood));
        document.paragraph(result_figures::SUPERIORITY_LEGEND);
    }
}

/// Returns a log-likelihood ratio with the bounds that apply now and its hypotheses.
pub(super) fn sprt_text(sprt: &Sprt, sprt_status: SprtStatus) -> String {
    format!("{} for {}", ratio(sprt_status), hypotheses(sprt))
}

/// Returns the origin of the bounds.
pub(super) fn bounds_text(sprt: &Sprt) -> String {
    let (lower, upper) = (sprt.bounds.lower, sprt.bounds.upper);
    match sprt.correction {
        Correction::None => "Wald, without overshoot correction".to_owned(),
        Correction::Dynamic => {
            format!("corrected for overshoot (Wald: [{lower:.2}, {upper:.2}])")
        }
    }
}
