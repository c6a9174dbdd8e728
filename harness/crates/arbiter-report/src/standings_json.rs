//! The standings of a tournament as a part of the JSON report.

use arbiter_schedule::Format;
use serde::Serialize;

use crate::json::Members;
use crate::standings::{Row, Standings};

/// What the report says of a tournament.
#[derive(Debug, Serialize)]
pub(crate) struct TournamentFigures<'a> {
    format: Format,
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
    #[serde(flatten)]
    elo: Members<3>,
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
            let Row { ranked, games, rating } = row;
            let estimate = rating.filter(|rating| rating.won_all.is_none());
            let [low, high] = rating.map_or([None; 2], |rating| rating.ends());
            RowFigures {
                rank: ranked.rank,
                engine: name(ranked.engine),
                points: ranked.points,
                games: ranked.games,
                wins: games.wins,
                draws: games.draws,
                losses: games.losses,
                buchholz: ranked.buchholz,
                sonneborn_berger: ranked.sonneborn_berger,
                survived: ranked.survived,
                elo: Members([
                    ("elo", estimate.map(|rating| rating.elo)),
                    ("elo_low", low),
                    ("elo_high", high),
                ]),
                elo_group: estimate.and_then(|rating| Some(rating.group? + 1)),
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
            format: schedule.design().format,
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
