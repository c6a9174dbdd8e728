//! Knockout format: single elimination.
//!
//! The number of places in the bracket is a power of two. Places without an engine give the highest
//! seeds a bye in the first round. Seeds are placed so that the two highest seeds can meet only in
//! the final, the four highest seeds only in the semi-finals or later, and so on. An encounter is
//! scheduled when both engines are known, even if other encounters of earlier rounds are not over.
//!
//! An encounter that is drawn after its pairs is extended by one pair at a time, up to the maximum
//! of the design. If the encounter is still drawn, the higher seed advances.
//!
//! An encounter ends early if one engine can no longer catch up, unless the design requires that
//! all pairs are played. The remaining pairs of this encounter are void: they do not count, even if
//! they have been played in the meantime.

use super::ledger::Ledger;

/// Occupant of a place in the bracket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entrant {
    /// Place whose engine is not decided yet.
    Open,
    /// Place without an engine: the opponent has a bye.
    Bye,
    /// Place of the engine with this index.
    Engine(usize),
}

/// Bracket of a knockout, with the results so far.
#[derive(Debug, Clone)]
pub struct Knockout {
    /// Places of each level. The engines in places 2n and 2n + 1 of a level play for place n of the
    /// next level. The last level is the winner's place.
    levels: Vec<Vec<Entrant>>,
    /// Level and index of the place for which each encounter is played, in the order of the
    /// encounters in the ledger.
    prizes: Vec<(usize, usize)>,
    /// Seed of each engine; 0 is the highest seed.
    seeds: Vec<usize>,
}

impl Knockout {
    /// Creates the bracket for engines in the order of their seeds.
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
                // Two byes never meet, because fewer than half of the places are byes, and each bye
                // is placed against a different seed.
                _ => {}
            }
        }
        ledger.open(0, &meetings);
        // Engines with byes may meet in the second round, and these encounters can start
        // immediately.
        let level_two = knockout.levels.get(2).map_or(0, Vec::len);
        (0..level_two).for_each(|place| knockout.open_for(2, place, ledger));
        knockout
    }

    /// Advances the winner of an encounter whose pairs are all counted, or extends a drawn
    /// encounter.
    pub(super) fn settle(&mut self, encounter: usize, ledger: &mut Ledger) {
        let found = ledger.encounters[encounter];
        let design = ledger.design;
        let winner = match found.leader() {
            Some(side) => found.engines[side],
            None if found.planned < design.pairs.saturating_add(design.tie_breaks) => {
                return ledger.extend(encounter);
            }
            // The higher seed is listed first, and advances if the encounter is still level.
            None => found.engines[0],
        };
        let (level, place) = self.prizes[encounter];
        self.levels[level][place] = Entrant::Engine(winner);
        if level + 1 < self.levels.len() {
            self.open_for(level + 1, place / 2, ledger);
        }
    }

    /// Schedules the encounter for a place if both engines are known.
    fn open_for(&mut self, level: usize, place: usize, ledger: &mut Ledger) {
        if let [Entrant::Engine(a), Entrant::Engine(b)] = self.sides(level, place) {
            self.prizes.push((level, place));
            ledger.open(level as u64 - 1, &[self.by_seed(a, b)]);
        }
    }

    fn by_seed(&self, a: usize, b: usize) -> [usize; 2] {
        if self.seeds[a] < self.seeds[b] { [a, b] } else { [b, a] }
    }

    /// Returns the occupants of the two places whose encounter decides `place` of `level`. `level`
    /// must be at least 1.
    pub fn sides(&self, level: usize, place: usize) -> [Entrant; 2] {
        let below = &self.levels[level - 1];
        [below[2 * place], below[2 * place + 1]]
    }

    /// Returns the places of all levels; the last level is the winner's place.
    pub fn levels(&self) -> &[Vec<Entrant>] {
        &self.levels
    }

    /// Returns the index of the encounter for a place; `None` if the encounter is not scheduled
    /// yet.
    pub fn encounter(&self, level: usize, place: usize) -> Option<usize> {
        self.prizes.iter().position(|prize| *prize == (level, place))
    }

    /// Returns the total number of rounds.
    pub fn rounds(&self) -> u64 {
        self.levels.len() as u64 - 1
    }

    /// Returns the winner of the final; `None` until the final is over.
    pub fn winner(&self) -> Option<usize> {
        match self.levels.last()?.first()? {
            Entrant::Engine(engine) => Some(*engine),
            Entrant::Open | Entrant::Bye => None,
        }
    }

    /// Returns the number of rounds that an engine has survived, including byes.
    pub fn survived(&self, engine: usize) -> usize {
        let has_engine = |level: &Vec<Entrant>| level.contains(&Entrant::Engine(engine));
        self.levels.iter().rposition(has_engine).unwrap_or(0)
    }
}

/// Returns the seeds, numbered from 0, in the order of their places in a bracket. `size` is the
/// number of places, which must be a power of two. If the higher seed always wins, the highest
/// remaining seed meets the lowest remaining seed in each round.
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
    fn the_best_seeds_meet_as_late_as_possible() {
        assert_eq!(places(1), [0]);
        assert_eq!(places(4), [0, 3, 1, 2]);
        assert_eq!(places(8), [0, 7, 3, 4, 1, 6, 2, 5]);
    }
}
