//! The counts of a run, folded from its counted pairs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::PlayedPair;
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_schedule::Schedule;
use arbiter_stats::ratings::Meeting;
use arbiter_stats::{GameResult, Pentanomial, Trinomial, binomial_tail};

/// Probability below which faults are not attributed to chance; small, as it is tested after each
/// pair.
const BEYOND_CHANCE: f64 = 1e-4;

/// Contribution of one game to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameTally {
    /// Result for the first engine of the pair.
    pub result: GameResult,
    /// Termination of the game.
    pub termination: Termination,
    /// Index of the engine that failed, if one did.
    pub fault: Option<usize>,
    /// Hash of start and moves; `None` where it is not known.
    pub hash: Option<u64>,
}

/// Contribution of one pair to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairTally {
    /// Number of the pair.
    pub pair: u64,
    /// Indices of the two engines; the first is White in the first game.
    pub engines: [usize; 2],
    /// Tally of the first game.
    pub first: GameTally,
    /// Tally of the game with colours reversed; `None` in a run that plays each opening once.
    pub second: Option<GameTally>,
    /// `true` if the pair repeats an earlier one and is left out of all figures, as a copy is no
    /// evidence. The state of the run sets it as it counts the pair.
    pub is_repeat: bool,
}

impl GameTally {
    /// Tallies a game in which one of the engines is `first`.
    pub fn of(game: &GameRecord, first: usize) -> GameTally {
        let winner = game.outcome.result.winner();
        let loser = winner.map(|color| *game.engines.get(!color));
        GameTally {
            result: match winner {
                None => GameResult::Draw,
                Some(color) if *game.engines.get(color) == first => GameResult::Win,
                Some(_) => GameResult::Loss,
            },
            termination: game.outcome.termination,
            fault: loser.filter(|_| game.outcome.termination.is_fault()),
            hash: Some(game.hash()),
        }
    }
}

impl PairTally {
    /// Tallies a played pair.
    pub fn of(played: &PlayedPair) -> PairTally {
        let engines = played.pairing.engines;
        let tally = |game: &GameRecord| GameTally::of(game, engines[0]);
        PairTally {
            pair: played.pairing.pair,
            engines,
            first: tally(&played.games.first),
            second: played.games.second.as_ref().map(tally),
            is_repeat: false,
        }
    }

    /// Returns the games in the order of play.
    pub fn games(&self) -> impl Iterator<Item = GameTally> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// Returns the two engines, lower index first.
    pub fn engine_pair(&self) -> [usize; 2] {
        sorted(self.engines)
    }

    /// Returns whether both games have the same moves, as those of a program against itself.
    pub fn is_mirrored(&self) -> bool {
        let second = self.second.and_then(|second| second.hash);
        second.is_some() && second == self.first.hash
    }

    /// Counts the pair in its schedule. A repeat brings points only where the next encounters
    /// follow from the results.
    pub fn count_in(&self, schedule: &mut Schedule) {
        let is_left_out = self.is_repeat && schedule.design().format.is_fixed();
        let (half_points, games) = if is_left_out {
            ([0; 2], 0)
        } else {
            (self.half_points(), self.games().count() as u64)
        };
        schedule.count(self.pair, half_points, games);
    }

    /// Returns the half points of each engine.
    pub fn half_points(&self) -> [u64; 2] {
        self.games().fold([0, 0], |[first, second], game| {
            let points = game.result.half_points() as u64;
            [first + points, second + 2 - points]
        })
    }
}

/// Counts of two engines against each other, from the first one's point of view. A run that plays
/// each opening once has no pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encounter {
    /// Pairs by score.
    pub pairs: Pentanomial,
    /// Games by result.
    pub games: Trinomial,
    /// Pairs by both results, each lost, drawn or won: `table[a][b]` has those with `a` in the game
    /// where the first engine was White, and `b` in the other.
    pub table: [[u64; 3]; 3],
    /// Games without a partner, lost, drawn or won: those with the first engine as White, then
    /// those with it as Black.
    pub singles: [[u64; 3]; 2],
}

impl Encounter {
    /// Returns the counts from the second engine's point of view.
    pub fn swapped(&self) -> Encounter {
        // The other point of view reverses each result, and exchanges the two games: the engine
        // with White in one is Black in the other.
        let table = std::array::from_fn(|white| {
            std::array::from_fn(|black| self.table[2 - black][2 - white])
        });
        let singles = std::array::from_fn(|colour| {
            std::array::from_fn(|result| self.singles[1 - colour][2 - result])
        });
        Encounter { pairs: self.pairs.swapped(), games: self.games.swapped(), table, singles }
    }

    /// Returns the counts for ratings, with the indices of the two engines.
    pub fn meeting(&self, engines: [usize; 2]) -> Meeting {
        Meeting { players: engines, pairs: self.table, singles: self.singles }
    }
}

/// Games of the first two engines that another program played; they count, but are not in the
/// store. Tables as those of an [`Encounter`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prior {
    /// Pairs by both results.
    pub table: [[u64; 3]; 3],
    /// Games without a partner.
    pub singles: [[u64; 3]; 2],
}

