//! Standings of a tournament in documents and in the JSON report: a table and, for formats whose
//! pairings depend on results, the rounds or the bracket.

mod bracket;

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::{Rating, Row, Standings, Summary, mean_score, points, superiority};
use crate::parts::{Block, Document, GamesByResult, Meeting, Round, Side, Table, UNDEFINED};
use crate::topics::result_figures;
use arbiter_names::quantity;
use arbiter_schedule::{Encounter, Format, Schedule};
use arbiter_stats::{Trinomial, elo::finite};

/// Maximum number of encounters for which rounds are listed; the store contains all encounters.
const MAX_LISTED: usize = 500;

/// Maximum number of engines in a crosstable.
pub(crate) const MAX_CROSS: usize = 20;

/// Adds the table of standings, the notes on the table, and the rounds or the bracket.
pub(crate) fn all(document: &mut Document, standings: &Standings, engines: &[String]) {
    document.table(table(standings, engines));
    notes(standings).into_iter().for_each(|note| document.paragraph(note));
    rounds_or_bracket(document, standings, engines);
}

/// Adds the table of standings, a chart of the ratings (if `has_pictures` is `true`), notes, a
/// crosstable, and the rounds or the bracket.
pub(crate) fn in_full(
    document: &mut Document,
    summary: &Summary,
    standings: &Standings,
    has_pictures: bool,
) {
    let engines = &summary.engines;
    document.table(table(standings, engines));
    let ratings = summary.ratings().filter(|_| engines.len() > 2);
    if engines.len() > 2 {
        if let Some(ratings) = ratings.as_ref().filter(|_| has_pictures) {
            let named = ratings
                .iter()
                .map(|(engine, rating)| (*engine, engines[*engine].as_str(), *rating));
            document.figures([result_figures::ratings(&named.collect::<Vec<_>>())]);
        }
        document.paragraph(if ratings.is_some() { RATED } else { UNRATED });
    }
    notes(standings).into_iter().for_each(|note| document.paragraph(note));
    if (3..=MAX_CROSS).contains(&engines.len()) {
        document.blocks.push(cross_table(summary, standings, ratings.as_deref()));
        document.paragraph(
            "Points of the row's engine against the column's engine (wins-draws-losses); – \
             if the engines did not meet.",
        );
    }
    rounds_or_bracket(document, standings, engines);
}

const RATED: &str = "Elo is the maximum-likelihood estimate from all games, with a mean of 0, on \
    the logistic scale; the errors account for the pairing of games.";

const UNRATED: &str = "These games do not connect all engines: ratings require that every two \
    engines took points from each other, directly or through other engines.";

const BOUND: &str = "An Elo with > or < is a bound (50 %) for an engine that won or lost all its \
    games against the engines with a finite Elo, so that there is no finite estimate.";

const GROUPS: &str = "Engines of different groups cannot be compared: no games connect the groups, \
    or one group won all connecting games.\nEach group has its own Elo scale.";

/// Returns the crosstable, in descending order of rating or, if there are no ratings, in the order
/// of the standings.
fn cross_table(
    summary: &Summary,
    standings: &Standings,
    ratings: Option<&[(usize, Rating)]>,
) -> Block {
    let order: Vec<usize> = match ratings {
        Some(ratings) => ratings.iter().map(|(engine, _)| *engine).collect(),
        None => standings.rows.iter().map(|row| row.ranked.engine).collect(),
    };
    let name = |engine: &usize| &summary.engines[*engine];
    let mut table = Table::with_columns(["points"], order.iter().map(name));
    let mut scores = Vec::new();
    for row in &order {
        let games = order.iter().map(|column| {
            let found = summary.counts.encounter([*row, *column]);
            if row < column { found.games } else { found.swapped().games }
        });
        let games: Vec<_> = games.collect();
        let cells = games.iter().zip(&order).map(|(games, column)| match mean_score(games) {
            _ if row == column => "·".to_owned(),
            None => "–".to_owned(),
            Some(mean) => {
                let points = mean * games.games() as f64;
                format!("{points:.1} ({}-{}-{})", games.wins, games.draws, games.losses)
            }
        });
        table.push_with([name(row)], cells);
        scores.push(games.iter().map(mean_score).collect());
    }
    Block::CrossTable { table, scores }
}

