//! A run as a document that can be published: what came out, with intervals, and all that is needed
//! to play it again.

use super::manifest::{self, Origin};
use super::{Block, Document, figures, games, gates, latencies, parts, tuning};
use crate::standings::{Standings, superiority};
use crate::statistics::GameStatistics;
use crate::status::{interval, percent, plus_minus};
use crate::summary::{Strength, Summary, Verdict};
use crate::table::Table;
use crate::{ablation, standings_text, terminal, tuned};
use arbiter_plan::plan::{Kind, Plan};
use arbiter_plan::run::standing::Encounter;
use arbiter_plan::tuning::base_name;
use arbiter_schedule::Format;

/// Engines beyond which everybody against everybody would be too much.
const MAX_CROSS: usize = 20;

/// The document: what the counts tell, and what the games tell if they were looked at.
pub fn of_run(
    summary: &Summary,
    origin: &Origin<'_>,
    statistics: Option<&GameStatistics>,
) -> Document {
    let mut document = Document::new(title(origin.plan));
    document.blocks.push(conclusion(summary));
    results(&mut document, summary);
    if let Some(spsa) = &summary.spsa {
        tuning::history(&mut document, spsa);
    } else if let Some(statistics) = statistics {
        figures::history(&mut document, summary, statistics);
    }
    document.heading("How the games ended");
    document.paragraph(format!("Endings: {}.", terminal::terminations(summary)));
    document.paragraph(format!("Faults of engines: {}.", terminal::faults(summary)));
    if let Some(statistics) = statistics {
        figures::games(&mut document, summary, statistics);
        games::misjudged(&mut document, summary, statistics);
    }
    latencies::all(&mut document, summary);
    gates::all(&mut document, origin.gates);
    document.heading("How it was played");
    manifest::engines(&mut document, origin);
    manifest::conditions(&mut document, origin, Some(summary));
    document.heading("To play it again");
    document.blocks.push(Block::Command(origin.command.clone()));
    document.paragraph(
        "With limits in nodes or depth and deterministic engines this gives the same games.",
    );
    document
}

/// The document of a run that is not played: all that would decide its games.
pub fn of_plan(origin: &Origin<'_>) -> Document {
    let mut document = Document::new(format!("Plan of {}", title(origin.plan)));
    manifest::engines(&mut document, origin);
    manifest::conditions(&mut document, origin, None);
    document.blocks.push(Block::Command(origin.command.clone()));
    document
}

fn title(plan: &Plan) -> String {
    let name = |engine: usize| plan.engines[engine].name.as_str();
    let (first, others) = (name(0), plan.engines.len() - 1);
    match (plan.kind, plan.design.format) {
        (Kind::Ablate, _) => format!("Ablation of {first}"),
        (Kind::Tune, _) => format!("Tuning of {}", base_name(name(0))),
        (Kind::Sprt, _) => format!("SPRT: {first} against {}", name(1)),
        (_, format) if others == 1 && format.is_fixed() => format!("{first} against {}", name(1)),
        (_, Format::Gauntlet) if plan.design.seeds <= 1 => {
            format!("Gauntlet of {first} against {others} engines")
        }
        (_, Format::Gauntlet) => format!("Gauntlet of {} engines", others + 1),
        (_, Format::RoundRobin) => format!("Round robin of {} engines", others + 1),
        (_, Format::Pyramid) => format!("Pyramid of {} engines", others + 1),
        (_, Format::Knockout) => format!("Knockout of {} engines", others + 1),
        (_, Format::Swiss) => format!("Swiss of {} engines", others + 1),
        (_, Format::Ladder) => format!("Ladder of {} engines", others + 1),
    }
}

