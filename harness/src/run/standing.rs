//! The counts of a run, folded from its counted pairs.

use std::collections::BTreeMap;

use crate::game::outcome::Termination;
use crate::game::record::GameRecord;
use crate::run::job::PlayedPair;
use crate::stats::pentanomial::{GameResult, Pentanomial, Trinomial};

/// What one pair adds to the counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairTally {
    /// Number of the pair.
    pub pair: u64,
    /// The two engines.
    pub engines: [usize; 2],
    /// Each game's result for the first engine.
    pub results: [GameResult; 2],
    /// How each game ended.
    pub terminations: [Termination; 2],
    /// Which engine failed in each game, if one did.
    pub faults: [Option<usize>; 2],
}

impl PairTally {
    /// Sums up a played pair.
    pub fn of(played: &PlayedPair) -> PairTally {
        let [first, _] = played.pairing.engines;
        let winner = |game: &GameRecord| game.outcome.result.winner();
        let result = |game: &GameRecord| match winner(game) {
            None => GameResult::Draw,
            Some(color) if *game.engines.get(color) == first => GameResult::Win,
            Some(_) => GameResult::Loss,
        };
        let loser = |game: &GameRecord| winner(game).map(|color| *game.engines.get(!color));
        let games = played.games.each_ref();
        PairTally {
            pair: played.pairing.pair,
            engines: played.pairing.engines,
            results: games.map(result),
            terminations: games.map(|game| game.outcome.termination),
            faults: games.map(|game| loser(game).filter(|_| game.outcome.termination.is_fault())),
        }
    }
}

/// The counts of two engines against each other, from the first one's point of view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Encounter {
    /// Pairs by score.
    pub pairs: Pentanomial,
    /// Games by result.
    pub games: Trinomial,
    /// Pairs by both results, each lost, drawn or won: `table[a][b]` of them with `a` in the first
    /// game, where the first engine had White, and `b` in the second.
    pub table: [[u64; 3]; 3],
}

impl Encounter {
    /// The same from the second engine's point of view.
    pub fn swapped(&self) -> Encounter {
        // The table turns round in both ways: each result, and who had White in which game.
        let table = std::array::from_fn(|white| {
            std::array::from_fn(|black| self.table[2 - black][2 - white])
        });
        Encounter { pairs: self.pairs.swapped(), games: self.games.swapped(), table }
    }
}

/// All counts of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Standing {
    /// By the two engines, lower index first.
    pub encounters: BTreeMap<[usize; 2], Encounter>,
    /// How games ended.
    pub terminations: BTreeMap<Termination, u64>,
    /// Faults by engine and kind.
    pub faults: BTreeMap<(usize, Termination), u64>,
}

impl Standing {
    /// Adds a pair.
    pub fn count(&mut self, tally: &PairTally) {
        let encounter = self.encounters.entry(tally.engines).or_default();
        let [first, second] = tally.results;
        encounter.pairs.record(first, second);
        encounter.table[first.half_points()][second.half_points()] += 1;
        for result in tally.results {
            encounter.games.record(result);
        }
        for termination in tally.terminations {
            *self.terminations.entry(termination).or_default() += 1;
        }
        for (fault, termination) in tally.faults.into_iter().zip(tally.terminations) {
            if let Some(engine) = fault {
                *self.faults.entry((engine, termination)).or_default() += 1;
            }
        }
    }

    /// The counts of the first two engines, which are all there are in an SPRT.
    pub fn main_encounter(&self) -> Encounter {
        self.encounter([0, 1])
    }

    /// The counts of two engines.
    pub fn encounter(&self, engines: [usize; 2]) -> Encounter {
        self.encounters.get(&engines).copied().unwrap_or_default()
    }

    /// Games counted.
    pub fn games(&self) -> u64 {
        self.terminations.values().sum()
    }

    /// Share of games, 0 to 1, that ended by a fault of an engine; 0 before the first game.
    pub fn fault_share(&self) -> f64 {
        let faults: u64 = self.faults.values().sum();
        if faults == 0 { 0.0 } else { faults as f64 / self.games() as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_encounter_turned_round_is_the_other_engines() {
        let mut standing = Standing::default();
        standing.count(&PairTally {
            pair: 0,
            engines: [0, 1],
            results: [GameResult::Win, GameResult::Draw],
            terminations: [Termination::Checkmate, Termination::Threefold],
            faults: [None; 2],
        });
        let turned = standing.encounter([0, 1]).swapped();
        assert_eq!((turned.games.wins, turned.games.draws, turned.games.losses), (0, 1, 1));
        assert_eq!(turned.pairs.0, [0, 1, 0, 0, 0]);
        // The second engine drew with White and lost with Black.
        assert_eq!(turned.table, [[0, 0, 0], [1, 0, 0], [0, 0, 0]]);
        assert_eq!(turned.swapped(), standing.encounter([0, 1]));
    }
}