/// Adds the bracket of a knockout, or the rounds of another format whose pairings depend on
/// results.
fn rounds_or_bracket(document: &mut Document, standings: &Standings, engines: &[String]) {
    let schedule = &standings.schedule;
    let met = schedule.encounters();
    let block = match schedule.bracket() {
        // Formats with a fixed schedule have neither rounds with results nor a bracket.
        None if met.is_empty() || met.len() > MAX_LISTED => return,
        None => {
            let rounds = rounds(schedule, engines);
            Block::Rounds { text: lines(&rounds), rounds, is_bracket: false }
        }
        Some(knockout) => {
            let rounds = bracket::rounds(knockout, met, engines);
            let text = bracket::draw(knockout, met, engines);
            Block::Rounds { rounds, is_bracket: true, text }
        }
    };
    document.blocks.extend([Block::Gap, block]);
}

/// Returns the table of standings, with one row per engine.
fn table(standings: &Standings, engines: &[String]) -> Table {
    let has = |part: fn(&Row) -> bool| standings.rows.iter().any(part);
    let has_buchholz = has(|row| row.ranked.buchholz.is_some());
    let has_berger = has(|row| row.ranked.sonneborn_berger.is_some());
    let more = [has_buchholz.then_some("Buchholz"), has_berger.then_some("Son.-Berger")];
    let mut table = Table::with_columns(
        ["rank", "engine", "points", "Elo (95 %)", "games", "won", "drawn", "lost"],
        more.into_iter().flatten(),
    );
    for Row { ranked, games: Trinomial { wins, draws, losses }, rating } in &standings.rows {
        let rating = rating.map_or(UNDEFINED.to_owned(), |rating| match rating.group {
            Some(group) if standings.has_groups() => format!("{rating} (group {})", group + 1),
            _ => rating.to_string(),
        });
        let name = &engines[ranked.engine];
        let points = format!("{:.1}", ranked.points);
        let tie_breaks = [ranked.buchholz, ranked.sonneborn_berger].into_iter().flatten();
        table.push_with(
            [&ranked.rank, name, &points, &rating, &ranked.games, wins, draws, losses],
            tie_breaks.map(|value| format!("{value:.2}")),
        );
    }
    table
}

/// Returns the notes that explain the table of standings.
fn notes(standings: &Standings) -> Vec<String> {
    let mut notes = Vec::new();
    let design = standings.schedule.design();
    if standings.rows.iter().any(|row| row.rating.is_some_and(|rating| rating.won_all.is_some())) {
        notes.push(BOUND.to_owned());
    }
    if standings.has_groups() {
        notes.push(GROUPS.to_owned());
    }
    if !standings.schedule.byes().is_empty() {
        let bye = design.pairs * design.games_per_pair();
        notes.push(format!("Points include {} for each bye.", points(bye)));
    }
    notes
}

/// Returns the rounds with their encounters and byes.
fn rounds(schedule: &Schedule, engines: &[String]) -> Vec<Round> {
    let encounters = schedule.encounters();
    let word = if schedule.design().format == Format::Ladder { "Climb" } else { "Round" };
    let last = encounters.iter().map(|encounter| encounter.round).max();
    let round = |round: u64| {
        let met = encounters.iter().filter(|encounter| encounter.round == round);
        let byes = schedule.byes().iter().filter(|(of, _)| *of == round);
        let byes = byes.map(|(_, engine)| {
            let name = engines[*engine].clone();
            let sides = vec![Side { name, score: "bye".to_owned(), is_ahead: false }];
            Meeting { sides, note: String::new() }
        });
        let encounters = met.map(|encounter| meeting(encounter, engines)).chain(byes).collect();
        Round { name: format!("{word} {}", round + 1), encounters }
    };
    (0..last.map_or(0, |last| last + 1)).map(round).collect()
}

fn meeting(encounter: &Encounter, engines: &[String]) -> Meeting {
    let side = |side: usize| Side {
        name: engines[encounter.engines[side]].clone(),
        score: points(encounter.score.half_points[side]),
        is_ahead: encounter.is_over() && encounter.leader() == Some(side),
    };
    let note = match encounter.planned - encounter.counted {
        0 => String::new(),
        left => format!("{} to play", quantity(left, "pair")),
    };
    Meeting { sides: vec![side(0), side(1)], note }
}

