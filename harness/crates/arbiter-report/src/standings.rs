//! The standings of a tournament, as values.

use arbiter_plan::run::standing::Standing;
use arbiter_schedule::Ranked;
use arbiter_schedule::{Design, Format, OpeningPolicy, Schedule};
use arbiter_stats::Trinomial;
use arbiter_stats::elo::Z_95;
use arbiter_stats::ratings::{self, Errors, Meeting, Options, Rated};

/// A tournament, or how far it came.
#[derive(Debug, Clone)]
pub struct Standings {
    /// The rules, the encounters and who meets whom next.
    pub schedule: Schedule,
    /// Engines from first to last.
    pub rows: Vec<Row>,
}

/// One engine's line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Place and points.
    pub ranked: Ranked,
    /// Games by result.
    pub games: Trinomial,
    /// Strength; `None` before the first game, or if nobody it met can be rated.
    pub rating: Option<Rating>,
}

/// A strength in Elo, around the mean of those it can be compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rating {
    /// An estimate with half of its 95 % interval, as [`margin`] has it.
    Estimate {
        /// Elo.
        elo: f64,
        /// Half of the 95 % interval.
        margin: f64,
        /// Engines are comparable within a group only; from 0.
        group: usize,
    },
    /// The engine won all its games: it is stronger than this.
    Above(f64),
    /// The engine lost all its games: it is weaker than this.
    Below(f64),
}

impl Standings {
    /// The standings after the counted pairs.
    pub fn new(schedule: &Schedule, standing: &Standing) -> Standings {
        let rated = rated(schedule.engines(), standing);
        let row = |ranked: Ranked| Row {
            ranked,
            games: games_of(standing, ranked.engine),
            rating: rated.as_ref().and_then(|rated| rating(rated, ranked.engine)),
        };
        let rows = schedule.ranking().into_iter().map(row).collect();
        Standings { schedule: schedule.clone(), rows }
    }

    /// Whether there are engines that cannot be compared with others.
    pub(crate) fn has_groups(&self) -> bool {
        let is_other =
            |row: &Row| matches!(row.rating, Some(Rating::Estimate { group, .. }) if group > 0);
        self.rows.iter().any(is_other)
    }
}

fn games_of(standing: &Standing, engine: usize) -> Trinomial {
    let own = standing.encounters.iter().filter_map(|(engines, encounter)| match *engines {
        [first, _] if first == engine => Some(encounter.games),
        [_, second] if second == engine => Some(encounter.games.swapped()),
        _ => None,
    });
    own.sum()
}

fn rating(rated: &Rated, engine: usize) -> Option<Rating> {
    if let Some(perfect) = rated.perfect.iter().find(|perfect| perfect.player == engine) {
        let bound = if perfect.won_all { Rating::Above } else { Rating::Below };
        return Some(bound(perfect.rating));
    }
    let (elo, margin) = (rated.rating(engine)?, margin(rated, engine)?);
    Some(Rating::Estimate { elo, margin, group: rated.group(engine)? })
}

/// All engines of a run by maximum likelihood over its counted games; `None` if that has no maximum.
pub fn rated(engines: usize, standing: &Standing) -> Option<Rated> {
    let met = standing.encounters.iter();
    let meetings: Vec<Meeting> = met.map(|(engines, e)| e.meeting(*engines)).collect();
    ratings::rate(engines, &meetings, &Options::default()).ok()
}

/// Half of the 95 % interval of a rating, in Elo: every table and chart of ratings takes this one, which
/// counts pairs as pairs. `None` for an engine that won or lost everything.
pub(crate) fn margin(rated: &Rated, player: usize) -> Option<f64> {
    rated.error(player, Errors::Sandwich).map(|error| Z_95 * error)
}

/// The likelihood, 0 to 1, that each engine of `order` is stronger than each other one, by the same
/// errors; `None` for an engine against itself and where the two cannot be compared.
pub(crate) fn superiority(rated: &Rated, order: &[usize]) -> Vec<Vec<Option<f64>>> {
    let likelihood = |one: usize, other: usize| match one == other {
        true => None,
        false => rated.superiority(one, other, Errors::Sandwich),
    };
    let row = |one: &usize| order.iter().map(|other| likelihood(*one, *other)).collect();
    order.iter().map(row).collect()
}

/// Points of a pair of engines as people write them: `2½`.
pub(crate) fn points(halves: u64) -> String {
    match (halves / 2, halves % 2) {
        (whole, 0) => whole.to_string(),
        (0, _) => "½".to_owned(),
        (whole, _) => format!("{whole}½"),
    }
}

/// Who leads, and which round it is, in one line; `None` for a match of two.
pub(crate) fn leaders_line(schedule: &Schedule, engines: &[String]) -> Option<String> {
    if engines.len() < 3 {
        return None;
    }
    let (round, rounds) = schedule.round();
    let leaders = schedule.ranking().into_iter().take(3).map(|row| {
        let halves = (2.0 * row.points).round() as u64;
        // Points count a bye as half of an encounter, so games count it as a whole one.
        let byes = schedule.byes().iter().filter(|(_, engine)| *engine == row.engine).count();
        let design = schedule.design();
        let games = row.games + byes as u64 * design.pairs * design.games_per_pair();
        format!("{}. {} {}/{games}", row.rank, engines[row.engine], points(halves))
    });
    let leaders: Vec<String> = leaders.collect();
    Some(format!("round {}/{rounds} · {}", round + 1, leaders.join(" · ")))
}

