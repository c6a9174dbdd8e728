//! Standings of a tournament in the JSON report.

use schemars::JsonSchema;
use serde::Serialize;

use crate::figures::{Row, Summary};
use crate::parts::GamesByResult;
use arbiter_schedule::{Encounter, Format};
use arbiter_stats::elo::finite;

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
