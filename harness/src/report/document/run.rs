//! A run as a document that can be published: what came out, with intervals, and all that is needed
//! to play it again.

use super::{Block, Document, figures, games, tuning};
use crate::config::affinity::{Affinity, cpus_per_game};
use crate::config::plan::{BookSource, Engine, Kind, Plan, Program};
use crate::config::tuning::base_name;
use crate::report::digest::Digest;
use crate::report::standings::{Standings, rules_in_words};
use crate::report::status::{interval, percent, plus_minus};
use crate::report::summary::{Strength, Summary};
use crate::report::table::Table;
use crate::report::{latency, standings_text, terminal, tuned, worth};
use crate::run::standing::Encounter;
use crate::schedule::Format;

/// Digits of a hash that are shown.
const HASH_DIGITS: usize = 16;

/// Where a run comes from.
#[derive(Debug, Clone)]
pub struct Origin<'a> {
    /// What was to be played.
    pub plan: &'a Plan,
    /// The Arbiter that began it.
    pub version: &'a str,
    /// When it began, in UTC.
    pub begun: String,
    /// BLAKE3 of the opening book.
    pub book_hash: &'a str,
    /// BLAKE3 of each engine's program.
    pub engine_hashes: &'a [String],
    /// How the order of the book's openings is called.
    pub openings: String,
    /// The adjudication rules in words.
    pub adjudication: Vec<String>,
    /// The command that plays it again.
    pub command: String,
}

/// The document: what the counts tell, and what the games tell if they were looked at.
pub fn of_run(summary: &Summary, origin: &Origin<'_>, digest: Option<&Digest>) -> Document {
    let mut document = Document::new(title(summary, origin.plan));
    document.blocks.push(conclusion(summary));
    results(&mut document, summary, origin.plan);
    if let Some(ascent) = &summary.ascent {
        tuning::course(&mut document, ascent);
    } else if let Some(digest) = digest {
        figures::course(&mut document, summary, digest);
    }
    document.heading("How the games ended");
    document.paragraph(format!("Endings: {}.", terminal::terminations(summary)));
    document.paragraph(format!("Faults of engines: {}.", terminal::faults(summary)));
    if let Some(digest) = digest {
        figures::games(&mut document, summary, digest);
        games::surprises(&mut document, summary, digest);
    }
    let latencies = latency::tables(summary);
    if !latencies.is_empty() {
        document.heading("How promptly engines answered");
        latencies.into_iter().for_each(|table| document.table(table));
        document.paragraph(latency::LEGEND);
    }
    document.heading("How it was played");
    conditions(&mut document, summary, origin);
    document.heading("To play it again");
    document.blocks.push(Block::Command(origin.command.clone()));
    document.paragraph(
        "With limits in nodes or depth and deterministic engines this gives the same games.",
    );
    document
}