/// Formats the rounds as lines of text.
fn lines(rounds: &[Round]) -> String {
    let firsts = rounds.iter().flat_map(|round| &round.encounters).map(|met| &met.sides[..]);
    let widths = firsts.filter_map(|sides| match sides {
        [first, _] => Some(first.name.chars().count()),
        _ => None,
    });
    let width = widths.max().unwrap_or(0);
    let line = |Meeting { sides, note }: &Meeting| match &sides[..] {
        [first, second] => {
            let note = if note.is_empty() { String::new() } else { format!("  ({note})") };
            let (name, a, b) = (&first.name, &first.score, &second.score);
            format!("  {name:<width$}  {a:>5} – {b:<5}  {}{note}\n", second.name)
        }
        sides => sides.iter().map(|side| format!("  {}  {}\n", side.name, side.score)).collect(),
    };
    let round = |Round { name, encounters }: &Round| {
        format!("{name}\n{}", encounters.iter().map(line).collect::<String>())
    };
    rounds.iter().map(round).collect::<Vec<_>>().join("\n")
}

/// Adds a table with the LOS of each engine against each other engine.
pub(crate) fn likelihoods(document: &mut Document, summary: &Summary) {
    let (Some(ratings), Some(rated)) = (summary.ratings(), summary.rate_engines()) else { return };
    if (3..=MAX_CROSS).contains(&ratings.len()) {
        let named = |(engine, _): &(usize, Rating)| (*engine, summary.engines[*engine].as_str());
        let engines: Vec<_> = ratings.iter().map(named).collect();
        let likelihood = |one, other| superiority(&rated, one, other);
        result_figures::superiority(document, &engines, likelihood);
    }
}

/// Standings and encounters of a tournament.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tournament<'a> {
    /// Format of the tournament.
    format: Format,
    /// Number of the current or last round, from 1.
    round: u64,
    /// Number of rounds.
    rounds: u64,
    /// Number of pairs per encounter; an encounter that is decided early has fewer.
    pairs_per_encounter: u64,
    /// Engines, in the order of their ranks.
    standings: Vec<Standing<'a>>,
    /// Encounters, in the order in which they were paired; empty for formats with a fixed schedule.
    schedule: Vec<Scheduled<'a>>,
    /// Byes.
    byes: Vec<Bye<'a>>,
    /// Winner of a knockout; `null` before the end and in other formats.
    winner: Option<&'a str>,
}

/// Standing of an engine.
#[derive(Debug, Serialize, JsonSchema)]
struct Standing<'a> {
    /// Place, from 1; equal engines share a place.
    rank: usize,
    /// Name of the engine.
    engine: &'a str,
    /// Points, including points for byes.
    points: f64,
    #[serde(flatten)]
    games: GamesByResult,
    /// Sum of the opponents' points; `null` in formats other than Swiss.
    buchholz: Option<f64>,
    /// Sum of the opponents' points, each multiplied by the points scored against the opponent;
    /// `null` in formats in which opponents are not comparable.
    sonneborn_berger: Option<f64>,
    /// Number of rounds of a knockout that the engine survived, including byes; `null` in other
    /// formats.
    rounds_survived: Option<usize>,
    /// Logistic Elo, relative to the mean of the comparable engines; `null` if all games were won
    /// or lost.
    elo: Option<f64>,
    /// Lower end of the interval of `elo`, or lower bound of the Elo if all games were won.
    elo_low: Option<f64>,
    /// Upper end of the interval of `elo`, or upper bound of the Elo if all games were lost.
    elo_high: Option<f64>,
    /// Number, from 1, of the group of comparable engines.
    elo_group: Option<usize>,
}

/// Encounter of a tournament.
#[derive(Debug, Serialize, JsonSchema)]
struct Scheduled<'a> {
    /// Number of the round, from 1.
    round: u64,
    /// Name of the first engine.
    first: &'a str,
    /// Name of the second engine.
    second: &'a str,
    /// Points of the first engine.
    first_points: f64,
    /// Points of the second engine.
    second_points: f64,
    /// Number of scheduled pairs or, if the encounter was decided early, of pairs until the
    /// decision.
    pairs: u64,
    /// Number of counted pairs.
    pairs_counted: u64,
}

