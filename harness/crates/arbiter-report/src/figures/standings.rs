//! Standings of a tournament: places, points and ratings of the engines.

use std::fmt;

use crate::parts::signed;
use arbiter_names::quantity;
use arbiter_run::{Encounter, RunCounts};
use arbiter_schedule::{Design, Format, OpeningPolicy, RankedEngine, Schedule};
use arbiter_stats::ratings::{self, Errors, Meeting, Options, RatingList};
use arbiter_stats::{Trinomial, elo::Z_95};

/// Final or current standings of a tournament.
#[derive(Debug, Clone)]
pub struct Standings {
    /// Rules, encounters, and the next pairings.
    pub schedule: Schedule,
    /// Rows of the engines, sorted by place.
    pub rows: Vec<Row>,
}

/// Standing of one engine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// Place and points.
    pub ranked: RankedEngine,
    /// Numbers of games by result.
    pub games: Trinomial,
    /// Rating; `None` before the first game, or if the engine cannot be rated.
    pub rating: Option<Rating>,
}

/// Elo rating of an engine, relative to the mean rating of the comparable engines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rating {
    /// Rating in Elo, or a bound on the rating.
    pub elo: f64,
    /// Half-width of the 95 % interval in Elo; `None` if the rating is only a bound.
    pub margin: Option<f64>,
    /// `Some(true)` if the engine won all games, so that the rating is a lower bound; `Some(false)`
    /// if the engine lost all games, so that the rating is an upper bound; otherwise `None`.
    pub won_all: Option<bool>,
    /// Index, from 0, of the engine's group; only ratings of engines in one group are comparable.
    /// `None` if the engine is in no group.
    pub group: Option<usize>,
}

impl Rating {
    /// Returns the rating of a player from `rated`; `None` if the player was not rated.
    pub(crate) fn of(rated: &RatingList, player: usize) -> Option<Rating> {
        let perfect = rated.perfect.iter().find(|perfect| perfect.player == player);
        Some(Rating {
            elo: rated.rating(player)?,
            // The sandwich standard error accounts for the correlation between the games of a pair.
            margin: rated.error(player, Errors::Sandwich).map(|error| Z_95 * error),
            won_all: perfect.map(|perfect| perfect.won_all),
            group: rated.group(player),
        })
    }

    /// Returns the lower and the upper end of the 95 % interval, in Elo. If the rating is a bound,
    /// the end on the unbounded side is ±infinity. Both ends are `unknown` if there is neither an
    /// interval nor a bound.
    pub(crate) fn open_ends(&self, unknown: f64) -> [f64; 2] {
        match (self.margin, self.won_all) {
            (Some(margin), _) => [self.elo - margin, self.elo + margin],
            (None, Some(true)) => [self.elo, f64::INFINITY],
            (None, Some(false)) => [f64::NEG_INFINITY, self.elo],
            (None, None) => [unknown; 2],
        }
    }

    /// Formats the rating for a sentence. `games` contains the results of the engine, and `level`
    /// describes the reference level of the rating.
    pub(crate) fn describe(&self, games: Trinomial, level: &str) -> String {
        match (self.margin, self.won_all) {
            (Some(0.0), _) | (None, None) => self.to_string(),
            (Some(_), _) => format!("{self} Elo (95 %) {level}"),
            (None, Some(_)) => {
                let reason = "no interval: all games had the same result";
                format!("{}–{} ({reason})", games.wins, games.losses)
            }
        }
    }

    /// Returns `true` if the 95 % interval lies above the interval of `other`. Returns `false` if
    /// either rating is a bound, because the confidence level of a bound is only 50 %.
    pub(crate) fn is_above(&self, other: &Rating) -> bool {
        let margins = self.margin.zip(other.margin);
        margins.is_some_and(|(margin, other_margin)| self.elo - margin > other.elo + other_margin)
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let elo = signed(self.elo, 1);
        match (self.margin, self.won_all) {
            (Some(0.0), _) => write!(f, "{elo} (given)"),
            (Some(margin), _) => write!(f, "{elo} ± {margin:.1}"),
            (None, Some(true)) => write!(f, "> {elo} (50 %)"),
            (None, Some(false)) => write!(f, "< {elo} (50 %)"),
            (None, None) => write!(f, "{elo} (no interval)"),
        }
    }
}

