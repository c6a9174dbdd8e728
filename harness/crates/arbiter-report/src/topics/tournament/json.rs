//! Standings of a tournament as a part of the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::{Row, Summary};
use crate::parts::GamesByResult;
use arbiter_schedule::{Encounter, Format};

/// Standings and encounters of a tournament. Rounds and groups are counted from 1.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tournament<'a> {
    /// Format of the tournament.
    format: Format,
    /// Round that is played, or the last one.
    round: u64,
    /// Number of rounds.
    rounds: u64,
    /// Pairs of an encounter, unless it is decided before.
    pairs_per_encounter: u64,
    /// Engines from first to last.
    standings: Vec<Standing<'a>>,
    /// Encounters in the order in which they became known; none for formats that are fixed.
    schedule: Vec<Scheduled<'a>>,
    /// Rounds without an opponent.
    byes: Vec<Bye<'a>>,
    /// Winner of a knockout, once it is known; `null` in other formats.
    winner: Option<&'a str>,
}

/// Engine of a tournament.
#[derive(Debug, Serialize, JsonSchema)]
struct Standing<'a> {
    /// Place, from 1; equal engines share it.
    rank: usize,
    /// Name of the engine.
    engine: &'a str,
    /// Points, byes included.
    points: f64,
    #[serde(flatten)]
    games: GamesByResult,
    /// Sum of the opponents' points; Swiss only.
    buchholz: Option<f64>,
    /// Sum of the opponents' points times the points scored against them; formats in which engines
    /// meet comparable opponents only.
    sonneborn_berger: Option<f64>,
    /// Rounds of a knockout that the engine survived, byes included; `null` in other formats.
    rounds_survived: Option<usize>,
    /// Logistic Elo around the mean of the engines that it can be compared with.
    elo: Option<f64>,
    /// Lower end of the interval of Elo, or its bound if all games were won.
    elo_low: Option<f64>,
    /// Upper end of the interval of Elo, or its bound if all games were lost.
    elo_high: Option<f64>,
    /// Group of engines that can be compared.
    elo_group: Option<usize>,
}

/// Encounter of a tournament.
#[derive(Debug, Serialize, JsonSchema)]
struct Scheduled<'a> {
    /// Number of the round.
    round: u64,
    /// Name of the first engine.
    first: &'a str,
    /// Name of the second engine.
    second: &'a str,
    /// Points of the first engine.
    first_points: f64,
    /// Points of the second engine.
    second_points: f64,
    /// Number of pairs scheduled, or counted until the encounter was decided.
    pairs: u64,
    /// Number of pairs that count.
    pairs_counted: u64,
}

/// Round that an engine sits out.
#[derive(Debug, Serialize, JsonSchema)]
struct Bye<'a> {
    /// Number of the round.
    round: u64,
    /// Name of the engine.
    engine: &'a str,
}

/// Returns the tournament, if the run is one.
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
        standings: standings.rows.iter().map(|own| row(own, name(own.ranked.engine))).collect(),
        schedule: schedule.encounters().iter().map(encounter).collect(),
        byes: schedule.byes().iter().map(bye).collect(),
        winner: winner.map(name),
    })
}

fn row<'a>(Row { ranked, games, rating }: &Row, engine: &'a str) -> Standing<'a> {
    let estimate = rating.filter(|rating| rating.won_all.is_none());
    // A bound has one end only.
    let [elo_low, elo_high] = rating.map_or([None; 2], |rating| rating.ends());
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
