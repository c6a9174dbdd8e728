//! Report on a run as a document for publication: the results with their intervals, and all
//! settings needed to repeat the run.

use std::cmp::Ordering;

use super::verdict::{verdict_sentence, verdict_tone};
use super::{brief, head, manifest};
use crate::figures::{self, GameStatistics, RunPhase, Summary, Verdict};
use crate::parts::{Block, Document, Tone, percent};
use crate::topics::{
    ablation, games, gates, latency, lint, result_figures, search, strength, tournament, tuning,
};
use arbiter_names::quantity;
use arbiter_plan::{GateOutcome, Plan, RunKind, base_name};
use arbiter_run::Remark;
use arbiter_schedule::Format;
use arbiter_settings::command_line;
use arbiter_store::{Fingerprints, StoredRun};

/// Returns the report on a stored run as a document: the results, the statistics of the games (if
/// available), the setup, and the gates of the commits.
pub fn run_document(
    stored: &StoredRun,
    summary: &Summary,
    statistics: Option<&GameStatistics>,
    gates: &[GateOutcome],
) -> Document {
    let StoredRun { plan, fingerprints, .. } = stored;
    let mut document = outcome_document(summary, statistics);
    document.heading("Game endings");
    document.paragraph(format!("Endings: {}.", brief::terminations(summary)));
    document.paragraph(format!("Engine faults: {}.", brief::faults(summary)));
    if let Some(statistics) = statistics {
        game_figures(&mut document, summary, statistics);
        games::misjudged(&mut document, summary, statistics);
        games::faulty(&mut document, summary, statistics);
    }
    lint::all(&mut document, summary);
    latency::all(&mut document, summary);
    gates::all(&mut document, gates);
    document.heading("Setup");
    manifest::engines(&mut document, plan, fingerprints);
    let played = Some((stored, summary));
    manifest::conditions(&mut document, plan, fingerprints, Some(plan.concurrency), played);
    let remarks = summary.remarks.iter().map(Remark::to_string);
    document.list(brief::REMARKS, remarks.collect());
    document.heading("Reproduce");
    document.blocks.push(Block::Command(command_line(plan)));
    if !plan.is_timed() {
        document.paragraph("Deterministic engines play the same games again.");
    }
    document
}

/// Returns the first part of a run's document: conclusion, main values and results.
pub fn outcome_document(summary: &Summary, statistics: Option<&GameStatistics>) -> Document {
    let mut document = Document::new(run_title(&summary.plan));
    let (verdict, more) = conclusion(summary);
    document.blocks.push(Block::Verdict { tone: tone(summary), text: verdict });
    document.blocks.extend(head::head(summary, statistics));
    if !more.is_empty() {
        document.paragraph(more);
    }
    let faults: u64 = summary.counts.faults.values().sum();
    if faults > 0 && !summary.is_invalid() {
        let games = quantity(summary.counts.games(), "game");
        document.paragraph(format!("{faults} of {games} ended by an engine fault."));
    }
    if summary.phase() == RunPhase::Unfinished {
        let command = format!("arbiter {} --resume {}", summary.plan.kind, summary.run);
        document.blocks.push(Block::Command(command));
    }
    results(&mut document, summary, statistics.is_some());
    if let Some(spsa) = &summary.spsa {
        tuning::history(&mut document, spsa);
    } else if let Some(statistics) = statistics {
        strength::history(&mut document, summary, statistics);
        document.figures(ablation::figure(summary));
    }
    document
}

/// Returns the document of a planned run: engines, conditions and command. `concurrency` is `None`
/// if workers play the games.
pub fn plan_document(
    plan: &Plan,
    fingerprints: &Fingerprints,
    concurrency: Option<usize>,
) -> Document {
    let mut document = Document::new(format!("Plan of {}", run_title(plan)));
    manifest::engines(&mut document, plan, fingerprints);
    manifest::conditions(&mut document, plan, fingerprints, concurrency, None);
    document.blocks.push(Block::Command(command_line(plan)));
    document
}