fn title(summary: &Summary, plan: &Plan) -> String {
    let first = &summary.engines[0];
    let others = summary.engines.len() - 1;
    match (summary.kind, plan.design.format) {
        (Kind::Ablate, _) => format!("What the features of {first} are worth"),
        (Kind::Tune, _) => format!("Tuning of {}", base_name(first)),
        (Kind::Sprt, _) => format!("SPRT: {first} against {}", summary.engines[1]),
        (_, format) if others == 1 && format.is_fixed() => {
            format!("{first} against {}", summary.engines[1])
        }
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
        Kind::Ablate => Some(worth::conclusion(summary)),
        Kind::Tune => summary.ascent.as_ref().map(|ascent| tuned::conclusion(summary, ascent)),
        Kind::Sprt => None,
        Kind::Match | Kind::Tournament if summary.engines.len() == 2 => Some(duel(summary)),
        Kind::Match | Kind::Tournament => summary.ratings().map(|ratings| {
            let leader = &ratings[0];
            format!(
                "{} is rated first, at {:+.1}{} Elo (95 %) around a mean of 0.",
                summary.engines[leader.engine],
                leader.rating,
                margin(leader.margin)
            )
        }),
    };
    match finding {
        Some(strong) => Block::Paragraph { strong, text: state },
        None => Block::Paragraph { strong: state, text: String::new() },
    }
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

fn results(document: &mut Document, summary: &Summary, plan: &Plan) {
    document.heading("Result");
    match summary.kind {
        Kind::Ablate => {
            document.table(worth::table(summary));
            worth::notes(summary).into_iter().for_each(|note| document.paragraph(note));
        }
        Kind::Tune => {
            if let Some(ascent) = &summary.ascent {
                tuning::results(document, summary, ascent);
            }
        }
        Kind::Sprt => {
            document.table(encounters(summary));
            test(document, summary);
        }
        Kind::Match | Kind::Tournament => {
            if let Some(standings) = &summary.standings {
                course(document, standings, &summary.engines);
            }
            document.table(encounters(summary));
            document.paragraph(if summary.is_single { LEGEND_SINGLE } else { LEGEND });
            if summary.engines.len() > 2 {
                standings(document, summary, plan);
            }
        }
    }
}

/// The table of a tournament, and its rounds or its bracket.
fn course(document: &mut Document, standings: &Standings, engines: &[String]) {
    document.table(standings_text::table(standings, engines));
    standings_text::notes(standings).into_iter().for_each(|note| document.paragraph(note));
    let course = standings_text::course(standings, engines);
    if !course.is_empty() {
        document.blocks.push(Block::Verbatim(course));
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
        let [nelo, los, games, won, drawn, lost, pairs] = worth::strength_cells(&strength);
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
    if let Some((sprt, look)) = summary.test() {
        let mut table = Table::new(["", ""]);
        let mut row = |label: &str, value: String| table.push([label.to_owned(), value]);
        row("LLR", terminal::sprt_text(&sprt, look));
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

/// Ratings, and for a round robin everybody against everybody.
fn standings(document: &mut Document, summary: &Summary, plan: &Plan) {
    let Some(ratings) = summary.ratings() else {
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
            format!("{:+.1}{}", rating.rating, margin(rating.margin)),
            games.to_string(),
            percent((games > 0).then(|| points / games as f64)),
        ]);
    }
    document.table(table);
    document.paragraph(
        "By maximum likelihood over all games (Davidson's model), around a mean of 0; the errors \
         allow for pairs.",
    );
    if plan.design.format == Format::RoundRobin {
        let order: Vec<usize> = ratings.iter().map(|rating| rating.engine).collect();
        document.heading("Everybody against everybody");
        document.table(cross_table(summary, &order));
        document.paragraph("Elo of the engine of the row against that of the column (95 %).");
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
    let mut rows = vec![vec![String::new()]];
    rows[0].extend(order.iter().map(|engine| summary.engines[*engine].clone()));
    for &row in order {
        let cell = |&column: &usize| {
            let strength = match row.cmp(&column) {
                std::cmp::Ordering::Equal => return "·".to_owned(),
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

fn conditions(document: &mut Document, summary: &Summary, origin: &Origin<'_>) {
    let plan = origin.plan;
    let mut engines = Table::new(["engine", "program", "options", "limits", "BLAKE3"]);
    for ((name, engine), hash) in plan.own_engines().zip(origin.engine_hashes) {
        engines.push([
            name.to_owned(),
            program(engine),
            options(engine),
            engine.conditions.limits.to_string(),
            short(hash),
        ]);
    }
    document.table(engines);
    if let Some(ablation) = &plan.ablation {
        document.paragraph(format!(
            "Its opponents are the same engine with the option {} set to one feature each.",
            ablation.option
        ));
    }
    if let Some(tuning) = &plan.tuning {
        document.paragraph(tuned::words(tuning));
    }
    let mut table = Table::new(["", ""]);
    let mut row = |label: &str, value: String| table.push([label.to_owned(), value]);
    row("run", format!("{}, begun {}", summary.run, origin.begun));
    if let Some(about) = &summary.about {
        row("about", about.clone());
    }
    row("Arbiter", origin.version.to_owned());
    let book = match &plan.book {
        BookSource::Bundled => "the bundled book".to_owned(),
        BookSource::File(path) => path.display().to_string(),
    };
    row("openings", format!("{book}, BLAKE3 {}, {}", short(origin.book_hash), origin.openings));
    if !summary.quarantine.is_empty() {
        row("openings left out", terminal::left_out(summary));
    }
    row("seed", plan.seed.to_string());
    row("schedule", rules_in_words(&plan.design, plan.engines.len()));
    row("games counted", summary.standing.games().to_string());
    row("games at once", plan.concurrency.to_string());
    row(
        "processors",
        match (&plan.affinity, cpus_per_game(plan)) {
            (Affinity::None, _) => "left to the system".to_owned(),
            (affinity, each) => format!("{affinity}, {each} for each game"),
        },
    );
    if let Some(scale) = plan.scale {
        row("time", scale.words());
    }
    if let (Some(sprt), Kind::Ablate) = (plan.sprt, plan.kind) {
        row("test of each feature", terminal::hypotheses(&sprt));
    }
    for rule in &origin.adjudication {
        row("adjudication", rule.clone());
    }
    row("faults allowed", percent(Some(plan.fault_limit)));
    if let Some(noise) = terminal::host_noise(summary) {
        row("host noise", noise);
    }
    document.table(table);
}

fn program(engine: &Engine) -> String {
    let name = match &engine.program {
        Program::Bundled => "Palimpsest, bundled".to_owned(),
        Program::Path(path) => path.display().to_string(),
    };
    let name = match &engine.provenance {
        Some(from) => format!("{} at {}", from.repo.display(), from.words()),
        None => name,
    };
    std::iter::once(name).chain(engine.args.iter().cloned()).collect::<Vec<_>>().join(" ")
}

fn options(engine: &Engine) -> String {
    let shown = engine.options.iter().map(|(name, value)| format!("{name}={value}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    if shown.is_empty() { "none".to_owned() } else { shown }
}

fn short(hash: &str) -> String {
    hash.chars().take(HASH_DIGITS).collect()
}

fn margin(margin: Option<f64>) -> String {
    margin.map_or_else(|| " (interval open)".to_owned(), |margin| format!(" ± {margin:.1}"))
}
