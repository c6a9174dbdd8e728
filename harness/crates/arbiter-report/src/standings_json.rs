//! The standings of a tournament as a part of the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use crate::json::GamesByResult;
use crate::standings::Row;
use crate::summary::Summary;
use arbiter_schedule::{Encounter, Format};

/// A tournament. Rounds and groups are counted from 1.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Tournament<'a> {
    /// Its format.
    format: Format,
    /// The round that is played, or the last one.
    round: u64,
    /// Rounds in all.
    rounds: u64,
    /// Pairs of an encounter, unless it is decided before.
    pairs_per_encounter: u64,
    /// The engines from first to last.
    standings: Vec<Standing<'a>>,
    /// Encounters in the order in which they became known; none for formats that are fixed.
    schedule: Vec<Scheduled<'a>>,
    /// Rounds without an opponent.
    byes: Vec<Bye<'a>>,
    /// Winner of a knockout or a ladder, once it is known.
    winner: Option<&'a str>,
}

/// One engine of a tournament.
#[derive(Debug, Serialize, JsonSchema)]
struct Standing<'a> {
    /// Its place, from 1; equal engines share it.
    rank: usize,
    /// Its name.
    engine: &'a str,
    /// Its points, byes included.
    points: f64,
    #[serde(flatten)]
    games: GamesByResult,
    /// Sum of the points of its opponents; Swiss only.
    buchholz: Option<f64>,
    /// Sum of the points of its opponents times what was scored against them; formats in which engines
    /// meet comparable opponents only.
    sonneborn_berger: Option<f64>,
    /// Knockout only: encounters survived, byes included.
    survived: Option<usize>,
    /// Logistic Elo around the mean of the engines that it can be compared with.
    elo: Option<f64>,
    /// Lower end of its interval, or its bound if it won all games.
    elo_low: Option<f64>,
    /// Upper end of its interval, or its bound if it lost all games.
    elo_high: Option<f64>,
    /// Group of engines that can be compared.
    elo_group: Option<usize>,
}

/// An encounter.
#[derive(Debug, Serialize, JsonSchema)]
struct Scheduled<'a> {
    /// Its round.
    round: u64,
    /// Name of one engine.
    first: &'a str,
    /// Name of the other.
    second: &'a str,
    /// Points of the first.
    first_points: f64,
    /// Points of the second.
    second_points: f64,
    /// Pairs scheduled, or counted until it was decided.
    pairs: u64,
    /// Pairs that count.
    pairs_counted: u64,
}

/// A round that an engine sits out.
#[derive(Debug, Serialize, JsonSchema)]
struct Bye<'a> {
    /// The round.
    round: u64,
    /// Name of the engine.
    engine: &'a str,
}

/// The tournament, if the run is one.
pub(crate) fn tournament(summary: &Summary) -> Option<Tournament<'_>> {
    let standings = summary.standings.as_ref()?;
    let schedule = &standings.schedule;
    let name = |engine: usize| summary.engines[engine].as_str();
    let (round, rounds) = schedule.round();
    let encounter = |encounter: &Encounter| {
        let [first, second] = encounter.engines.map(name);
        let [first_points, second_points] =
            encounter.score.halves.map(|halves| halves as f64 / 2.0);
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
        survived: ranked.survived,
        elo: estimate.map(|rating| rating.elo),
        elo_low,
        elo_high,
        elo_group: estimate.and_then(|rating| Some(rating.group? + 1)),
    }
}