impl Prior {
    /// Returns the games as counts of a run.
    pub fn encounter(&self) -> Encounter {
        let Prior { table, singles } = *self;
        let mut encounter = Encounter { table, singles, ..Encounter::default() };
        let [lost, drawn, won] = std::array::from_fn(|result| {
            let in_pairs = |other: usize| table[result][other] + table[other][result];
            (0..3).map(in_pairs).sum::<u64>() + singles[0][result] + singles[1][result]
        });
        encounter.games = Trinomial { losses: lost, draws: drawn, wins: won };
        for (first, row) in table.iter().enumerate() {
            for (second, pairs) in row.iter().enumerate() {
                encounter.pairs.0[first + second] += pairs;
            }
        }
        encounter
    }
}

/// All counts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunCounts {
    /// Counts by the two engines, lower index first.
    pub encounters: BTreeMap<[usize; 2], Encounter>,
    /// Number of games by termination.
    pub terminations: BTreeMap<Termination, u64>,
    /// Number of faults by engine and termination.
    pub faults: BTreeMap<(usize, Termination), u64>,
    /// Number of games that differ from all earlier ones of the same engine as White and the same
    /// as Black.
    pub distinct_games: u64,
    /// Number of pairs that repeat an earlier one.
    pub repeated_pairs: u64,
    /// Number of pairs, repeats aside, both of whose games have the same moves.
    pub mirrored_pairs: u64,
    /// `true` if the run, or an encounter of it, ended because a whole pass through the book
    /// brought only repeats.
    pub is_exhausted: bool,
}

impl RunCounts {
    /// Adds a pair, unless it is a repeat.
    pub fn count(&mut self, tally: &PairTally) {
        if tally.is_repeat {
            self.repeated_pairs += 1;
            return;
        }
        self.mirrored_pairs += u64::from(tally.is_mirrored());
        let [white, black] = tally.engines;
        let is_swapped = white > black;
        let result =
            |game: GameTally| if is_swapped { game.result.reversed() } else { game.result };
        let encounter = self.encounters.entry(tally.engine_pair()).or_default();
        tally.games().for_each(|game| encounter.games.record(result(game)));
        let first = result(tally.first);
        match tally.second.map(result) {
            Some(second) => {
                encounter.pairs.record(first, second);
                // The table is by the colour of the engine with the lower index, which is White in
                // the second game of swapped pairs.
                let by_colour = if is_swapped { [second, first] } else { [first, second] };
                let [white, black] = by_colour.map(GameResult::half_points);
                encounter.table[white][black] += 1;
            }
            None => encounter.singles[usize::from(is_swapped)][first.half_points()] += 1,
        }
        for game in tally.games() {
            *self.terminations.entry(game.termination).or_default() += 1;
            if let Some(engine) = game.fault {
                *self.faults.entry((engine, game.termination)).or_default() += 1;
            }
        }
    }

    /// Returns the counts of the first two engines, which are the only ones of an SPRT.
    pub fn main_encounter(&self) -> Encounter {
        self.encounter([0, 1])
    }

    /// Returns the counts of two engines, from the point of view of the one with the lower index.
    pub fn encounter(&self, engines: [usize; 2]) -> Encounter {
        self.encounters.get(&sorted(engines)).copied().unwrap_or_default()
    }

    /// Returns the number of counted games.
    pub fn games(&self) -> u64 {
        self.terminations.values().sum()
    }

    /// Returns the share of games, 0 to 1, that ended by a fault of an engine; 0 before the first
    /// game.
    pub fn fault_share(&self) -> f64 {
        let faults: u64 = self.faults.values().sum();
        if faults == 0 { 0.0 } else { faults as f64 / self.games() as f64 }
    }

    /// Returns whether the faults are beyond chance for a share of `limit` of the games: such a run
    /// cannot end well, however few of its games are played.
    pub fn has_too_many_faults(&self, limit: f64) -> bool {
        binomial_tail(self.games(), self.faults.values().sum(), limit) < BEYOND_CHANCE
    }
}

/// Sorts two indices, lower first.
pub(super) fn sorted([a, b]: [usize; 2]) -> [usize; 2] {
    if a < b { [a, b] } else { [b, a] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn swapping_engines_mirrors_an_encounter() {
        let mut counts = RunCounts::default();
        let game = |result, termination| GameTally { result, termination, fault: None, hash: None };
        counts.count(&PairTally {
            pair: 0,
            engines: [0, 1],
            first: game(GameResult::Win, Termination::Checkmate),
            second: Some(game(GameResult::Draw, Termination::Threefold)),
            is_repeat: false,
        });
        let turned = counts.encounter([0, 1]).swapped();
        assert_eq!((turned.games.wins, turned.games.draws, turned.games.losses), (0, 1, 1));
        assert_eq!(turned.pairs.0, [0, 1, 0, 0, 0]);
        // The second engine drew with White and lost with Black.
        assert_eq!(turned.table, [[0, 0, 0], [1, 0, 0], [0, 0, 0]]);
        assert_eq!(turned.swapped(), counts.encounter([0, 1]));
    }
}