/// Returns `true` if the first two of the sorted `ratings` are displayed as equal. Margins are
/// ignored.
pub(crate) fn is_level(ratings: &[(usize, Rating)]) -> bool {
    let shown = |rating: &Rating| (signed(rating.elo, 1), rating.won_all);
    ratings.get(1).is_some_and(|(_, next)| shown(next) == shown(&ratings[0].1))
}

/// Returns `true` if the interval of the first rating lies above the intervals of all other
/// ratings.
pub(crate) fn is_clear(ratings: &[(usize, Rating)]) -> bool {
    ratings[1..].iter().all(|(_, other)| ratings[0].1.is_above(other))
}

/// Describes the place of the first engine in the sorted `ratings`, as the predicate of a sentence.
/// A rating without an interval is neither significant nor insignificant.
pub(crate) fn first_place(ratings: &[(usize, Rating)]) -> &'static str {
    if is_level(ratings) {
        "shares first place"
    } else if is_clear(ratings) || ratings[0].1.margin.is_none() {
        "is rated first"
    } else {
        "is rated first (not significantly)"
    }
}

impl Standings {
    /// Returns the standings after the pairs in `counts`.
    pub fn new(schedule: &Schedule, counts: &RunCounts) -> Standings {
        let rated = rate_engines(schedule.engines(), counts);
        let row = |ranked: RankedEngine| Row {
            ranked,
            games: total(counts, ranked.engine).games,
            rating: rated.as_ref().and_then(|rated| Rating::of(rated, ranked.engine)),
        };
        let rows = schedule.ranking().into_iter().map(row).collect();
        Standings { schedule: schedule.clone(), rows }
    }

    /// Returns the indices of the engines in first place.
    pub(crate) fn first(&self) -> Vec<usize> {
        let first = self.rows.iter().filter(|row| row.ranked.rank == 1);
        first.map(|row| row.ranked.engine).collect()
    }

    /// Returns `true` if some ratings cannot be compared because the games do not connect all
    /// engines.
    pub(crate) fn has_groups(&self) -> bool {
        let groups = self.rows.iter().filter_map(|row| row.rating?.group);
        groups.max().is_some_and(|group| group > 0)
    }
}

/// Returns the games and pairs of one engine against all opponents, from the engine's point of
/// view.
pub(crate) fn total(counts: &RunCounts, engine: usize) -> Encounter {
    let mut total = Encounter::default();
    for (engines, encounter) in &counts.encounters {
        let encounter = match engines.iter().position(|other| *other == engine) {
            None => continue,
            Some(0) => *encounter,
            Some(_) => encounter.swapped(),
        };
        total.pairs += encounter.pairs;
        total.games += encounter.games;
    }
    total
}

/// Rates all engines of a run by maximum likelihood over the counted games; returns `None` if no
/// rating can be computed.
pub(crate) fn rate_engines(engines: usize, counts: &RunCounts) -> Option<RatingList> {
    let met = counts.encounters.iter();
    let meetings: Vec<Meeting> = met.map(|(engines, e)| e.meeting(*engines)).collect();
    ratings::rate(engines, &meetings, &Options::default()).ok()
}

/// Returns the LOS of engine `one` over engine `other`, 0 to 1, computed from the same standard
/// errors as the margins of the ratings. Returns `None` for an engine against itself and for
/// engines that cannot be compared.
pub(crate) fn superiority(rated: &RatingList, one: usize, other: usize) -> Option<f64> {
    rated.superiority(one, other, Errors::Sandwich).filter(|_| one != other)
}

/// Formats a number of half points as points, for example 5 as `2½`.
pub(crate) fn points(half_points: u64) -> String {
    match (half_points / 2, half_points % 2) {
        (integer, 0) => integer.to_string(),
        (0, _) => "½".to_owned(),
        (integer, _) => format!("{integer}½"),
    }
}