/// What came out, in a sentence or two.
fn conclusion(summary: &Summary) -> Block {
    let state = terminal::verdict_sentence(summary).replace('\n', " ");
    let finding = match summary.kind {
        Kind::Ablate => Some(ablation::conclusion(summary)),
        Kind::Tune => summary.spsa.as_ref().map(|spsa| tuned::conclusion(summary, spsa)),
        Kind::Sprt => {
            let text = confidence(summary);
            return Block::Paragraph { strong: state, text };
        }
        Kind::Match | Kind::Tournament if summary.engines.len() == 2 => Some(duel(summary)),
        Kind::Match | Kind::Tournament => summary.ratings().map(|ratings| {
            let leader = &ratings[0];
            format!(
                "{} is rated first, at {} Elo (95 %) around a mean of 0.",
                summary.engines[leader.engine],
                figures::strong(summary, leader).words()
            )
        }),
    };
    match finding {
        Some(strong) if summary.is_over() => Block::Paragraph { strong, text: state },
        Some(strong) => Block::Paragraph { strong: state, text: format!("So far: {strong}") },
        None => Block::Paragraph { strong: state, text: String::new() },
    }
}

/// How far the verdict of a test can be trusted.
fn confidence(summary: &Summary) -> String {
    let Some((sprt, _)) = summary.test() else { return String::new() };
    let rates = match summary.verdict() {
        Verdict::H1 => format!(
            "A test that should not accept does so in {} of runs.",
            percent(Some(sprt.alpha))
        ),
        Verdict::H0 => {
            format!("A test that should accept fails to in {} of runs.", percent(Some(sprt.beta)))
        }
        Verdict::Inconclusive | Verdict::None => String::new(),
    };
    let Some(after) = summary.after_stop() else { return rates };
    let (elo, los) = (interval(&after.elo), percent(Some(after.los)));
    let first = &summary.engines[0];
    let estimate = match summary.is_over() {
        true => format!(
            "Allowing for the stop, Elo is {elo} (95 %) and the likelihood that {first} is stronger \
             is {los}."
        ),
        false => format!(
            "If it were given up now, Elo would be {elo} (95 %, allowing for the stop) and the \
             likelihood that {first} is stronger {los}."
        ),
    };
    if rates.is_empty() { estimate } else { format!("{rates} {estimate}") }
}

fn duel(summary: &Summary) -> String {
    let strength = summary.strength();
    format!(
        "{} against {}: {} Elo (95 %) after {} games.",
        summary.engines[0],
        summary.engines[1],
        plus_minus(strength.elo.as_ref()),
        strength.games.games()
    )
}

fn results(document: &mut Document, summary: &Summary) {
    document.heading("Result");
    match summary.kind {
        Kind::Ablate => {
            document.table(ablation::table(summary));
            ablation::notes(summary).into_iter().for_each(|note| document.paragraph(note));
        }
        Kind::Tune => {
            if let Some(spsa) = &summary.spsa {
                tuning::results(document, summary, spsa);
            }
        }
        Kind::Sprt => {
            document.table(encounters(summary));
            test(document, summary);
        }
        Kind::Match | Kind::Tournament => {
            if let Some(standings) = &summary.standings {
                rounds(document, standings, &summary.engines);
            }
            document.table(encounters(summary));
            document.paragraph(if summary.is_single { LEGEND_SINGLE } else { LEGEND });
            if summary.engines.len() > 2 {
                standings(document, summary);
            }
        }
    }
}

/// The table of a tournament, and its rounds or its bracket.
fn rounds(document: &mut Document, standings: &Standings, engines: &[String]) {
    document.table(standings_text::table(standings, engines));
    standings_text::notes(standings).into_iter().for_each(|note| document.paragraph(note));
    let rounds = standings_text::rounds(standings, engines);
    if !rounds.is_empty() {
        document.blocks.push(Block::Verbatim(rounds));
    }
}

const LEGEND_SINGLE: &str = "Figures are from the first engine's point of view. Each opening was \
    played once, so the unit of evidence is the game, and colours are not balanced.";

const LEGEND: &str = "Figures are from the first engine's point of view. The unit of evidence is the \
    pair of games from one opening with colours reversed; pairs are counted by the points of the \
    first engine, from none (LL) to both (WW).";

fn encounters(summary: &Summary) -> Table {
    let mut table = Table::new([
        "first",
        "second",
        "Elo (95 %)",
        "nElo (95 %)",
        "LOS",
        "games",
        "won",
        "drawn",
        "lost",
        "pairs LL, LD, DD+WL, WD, WW",
    ]);
    for (&[first, second], encounter) in &summary.standing.encounters {
        let strength = Strength::of(*encounter);
        let [nelo, los, games, won, drawn, lost, pairs] = ablation::strength_cells(&strength);
        table.push([
            summary.engines[first].clone(),
            summary.engines[second].clone(),
            plus_minus(strength.elo.as_ref()),
            nelo,
            los,
            games,
            won,
            drawn,
            lost,
            pairs,
        ]);
    }
    table
}

