//! The standings of a tournament as a part of the JSON report.

use crate::json::Object;
use crate::standings::Row;
use crate::summary::Summary;
use arbiter_schedule::Encounter;

/// The figures of a tournament; rounds and groups are counted from 1. Encounters are in the order in which
/// they became known; there are none for formats that are fixed.
pub(crate) fn json(summary: &Summary) -> Option<Object> {
    let standings = summary.standings.as_ref()?;
    let schedule = &standings.schedule;
    let name = |engine: usize| summary.engines[engine].as_str();
    let (round, rounds) = schedule.round();
    let encounter = |encounter: &Encounter| {
        let [first, second] = encounter.engines.map(name);
        let points = encounter.score.halves.map(|halves| halves as f64 / 2.0);
        Object::default()
            .with("round", encounter.round + 1)
            .with_all([("first", first), ("second", second)])
            .with_all([("first_points", points[0]), ("second_points", points[1])])
            .with_all([("pairs", encounter.planned), ("pairs_counted", encounter.counted)])
    };
    let bye = |&(round, engine): &(u64, usize)| {
        Object::default().with("round", round + 1).with("engine", name(engine))
    };
    let winner = schedule.bracket().and_then(|bracket| bracket.winner());
    let tournament = Object::default()
        .with("format", schedule.design().format)
        .with_all([("round", round + 1), ("rounds", rounds)])
        .with("pairs_per_encounter", schedule.design().pairs)
        .list("standings", standings.rows.iter().map(|own| row(own, name(own.ranked.engine))))
        .list("schedule", schedule.encounters().iter().map(encounter))
        .list("byes", schedule.byes().iter().map(bye))
        .with("winner", winner.map(name));
    Some(tournament)
}

fn row(Row { ranked, games, rating }: &Row, engine: &str) -> Object {
    let estimate = rating.filter(|rating| rating.won_all.is_none());
    // A bound has one end only.
    let [low, high] = rating.map_or([None; 2], |rating| rating.ends());
    Object::default()
        .with("rank", ranked.rank)
        .with("engine", engine)
        .with("points", ranked.points)
        .with("games", ranked.games)
        .with_all([("wins", games.wins), ("draws", games.draws), ("losses", games.losses)])
        .with("buchholz", ranked.buchholz)
        .with("sonneborn_berger", ranked.sonneborn_berger)
        // Knockout: encounters survived, byes included.
        .with("survived", ranked.survived)
        // Around the mean of the engines it can be compared with, which are those of its group.
        .with("elo", estimate.map(|rating| rating.elo))
        .with_all([("elo_low", low), ("elo_high", high)])
        .with("elo_group", estimate.and_then(|rating| Some(rating.group? + 1)))
}