/// The rules of a tournament, or of a match of two, in one line.
pub fn rules_in_words(design: &Design, engines: usize) -> String {
    let unit = if design.is_single { "games" } else { "pairs" };
    let mut words = match design.format {
        Format::Knockout => vec![
            match design.plays_out {
                true => format!("knockout, {} {unit} an encounter", design.pairs),
                false => format!("knockout, up to {} {unit} an encounter", design.pairs),
            },
            format!("up to {} more to break a tie, then the better seed", design.tie_breaks),
        ],
        Format::Swiss => {
            vec![format!("Swiss, {} rounds, {} {unit} an encounter", design.rounds, design.pairs)]
        }
        Format::Ladder => {
            let climbs = if design.rounds == 1 { "climb" } else { "climbs" };
            let pairs = format!("{} {unit} an encounter", design.pairs);
            vec![format!("ladder, {} {climbs}, {pairs}", design.rounds)]
        }
        _ if engines == 2 => {
            vec![format!("at most {} {unit}", design.rounds.saturating_mul(design.pairs))]
        }
        Format::RoundRobin | Format::Gauntlet | Format::Pyramid => {
            let format = design.format.as_str();
            let rounds = if design.rounds == 1 { "round" } else { "rounds" };
            let each = format!("at most {} {unit} for each two engines", design.pairs);
            vec![format!("{format}, {} {rounds}, {each}", design.rounds)]
        }
    };
    if design.is_single {
        words.push("each opening played once, colours not balanced".to_owned());
    }
    if design.is_reversed {
        words.push("sides reversed".to_owned());
    }
    if design.openings != OpeningPolicy::Shared {
        words.push(format!("openings {}", design.openings.as_str()));
    }
    words.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_plan::run::standing::{GameTally, PairTally};
    use arbiter_stats::GameResult;

    fn tally(engines: [usize; 2], results: [GameResult; 2]) -> PairTally {
        let game = |result| GameTally { result, termination: Termination::Checkmate, fault: None };
        let [first, second] = results.map(game);
        PairTally { pair: 0, engines, first, second: Some(second) }
    }

    #[test]
    fn everybody_has_a_line_and_no_estimate_is_without_its_interval() {
        use GameResult::{Draw, Loss, Win};
        let mut schedule = Schedule::new(Design::round_robin(1), 4, 1);
        let mut standing = Standing::default();
        // Engine 3 loses everything.
        let results = [[Win, Draw], [Draw, Draw], [Win, Win], [Loss, Win], [Win, Win], [Win, Win]];
        for (pair, results) in (0..).zip(results) {
            let tally = tally(schedule.pairing(pair).unwrap().engines, results);
            schedule.count(pair, tally.halves(), 2);
            standing.count(&tally);
        }
        let standings = Standings::new(&schedule, &standing);
        let shown: Vec<_> =
            standings.rows.iter().map(|row| (row.ranked.engine, row.ranked.points)).collect();
        assert_eq!(shown, [(0, 4.5), (2, 4.0), (1, 3.5), (3, 0.0)]);
        assert_eq!(standings.rows[0].games, Trinomial { losses: 0, draws: 3, wins: 3 });
        assert_eq!(standings.rows[3].games, Trinomial { losses: 6, draws: 0, wins: 0 });
        let is_wide = |row: &Row| match row.rating {
            Some(Rating::Estimate { margin, .. }) => margin > 50.0,
            _ => false,
        };
        assert!(standings.rows[..3].iter().all(is_wide), "{:?}", standings.rows);
        assert!(matches!(standings.rows[3].rating, Some(Rating::Below(_))));
        // The matrix has the same engines, and those that lost everything are in no comparison.
        let rated = rated(4, &standing).unwrap();
        let matrix = superiority(&rated, &[0, 1, 2, 3]);
        assert_eq!(matrix[0][0], None);
        assert_eq!(matrix[0][3], None);
        let (over, under) = (matrix[0][1].unwrap(), matrix[1][0].unwrap());
        assert!(over > 0.5 && (over + under - 1.0).abs() < 1e-12, "{over} {under}");
    }

    #[test]
    fn points_are_written_as_people_do() {
        assert_eq!([0, 1, 2, 5].map(points), ["0", "½", "1", "2½"]);
    }

    #[test]
    fn the_line_of_a_running_tournament() {
        let design = Design { format: Format::Swiss, rounds: 2, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(Design { seeds: 4, ..design }, 4, 1);
        schedule.count(schedule.counted(), [1, 3], 2);
        let names = ["A", "B", "C", "D"].map(str::to_owned);
        let line = leaders_line(&schedule, &names).unwrap();
        assert_eq!(line, "round 1/2 · 1. C 1½/2 · 2. A ½/2 · 3. B 0/0");
        schedule.count(schedule.counted(), [4, 0], 2);
        assert!(leaders_line(&schedule, &names).unwrap().starts_with("round 2/2 · 1. B 2/2"));
        assert_eq!(leaders_line(&schedule, &names[..2]), None);
        let schedule = Schedule::new(Design { seeds: 3, ..design }, 3, 1);
        let line = leaders_line(&schedule, &names[..3]).unwrap();
        assert_eq!(line, "round 1/2 · 1. C 1/2 · 2. A 0/0 · 2. B 0/0");
    }

    #[test]
    fn rules_are_told_in_words() {
        let check = |design: Design, engines, expected: &str| {
            assert_eq!(rules_in_words(&design, engines), expected);
        };
        let design = Design::round_robin(9);
        check(design, 2, "at most 9 pairs");
        check(design, 3, "round-robin, 1 round, at most 9 pairs for each two engines");
        let single = Design { is_single: true, is_reversed: true, ..design };
        check(
            single,
            2,
            "at most 9 games; each opening played once, colours not balanced; sides reversed",
        );
        let openings = OpeningPolicy::PerPair;
        let swiss = Design { format: Format::Swiss, rounds: 3, openings, ..design };
        check(swiss, 8, "Swiss, 3 rounds, 9 pairs an encounter; openings per-pair");
    }
}
