//! Counts of a run, computed from the counted pairs.

use std::collections::BTreeMap;

use crate::PlayedPair;
use arbiter_game::outcome::Termination;
use arbiter_game::record::GameRecord;
use arbiter_plan::Prior;
use arbiter_schedule::Schedule;
use arbiter_stats::ratings::Meeting;
use arbiter_stats::{GameResult, Pentanomial, Trinomial, binomial_tail};

/// Probability below which faults are not attributed to chance. The value is small because the test
/// is repeated after each pair.
const BEYOND_CHANCE: f64 = 1e-4;

/// Contribution of one game to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GameTally {
    /// Result from the point of view of the first engine of the pair.
    pub result: GameResult,
    /// Termination of the game.
    pub termination: Termination,
    /// Index of the engine that failed, if any.
    pub fault: Option<usize>,
    /// Hash of the starting position and the moves; `None` if unknown.
    pub hash: Option<u64>,
}

/// Contribution of one pair to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairTally {
    /// Number of the pair.
    pub pair: u64,
    /// Indices of the two engines; the first engine is White in the first game.
    pub engines: [usize; 2],
    /// Tally of the first game.
    pub first: GameTally,
    /// Tally of the game with colours reversed; `None` in a run of single games.
    pub second: Option<GameTally>,
    /// `true` if the pair repeats an earlier pair and is excluded from all figures, because a
    /// repeat adds no evidence. The state of the run sets this flag when the pair is counted.
    pub is_repeat: bool,
}

impl GameTally {
    /// Tallies a game; the result is from the point of view of the engine with the index `first`.
    pub fn of(game: &GameRecord, first: usize) -> GameTally {
        let winner = game.outcome.result.winner();
        let loser = winner.map(|color| *game.engines.get(!color));
        GameTally {
            result: GameResult::of(winner.map(|color| *game.engines.get(color) == first)),
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

    /// Returns the tallies of the games, in the order of play.
    pub fn games(&self) -> impl Iterator<Item = GameTally> {
        [Some(self.first), self.second].into_iter().flatten()
    }

    /// Returns the indices of the two engines, lower index first.
    pub fn engine_pair(&self) -> [usize; 2] {
        sorted(self.engines)
    }

    /// Returns whether both games have the same moves, as in games of a program against itself.
    pub fn is_mirrored(&self) -> bool {
        let second = self.second.and_then(|second| second.hash);
        second.is_some() && second == self.first.hash
    }

    /// Counts the pair in `schedule`. A repeat scores points only in formats in which later
    /// encounters depend on results.
    pub fn count_in(&self, schedule: &mut Schedule) {
        if self.is_repeat && schedule.design().format.is_fixed() {
            schedule.count(self.pair, [0; 2], 0);
        } else {
            schedule.count(self.pair, self.half_points(), self.games().count() as u64);
        }
    }

    /// Returns the score of each engine, in half points.
    pub fn half_points(&self) -> [u64; 2] {
        self.games().fold([0, 0], |[first, second], game| {
            let points = game.result.half_points() as u64;
            [first + points, second + 2 - points]
        })
    }
}

/// Counts of two engines against each other, from the point of view of the first engine. A run of
/// single games has no pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encounter {
    /// Numbers of pairs by score.
    pub pairs: Pentanomial,
    /// Numbers of games by result.
    pub games: Trinomial,
    /// Numbers of pairs by both results (0: lost, 1: drawn, 2: won). In `table[a][b]` pairs, the
    /// result is `a` in the game with the first engine as White, and `b` in the other game.
    pub table: [[u64; 3]; 3],
    /// Numbers of games that belong to no pair: lost, drawn and won. `singles[0]` contains the
    /// games with the first engine as White, `singles[1]` the games with the first engine as Black.
    pub singles: [[u64; 3]; 2],
}

impl Encounter {
    /// Returns the counts from the point of view of the second engine.
    pub fn swapped(&self) -> Encounter {
        // The second engine's point of view reverses each result and exchanges the two games,
        // because the second engine is White when the first engine is Black.
        let table = std::array::from_fn(|white| {
            std::array::from_fn(|black| self.table[2 - black][2 - white])
        });
        let singles = std::array::from_fn(|colour| {
            std::array::from_fn(|result| self.singles[1 - colour][2 - result])
        });
        Encounter { pairs: self.pairs.swapped(), games: self.games.swapped(), table, singles }
    }

    /// Returns the counts in the form that ratings use, for two engines with the indices `engines`.
    pub fn meeting(&self, engines: [usize; 2]) -> Meeting {
        Meeting { players: engines, pairs: self.table, singles: self.singles }
    }
}

impl From<Prior> for Encounter {
    fn from(prior: Prior) -> Encounter {
        let Prior { table, singles } = prior;
        let mut encounter = Encounter { table, singles, ..Encounter::default() };
        let [losses, draws, wins] = encounter.meeting([0, 1]).results();
        encounter.games = Trinomial { losses, draws, wins };
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
    /// Counts of each encounter. The key contains the indices of the engines, lower index first.
    pub encounters: BTreeMap<[usize; 2], Encounter>,
    /// Numbers of games by termination.
    pub terminations: BTreeMap<Termination, u64>,
    /// Numbers of faults by engine and termination.
    pub faults: BTreeMap<(usize, Termination), u64>,
    /// Number of games that differ from all earlier games of the same engines with the same
    /// colours.
    pub distinct_games: u64,
    /// Number of pairs that repeat an earlier pair.
    pub repeated_pairs: u64,
    /// Number of pairs, without repeats, in which both games have the same moves.
    pub mirrored_pairs: u64,
    /// `true` if the run or one of its encounters ended because a complete pass through the book
    /// had only repeats.
    pub is_exhausted: bool,
}

impl RunCounts {
    /// Adds a pair. A repeat only increases [`RunCounts::repeated_pairs`].
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
                // The table is indexed by the colour of the engine with the lower index. In swapped
                // pairs, this engine is White in the second game.
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

    /// Returns the counts of the first two engines, the only engines of an SPRT.
    pub fn main_encounter(&self) -> Encounter {
        self.encounter([0, 1])
    }

    /// Returns the counts of two engines, from the point of view of the engine with the lower
    /// index.
    pub fn encounter(&self, engines: [usize; 2]) -> Encounter {
        self.encounters.get(&sorted(engines)).copied().unwrap_or_default()
    }

    /// Returns the number of counted games.
    pub fn games(&self) -> u64 {
        self.terminations.values().sum()
    }

    /// Returns the share of games, 0 to 1, that ended with an engine fault; 0 before the first
    /// game.
    pub fn fault_share(&self) -> f64 {
        let faults: u64 = self.faults.values().sum();
        if faults == 0 { 0.0 } else { faults as f64 / self.games() as f64 }
    }

    /// Returns whether the share of games with a fault is significantly larger than `limit`, a
    /// number from 0 to 1. A run with too many faults can no longer be valid, so the run ends
    /// early.
    pub fn has_too_many_faults(&self, limit: f64) -> bool {
        binomial_tail(self.games(), self.faults.values().sum(), limit) < BEYOND_CHANCE
    }
}

/// Sorts two indices, lower first.
pub(crate) fn sorted([a, b]: [usize; 2]) -> [usize; 2] {
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
