//! The standings of a tournament as a part of the JSON report.

use serde::Serialize;

use crate::standings::{Rating, Standings};

/// What the report says of a tournament.
#[derive(Debug, Serialize)]
pub(crate) struct TournamentFigures<'a> {
    format: &'static str,
    round: u64,
    rounds: u64,
    pairs_per_encounter: u64,
    standings: Vec<RowFigures<'a>>,
    /// Encounters in the order in which they became known; none for formats that are fixed.
    schedule: Vec<EncounterFigures<'a>>,
    byes: Vec<Bye<'a>>,
    winner: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct RowFigures<'a> {
    rank: usize,
    engine: &'a str,
    points: f64,
    games: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    buchholz: Option<f64>,
    sonneborn_berger: Option<f64>,
    /// Knockout: encounters survived, byes included.
    survived: Option<usize>,
    /// Around the mean of the engines it can be compared with; a bound has one end only.
    elo: Option<f64>,
    elo_low: Option<f64>,
    elo_high: Option<f64>,
    /// Only within a group are engines comparable.
    elo_group: Option<usize>,
}

#[derive(Debug, Serialize)]
struct EncounterFigures<'a> {
    round: u64,
    first: &'a str,
    second: &'a str,
    first_points: f64,
    second_points: f64,
    pairs: u64,
    pairs_counted: u64,
}

#[derive(Debug, Serialize)]
struct Bye<'a> {
    round: u64,
    engine: &'a str,
}

impl<'a> TournamentFigures<'a> {
    /// The figures; rounds are counted from 1.
    pub(crate) fn of(standings: &Standings, engines: &'a [String]) -> TournamentFigures<'a> {
        let schedule = &standings.schedule;
        let name = |engine: usize| engines[engine].as_str();
        let (round, rounds) = schedule.round();
        let rows = standings.rows.iter().map(|row| {
            let ranked = row.ranked;
            let (elo, elo_low, elo_high) = match row.rating {
                Some(Rating::Estimate { elo, margin, .. }) => {
                    (Some(elo), Some(elo - margin), Some(elo + margin))
                }
                Some(Rating::Above(elo)) => (None, Some(elo), None),
                Some(Rating::Below(elo)) => (None, None, Some(elo)),
                None => (None, None, None),
            };
            RowFigures {
                rank: ranked.rank,
                engine: name(ranked.engine),
                points: ranked.points,
                games: ranked.games,
                wins: row.games.wins,
                draws: row.games.draws,
                losses: row.games.losses,
                buchholz: ranked.buchholz,
                sonneborn_berger: ranked.sonneborn_berger,
                survived: ranked.survived,
                elo,
                elo_low,
                elo_high,
                elo_group: match row.rating {
                    Some(Rating::Estimate { group, .. }) => Some(group + 1),
                    _ => None,
                },
            }
        });
        let encounters = schedule.encounters().iter().map(|encounter| EncounterFigures {
            round: encounter.round + 1,
            first: name(encounter.engines[0]),
            second: name(encounter.engines[1]),
            first_points: encounter.score.halves[0] as f64 / 2.0,
            second_points: encounter.score.halves[1] as f64 / 2.0,
            pairs: encounter.planned,
            pairs_counted: encounter.counted,
        });
        let byes = schedule.byes().iter();
        let byes = byes.map(|&(round, engine)| Bye { round: round + 1, engine: name(engine) });
        TournamentFigures {
            format: schedule.design().format.as_str(),
            round: round + 1,
            rounds,
            pairs_per_encounter: schedule.design().pairs,
            standings: rows.collect(),
            schedule: encounters.collect(),
            byes: byes.collect(),
            winner: schedule.bracket().and_then(|bracket| bracket.winner()).map(name),
        }
    }
}