/// Returns the title of a run: the kind of run and the engines.
pub fn run_title(plan: &Plan) -> String {
    let name = |engine: usize| plan.engines[engine].name.as_str();
    let first = name(0);
    let others = plan.engines.len() - 1;
    match (plan.kind, plan.design.format) {
        (RunKind::Ablate, _) => format!("Ablation of {first}"),
        (RunKind::Tune, _) => format!("Tuning of {}", base_name(first)),
        (RunKind::Sprt, _) => format!("SPRT: {first} against {}", name(1)),
        (_, format) if others == 1 && format.is_fixed() => format!("{first} against {}", name(1)),
        (_, Format::Gauntlet) if plan.design.seeds <= 1 => {
            format!("Gauntlet of {first} against {others} engines")
        }
        (_, format) => {
            let format_text = format.to_string().replace('-', " ");
            let (initial, rest) = format_text.split_at(1);
            format!("{}{rest} of {} engines", initial.to_uppercase(), others + 1)
        }
    }
}

/// Returns the conclusion of a run: the main sentences, and a (possibly empty) string of additional
/// sentences.
fn conclusion(summary: &Summary) -> (String, String) {
    let state = verdict_sentence(summary).replace('\n', " ");
    let finding = match summary.plan.kind {
        RunKind::Ablate => Some(ablation::conclusion(summary)),
        RunKind::Tune => summary.spsa.as_ref().map(|spsa| tuning::conclusion(summary, spsa)),
        RunKind::Sprt => return (state, confidence(summary)),
        RunKind::Match | RunKind::Tournament if summary.engines.len() == 2 => duel(summary),
        RunKind::Match | RunKind::Tournament => winner(summary).or_else(|| leader(summary)),
    };
    match finding {
        // The state of an invalid run begins with "INVALID", which must precede all results.
        Some(finding) if summary.is_invalid() => (state, finding),
        Some(finding) if summary.is_over() => (finding, state),
        Some(finding) => (state, format!("So far: {finding}")),
        None => (state, String::new()),
    }
}

/// Returns a sentence about the winner of a finished knockout, Swiss or ladder; `None` for other
/// runs.
fn winner(summary: &Summary) -> Option<String> {
    let standings = summary.standings.as_ref().filter(|_| summary.is_over())?;
    let place = match standings.schedule.design().format {
        Format::Knockout => "won the knockout",
        Format::Swiss => "won the Swiss",
        Format::Ladder => "is at the top of the ladder",
        _ => return None,
    };
    let first = standings.first().into_iter().map(|engine| summary.engines[engine].as_str());
    Some(match first.collect::<Vec<_>>()[..] {
        [first] => format!("{first} {place}."),
        ref several => format!("{} share first place.", several.join(" and ")),
    })
}

/// Returns a sentence about the engine in first place, by the rule of the tournament or by rating.
fn leader(summary: &Summary) -> Option<String> {
    if summary.is_by_table() {
        let (engine, _) = summary.first()?;
        return Some(format!("{} leads the table.", summary.engines[engine]));
    }
    let ratings = summary.ratings()?;
    let (engine, rating) = ratings.first()?;
    let place = figures::first_place(&ratings);
    let name = &summary.engines[*engine];
    let games = figures::total(&summary.counts, *engine).games;
    Some(format!("{name} {place}: {}.", rating.describe(games, "around a mean of 0")))
}

/// Returns the tone of the result for the first engine. The tone of a complete run without a
/// significant result is [`Tone::Open`].
pub fn tone(summary: &Summary) -> Tone {
    let tone = verdict_tone(summary);
    let difference = summary.strength().significant_difference();
    let is_significant = match summary.plan.kind {
        _ if tone != Tone::Good => true,
        RunKind::Sprt => true,
        // A finished tuning run does not show whether the tuned values are better than the initial
        // values; a test of the tuned values is necessary.
        RunKind::Tune => false,
        RunKind::Ablate => ablation::is_significant(summary),
        RunKind::Match | RunKind::Tournament => match (difference, summary.engines.len()) {
            (Some(Ordering::Less), 2) => return Tone::Bad,
            (difference, 2) => difference.is_some(),
            _ => summary.ratings().is_some_and(|ratings| figures::is_clear(&ratings)),
        },
    };
    if is_significant { tone } else { Tone::Open }
}

