//! Knockout: single elimination.
//!
//! The bracket has the next power of two of places; the places without an engine are byes of the
//! first round, and go to the best seeds. Seeds are placed so that the best two can meet only in
//! the final, the best four only from the semi-finals on, and so forth. An encounter that is level
//! after its pairs continues pair by pair, as often as the design allows; if it is level even then,
//! the better seed advances. An encounter whose loser cannot catch up any more is over, unless the
//! design has it played out: its other pairs are void, and never counted, even those that were
//! played meanwhile. There is no barrier between rounds: an encounter is scheduled as soon as both
//! its engines are known.

use super::ledger::Ledger;

/// Occupant of a place in the bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrant {
    /// Not decided yet.
    Open,
    /// No engine: the opponent has a bye.
    Bye,
    /// This engine.
    Engine(usize),
}

/// Bracket so far.
#[derive(Debug, Clone)]
pub struct Knockout {
    /// Places round by round; places 2n and 2n + 1 of a round play for place n of the next. The
    /// last round is the winner alone.
    levels: Vec<Vec<Entrant>>,
    /// Prize of each encounter of the ledger: the place it is played for, as (level, place).
    prizes: Vec<(usize, usize)>,
    /// Seed of each engine, from 0, the best.
    seeds: Vec<usize>,
}

impl Knockout {
    /// Creates the bracket of engines in the order of their seeds.
    pub(super) fn new(order: &[usize], ledger: &mut Ledger) -> Knockout {
        let size = order.len().next_power_of_two();
        let mut seeds = vec![0; order.len()];
        order.iter().enumerate().for_each(|(seed, &engine)| seeds[engine] = seed);
        let entrant = |seed: usize| order.get(seed).map_or(Entrant::Bye, |&e| Entrant::Engine(e));
        let first: Vec<Entrant> = places(size).into_iter().map(entrant).collect();
        let mut levels = vec![first];
        let mut width = size;
        while width > 1 {
            width /= 2;
            levels.push(vec![Entrant::Open; width]);
        }
        let mut knockout = Knockout { levels, prizes: Vec::new(), seeds };
        let mut meetings = Vec::new();
        for place in 0..size / 2 {
            match knockout.sides(1, place) {
                [Entrant::Engine(a), Entrant::Engine(b)] => {
                    meetings.push(knockout.by_seed(a, b));
                    knockout.prizes.push((1, place));
                }
                [entrant, Entrant::Bye] | [Entrant::Bye, entrant] => {
                    knockout.levels[1][place] = entrant;
                }
                // Fewer than half of the places are byes, and each goes to another of the best
                // seeds, so two byes never meet.
                _ => {}
            }
        }
        ledger.open(0, &meetings);
        // Engines with byes may meet in the second round, which then has nothing to wait for.
        let level_two = knockout.levels.get(2).map_or(0, Vec::len);
        (0..level_two).for_each(|place| knockout.open_for(2, place, ledger));
        knockout
    }

    /// Handles an encounter that is decided, or whose pairs are all counted.
    pub(super) fn settle(&mut self, encounter: usize, ledger: &mut Ledger) {
        let found = ledger.encounters[encounter];
        let design = ledger.design;
        let winner = match found.leader() {
            Some(side) => found.engines[side],
            None if found.planned < design.pairs.saturating_add(design.tie_breaks) => {
                return ledger.extend(encounter);
            }
            // The better seed is listed first, and advances if the encounter stays level.
            None => found.engines[0],
        };
        let (level, place) = self.prizes[encounter];
        self.levels[level][place] = Entrant::Engine(winner);
        if level + 1 < self.levels.len() {
            self.open_for(level + 1, place / 2, ledger);
        }
    }

    /// Schedules the encounter for a place if both its engines are known.
    fn open_for(&mut self, level: usize, place: usize, ledger: &mut Ledger) {
        if let [Entrant::Engine(a), Entrant::Engine(b)] = self.sides(level, place) {
            self.prizes.push((level, place));
            ledger.open(level as u64 - 1, &[self.by_seed(a, b)]);
        }
    }

    fn by_seed(&self, a: usize, b: usize) -> [usize; 2] {
        if self.seeds[a] < self.seeds[b] { [a, b] } else { [b, a] }
    }

    /// Returns the entrants that play for a place of a level from 1 on.
    pub fn sides(&self, level: usize, place: usize) -> [Entrant; 2] {
        let below = &self.levels[level - 1];
        [below[2 * place], below[2 * place + 1]]
    }

    /// Returns the places, round by round; the last is the winner's.
    pub fn levels(&self) -> &[Vec<Entrant>] {
        &self.levels
    }

    /// Returns the encounter for a place of a level from 1 on, if it is scheduled.
    pub fn encounter(&self, level: usize, place: usize) -> Option<usize> {
        self.prizes.iter().position(|prize| *prize == (level, place))
    }

    /// Returns the total number of rounds.
    pub fn rounds(&self) -> u64 {
        self.levels.len() as u64 - 1
    }

    /// Returns the winner of the final, if it is over.
    pub fn winner(&self) -> Option<usize> {
        match self.levels.last()?.first()? {
            Entrant::Engine(engine) => Some(*engine),
            Entrant::Open | Entrant::Bye => None,
        }
    }

    /// Returns the number of encounters, byes included, that an engine has survived.
    pub fn survived(&self, engine: usize) -> usize {
        let there = |level: &Vec<Entrant>| level.contains(&Entrant::Engine(engine));
        self.levels.iter().rposition(there).unwrap_or(0)
    }
}

/// Returns the seeds, from 0, in the order of their places in a bracket of `size`, a power of two:
/// in each round the best seed left meets the worst.
fn places(size: usize) -> Vec<usize> {
    let mut seeds = vec![0];
    while seeds.len() < size {
        let last = 2 * seeds.len() - 1;
        seeds = seeds.into_iter().flat_map(|seed| [seed, last - seed]).collect();
    }
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_seeds_are_kept_apart() {
        assert_eq!(places(1), [0]);
        assert_eq!(places(4), [0, 3, 1, 2]);
        assert_eq!(places(8), [0, 7, 3, 4, 1, 6, 2, 5]);
    }
}