/// Formats the round and the three leading engines in one line; returns `None` if there are fewer
/// than three engines.
pub(crate) fn leaders_line(schedule: &Schedule, engines: &[String]) -> Option<String> {
    if engines.len() < 3 {
        return None;
    }
    let (round, rounds) = schedule.round();
    let leaders = schedule.ranking().into_iter().take(3).map(|row| {
        let half_points = (2.0 * row.points).round() as u64;
        // A bye counts as a full encounter in the number of games, and gives half of the
        // encounter's points.
        let byes = schedule.byes().iter().filter(|(_, engine)| *engine == row.engine).count();
        let design = schedule.design();
        let games = row.games + byes as u64 * design.pairs * design.games_per_pair();
        format!("{}. {} {}/{games}", row.rank, engines[row.engine], points(half_points))
    });
    let leaders: Vec<String> = leaders.collect();
    Some(format!("round {}/{rounds} · {}", round + 1, leaders.join(" · ")))
}

/// Formats the rules of a tournament or match in one line. If `is_test` is `true`, numbers of pairs
/// are maximums, because a test can end an encounter early.
pub fn rules_text(design: &Design, engines: usize, is_test: bool) -> String {
    let most = if is_test { "at most " } else { "" };
    let one = if design.is_single { "game" } else { "pair" };
    let unit = format!("{one}s");
    let (pairs, rounds) = (design.pairs, design.rounds);
    let first = match design.format {
        Format::Knockout => {
            let most = if design.plays_out { "" } else { "up to " };
            let breaks = format!("up to {} more to break a tie", design.tie_breaks);
            format!("knockout, {most}{pairs} {unit} per encounter; {breaks}, then the higher seed")
        }
        Format::Swiss => format!("Swiss, {rounds} rounds, {pairs} {unit} per encounter"),
        Format::Ladder => {
            format!("ladder, {}, {pairs} {unit} per encounter", quantity(rounds, "climb"))
        }
        _ if engines == 2 => format!("{most}{}", quantity(rounds.saturating_mul(pairs), one)),
        format => {
            let rounds = quantity(rounds, "round");
            format!("{format}, {rounds}, {most}{pairs} {unit} per encounter")
        }
    };
    let mut parts = vec![first];
    if design.is_single {
        parts.push("each opening played once, colours not balanced".to_owned());
    }
    if design.is_reversed {
        parts.push("sides reversed".to_owned());
    }
    if design.openings != OpeningPolicy::Shared {
        parts.push(format!("openings {}", design.openings));
    }
    parts.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_run::{GameTally, PairTally};
    use arbiter_stats::GameResult;

    fn tally(engines: [usize; 2], results: [GameResult; 2]) -> PairTally {
        let game = |result| GameTally {
            result,
            termination: Termination::Checkmate,
            fault: None,
            hash: None,
        };
        let [first, second] = results.map(game);
        PairTally { pair: 0, engines, first, second: Some(second), is_repeat: false }
    }

    #[test]
    fn every_engine_has_a_row_and_a_rating_with_interval_or_bound() {
        use GameResult::{Draw, Loss, Win};
        let mut schedule = Schedule::new(Design::round_robin(1), 4, 1);
        let mut counts = RunCounts::default();
        // Engine 3 loses all its games.
        let results = [[Win, Draw], [Draw, Draw], [Win, Win], [Loss, Win], [Win, Win], [Win, Win]];
        for (pair, results) in (0..).zip(results) {
            let tally = tally(schedule.pairing(pair).unwrap().engines, results);
            schedule.count(pair, tally.half_points(), 2);
            counts.count(&tally);
        }
        let standings = Standings::new(&schedule, &counts);
        let shown: Vec<_> =
            standings.rows.iter().map(|row| (row.ranked.engine, row.ranked.points)).collect();
        assert_eq!(shown, [(0, 4.5), (2, 4.0), (1, 3.5), (3, 0.0)]);
        assert_eq!(standings.rows[0].games, Trinomial { losses: 0, draws: 3, wins: 3 });
        assert_eq!(standings.rows[3].games, Trinomial { losses: 6, draws: 0, wins: 0 });
        let is_wide = |row: &Row| row.rating.is_some_and(|rating| rating.margin > Some(50.0));
        assert!(standings.rows[..3].iter().all(is_wide), "{:?}", standings.rows);
        assert_eq!(standings.rows[3].rating.and_then(|rating| rating.won_all), Some(false));
        // An engine that lost every game cannot be compared.
        let rated = rate_engines(4, &counts).unwrap();
        let likelihood = |one, other| superiority(&rated, one, other);
        assert_eq!(likelihood(0, 0), None);
        assert_eq!(likelihood(0, 3), None);
        let (over, under) = (likelihood(0, 1).unwrap(), likelihood(1, 0).unwrap());
        assert!(over > 0.5 && (over + under - 1.0).abs() < 1e-12, "{over} {under}");
    }

    #[test]
    fn bounds_have_no_interval() {
        let shown =
            |margin, won_all| Rating { elo: -0.0, margin, won_all, group: None }.to_string();
        assert_eq!(shown(Some(3.0), None), "+0.0 ± 3.0");
        assert_eq!(shown(Some(0.0), None), "+0.0 (given)");
        assert_eq!(shown(None, Some(true)), "> +0.0 (50 %)");
        assert_eq!(shown(None, None), "+0.0 (no interval)");
        let rating = |elo, margin, won_all| Rating { elo, margin, won_all, group: None };
        let first = |won_all: Option<bool>| rating(9.0, won_all.is_none().then_some(5.0), won_all);
        for (won_all, elo, expected) in [
            (None, 0.5, true),
            (None, 1.5, false),
            (Some(true), 5.5, false),
            (Some(false), 0.0, false),
        ] {
            let other = rating(elo, Some(3.0), None);
            assert_eq!(first(won_all).is_above(&other), expected, "{won_all:?} {elo}");
        }
    }

    #[test]
    fn half_points_are_written_as_fractions() {
        assert_eq!([0, 1, 2, 5].map(points), ["0", "½", "1", "2½"]);
    }

    #[test]
    fn the_line_of_leaders_shows_round_and_points() {
        let design = Design { format: Format::Swiss, rounds: 2, ..Design::round_robin(1) };
        let mut schedule = Schedule::new(Design { seeds: 4, ..design }, 4, 1);
        schedule.count(schedule.next_to_count(), [1, 3], 2);
        let names = ["A", "B", "C", "D"].map(str::to_owned);
        let line = leaders_line(&schedule, &names).unwrap();
        assert_eq!(line, "round 1/2 · 1. C 1½/2 · 2. A ½/2 · 3. B 0/0");
        schedule.count(schedule.next_to_count(), [4, 0], 2);
        assert!(leaders_line(&schedule, &names).unwrap().starts_with("round 2/2 · 1. B 2/2"));
        assert_eq!(leaders_line(&schedule, &names[..2]), None);
        let schedule = Schedule::new(Design { seeds: 3, ..design }, 3, 1);
        let line = leaders_line(&schedule, &names[..3]).unwrap();
        assert_eq!(line, "round 1/2 · 1. C 1/2 · 2. A 0/0 · 2. B 0/0");
    }

    #[test]
    fn tournament_rules_are_described() {
        let check = |design: Design, engines, expected: &str| {
            assert_eq!(rules_text(&design, engines, false), expected);
        };
        let design = Design::round_robin(9);
        check(design, 2, "9 pairs");
        assert_eq!(rules_text(&design, 2, true), "at most 9 pairs");
        check(Design::round_robin(1), 2, "1 pair");
        check(design, 3, "round-robin, 1 round, 9 pairs per encounter");
        let single = Design { is_single: true, is_reversed: true, ..design };
        check(single, 2, "9 games; each opening played once, colours not balanced; sides reversed");
        let openings = OpeningPolicy::PerPair;
        let swiss = Design { format: Format::Swiss, rounds: 3, openings, ..design };
        check(swiss, 8, "Swiss, 3 rounds, 9 pairs per encounter; openings per-pair");
    }
}