/// The state of the sequential test.
fn test(document: &mut Document, summary: &Summary) {
    if let Some((sprt, sprt_status)) = summary.test() {
        let mut table = Table::new(["", ""]);
        let mut row = |label: &str, value: String| table.push([label.to_owned(), value]);
        row("LLR", terminal::sprt_text(&sprt, sprt_status));
        row("Bounds", terminal::bounds_text(&sprt));
        if let Some(after) = summary.after_stop() {
            row("Elo, allowing for the stop (95 %)", interval(&after.elo));
            row("LOS, allowing for the stop", percent(Some(after.los)));
        }
        document.table(table);
    }
    document.paragraph(LEGEND);
    document.paragraph(
        "The Elo of the first table takes no account of the stop and leans to the side of the \
         verdict.",
    );
}

/// Ratings, and everybody against everybody.
fn standings(document: &mut Document, summary: &Summary) {
    let (Some(ratings), Some(rated)) = (summary.ratings(), summary.rated()) else {
        document.paragraph("There are no ratings yet: the games do not connect all engines.");
        return;
    };
    document.heading("Ratings");
    let mut table = Table::new(["", "engine", "Elo (95 %)", "games", "score"]);
    for (place, rating) in (1..).zip(&ratings) {
        let (games, points) = score(summary, rating.engine);
        table.push([
            format!("{place}"),
            summary.engines[rating.engine].clone(),
            figures::strong(summary, rating).words(),
            games.to_string(),
            percent((games > 0).then(|| points / games as f64)),
        ]);
    }
    document.table(table);
    document.paragraph(
        "By maximum likelihood over all games (Davidson's model), around a mean of 0; the errors \
         allow for pairs.",
    );
    let order: Vec<usize> = ratings.iter().map(|rating| rating.engine).collect();
    if order.len() <= MAX_CROSS {
        document.heading("Everybody against everybody");
        document.table(cross_table(summary, &order));
        document.paragraph(
            "Elo of the engine of the row against that of the column (95 %), from their own games; – \
             where they did not meet.",
        );
        let names: Vec<&str> = order.iter().map(|&index| summary.engines[index].as_str()).collect();
        document.table(parts::superiority(&names, &superiority(&rated, &order)));
        document.paragraph(parts::SUPERIORITY_LEGEND);
    }
}

/// Games and points of one engine.
fn score(summary: &Summary, engine: usize) -> (u64, f64) {
    let own = |(engines, encounter): (&[usize; 2], &Encounter)| {
        let games = encounter.games;
        let won = if engines[0] == engine { games.wins } else { games.losses };
        let takes_part = engines.contains(&engine);
        takes_part.then(|| (games.games(), won as f64 + 0.5 * games.draws as f64))
    };
    let sum = |(games, points), (more, scored): (u64, f64)| (games + more, points + scored);
    summary.standing.encounters.iter().filter_map(own).fold((0, 0.0), sum)
}

fn cross_table(summary: &Summary, order: &[usize]) -> Table {
    let has_met =
        |one: usize, other: usize| summary.standing.encounter([one, other]).games.games() > 0;
    let mut rows = vec![vec!["Elo (95 %)".to_owned()]];
    rows[0].extend(order.iter().map(|engine| summary.engines[*engine].clone()));
    for &row in order {
        let cell = |&column: &usize| {
            let strength = match row.cmp(&column) {
                std::cmp::Ordering::Equal => return "·".to_owned(),
                _ if !has_met(row, column) => return "–".to_owned(),
                std::cmp::Ordering::Less => Strength::of(summary.standing.encounter([row, column])),
                std::cmp::Ordering::Greater => {
                    Strength::of(summary.standing.encounter([column, row]).swapped())
                }
            };
            plus_minus(strength.elo.as_ref())
        };
        let name = std::iter::once(summary.engines[row].clone());
        rows.push(name.chain(order.iter().map(cell)).collect());
    }
    Table::from_rows(rows)
}