/// Bye of an engine.
#[derive(Debug, Serialize, JsonSchema)]
struct Bye<'a> {
    /// Number of the round, from 1.
    round: u64,
    /// Name of the engine.
    engine: &'a str,
}

/// Returns the standings and the encounters for JSON; `None` if the run is not a tournament.
pub(crate) fn tournament(summary: &Summary) -> Option<Tournament<'_>> {
    let standings = summary.standings.as_ref()?;
    let schedule = &standings.schedule;
    let name = |engine: usize| summary.engines[engine].as_str();
    let (round, rounds) = schedule.round();
    let encounter = |encounter: &Encounter| {
        let [first, second] = encounter.engines.map(name);
        let [first_points, second_points] =
            encounter.score.half_points.map(|half_points| half_points as f64 / 2.0);
        Scheduled {
            round: encounter.round + 1,
            first,
            second,
            first_points,
            second_points,
            pairs: encounter.planned,
            pairs_counted: encounter.counted,
        }
    };
    let bye = |&(round, engine): &(u64, usize)| Bye { round: round + 1, engine: name(engine) };
    let winner = schedule.bracket().and_then(|bracket| bracket.winner());
    Some(Tournament {
        format: schedule.design().format,
        round: round + 1,
        rounds,
        pairs_per_encounter: schedule.design().pairs,
        standings: standings
            .rows
            .iter()
            .map(|standing| row(standing, name(standing.ranked.engine)))
            .collect(),
        schedule: schedule.encounters().iter().map(encounter).collect(),
        byes: schedule.byes().iter().map(bye).collect(),
        winner: winner.map(name),
    })
}

fn row<'a>(Row { ranked, games, rating }: &Row, engine: &'a str) -> Standing<'a> {
    let estimate = rating.filter(|rating| rating.won_all.is_none());
    // A bound has only one end.
    let [elo_low, elo_high] =
        rating.map_or([None; 2], |rating| rating.open_ends(f64::NAN).map(finite));
    Standing {
        rank: ranked.rank,
        engine,
        points: ranked.points,
        games: (*games).into(),
        buchholz: ranked.buchholz,
        sonneborn_berger: ranked.sonneborn_berger,
        rounds_survived: ranked.survived,
        elo: estimate.map(|rating| rating.elo),
        elo_low,
        elo_high,
        elo_group: estimate.and_then(|rating| Some(rating.group? + 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::Rating;
    use crate::forms::plain_body;
    use arbiter_run::RunCounts;
    use arbiter_schedule::Design;

    fn swiss() -> Standings {
        let design =
            Design { format: Format::Swiss, seeds: 3, rounds: 2, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(design, 3, 1);
        schedule.count(schedule.next_to_count(), [3, 1], 2);
        Standings::new(&schedule, &RunCounts::default())
    }

    fn text(standings: &Standings) -> String {
        let mut document = Document::new(String::new());
        all(&mut document, standings, &["Anna", "Bo", "Cleo"].map(str::to_owned));
        plain_body(&document, None)
    }

    #[test]
    fn swiss_rounds_show_byes() {
        let text = text(&swiss());
        let (table, rounds) = text.split_once("\n\n").unwrap();
        assert!(table.contains("Buchholz") && table.contains("Points include 1 for each bye."));
        let expected = "Round 1\n  Anna     1½ – ½      Bo\n  Cleo  bye\n\n\
                        Round 2\n  Anna      0 – 0      Cleo  (1 pair to play)\n  Bo  bye\n";
        assert_eq!(rounds, expected, "{text}");
    }

    #[test]
    fn ratings_show_their_group() {
        let mut standings = swiss();
        for (group, row) in standings.rows.iter_mut().enumerate() {
            row.rating =
                Some(Rating { elo: 0.0, margin: Some(7.0), won_all: None, group: Some(group) });
        }
        let text = text(&standings);
        assert!(text.contains(" +0.0 ± 7.0 (group 1) ") && text.contains("(group 3)"), "{text}");
    }
}