/// Returns sentences about the error rates, the Elo and the LOS of an SPRT.
fn confidence(summary: &Summary) -> String {
    let Some((sprt, _)) = summary.test() else { return String::new() };
    let rate = |truth, accepted, rate| {
        let share = percent(Some(rate));
        format!(
            "If {truth} were true, {accepted} would be accepted in about {share} of such tests. "
        )
    };
    let rates = match summary.verdict() {
        Verdict::H1 => rate("H0", "H1", sprt.alpha),
        Verdict::H0 => rate("H1", "H0", sprt.beta),
        Verdict::Inconclusive | Verdict::None => String::new(),
    };
    let strength = summary.strength();
    if strength.naive.is_none() {
        return rates.trim_end().to_owned();
    }
    let (elo, los) = (strength.elo_text(), strength.los_text());
    let end = format!("likelihood that {} is stronger: {los}.", summary.engines[0]);
    if summary.is_over() {
        format!("{rates}Bias-corrected Elo: {elo} (95 %); {end}")
    } else {
        format!("{rates}So far: Elo {elo} (95 %, bias-corrected); {end}")
    }
}

fn duel(summary: &Summary) -> Option<String> {
    let games = summary.counts.games();
    let elo = summary.strength().elo_in_full();
    let (first, second) = (&summary.engines[0], &summary.engines[1]);
    let games = (games > 0).then(|| quantity(games, "game"))?;
    Some(format!("{first} against {second}: Elo {elo} after {games}."))
}

/// Adds the tables of results and, if `has_pictures` is `true`, charts of the ratings.
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
            document.table(strength::table(summary));
            strength::test(document, summary);
        }
        RunKind::Match | RunKind::Tournament => {
            if let Some(standings) = &summary.standings {
                tournament::in_full(document, summary, standings, has_pictures);
                document.heading("Encounters");
            }
            strength::encounters(document, summary);
            tournament::likelihoods(document, summary);
        }
    }
}

/// Adds the endings, colours, search statistics, calibration and openings.
fn game_figures(document: &mut Document, summary: &Summary, statistics: &GameStatistics) {
    let duel_engines: &[_] = if summary.engines.len() == 2 { &statistics.engines } else { &[] };
    let endings = summary.counts.terminations.iter().map(|(ending, count)| {
        let wins =
            duel_engines.iter().map(|engine| engine.wins.get(ending).copied().unwrap_or_default());
        (ending.describe(), *count, wins.collect())
    });
    let names: Vec<&str> =
        summary.engines.iter().map(String::as_str).take(duel_engines.len()).collect();
    let endings = result_figures::endings(&names, endings.collect());
    let by_colour = statistics.engines.iter().map(|engine| engine.by_colour);
    let by_colour: Vec<_> = summary.engines.iter().map(String::as_str).zip(by_colour).collect();
    let colours = result_figures::colours(&by_colour, statistics.white);
    // The results section of a tuning run shows the path of the parameters instead of the chart of
    // pairs, so this section contains the chart.
    let pairs = summary.spsa.as_ref().and_then(|_| strength::pairs(summary));
    document.figures(pairs.into_iter().chain([endings, colours]));
    document.paragraph(bias(summary));
    search::all(document, summary, statistics);
    let first = (summary.engines.len() == 2).then(|| summary.engines[0].as_str());
    result_figures::openings(document, first, statistics.openings.values().collect());
}

/// Returns sentences about White's advantage and the opening bias.
fn bias(summary: &Summary) -> String {
    let rated = summary.rate_engines();
    let advantage = rated.as_ref().and_then(|rated| rated.advantage);
    let error = rated.and_then(|rated| rated.advantage_error);
    let mut text = result_figures::advantage(advantage, error, "logistic scale");
    let encounter = summary.counts.main_encounter();
    if summary.engines.len() == 2 {
        text += &result_figures::bias_of_openings(&encounter.pairs, &encounter.games);
    }
    text
}
