//! Encounters of a tournament whose pairs become known during the run.

use super::{Design, Format, PairPosition, Score};

/// Encounter of two engines in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encounter {
    /// The round, from 0.
    pub round: u64,
    /// The two engines.
    pub engines: [usize; 2],
    /// Score of both engines in the counted pairs.
    pub score: Score,
    /// Number of pairs that are scheduled, or were counted until the encounter was decided.
    pub planned: u64,
    /// Number of pairs that are counted.
    pub counted: u64,
}

impl Encounter {
    /// Returns whether one side leads by more half points than the other can still win.
    fn is_decided(&self, games_per_pair: u64) -> bool {
        let [first, second] = self.score.half_points;
        // A game has two half points.
        let left = (self.planned - self.counted).saturating_mul(2 * games_per_pair);
        first.abs_diff(second) > left
    }

    /// Returns whether all pairs are counted.
    pub fn is_over(&self) -> bool {
        self.counted == self.planned
    }

    /// Returns the side, 0 or 1, that scored more; `None` if neither did.
    pub fn leader(&self) -> Option<usize> {
        let [first, second] = self.score.half_points;
        match first.cmp(&second) {
            std::cmp::Ordering::Greater => Some(0),
            std::cmp::Ordering::Less => Some(1),
            std::cmp::Ordering::Equal => None,
        }
    }
}

/// All encounters and pairs so far.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(super) design: Design,
    /// Encounters in the order in which they became known.
    pub(super) encounters: Vec<Encounter>,
    /// Encounter of each pair, and the number of the pair in it, from 0.
    pairs: Vec<(usize, u64)>,
}

impl Ledger {
    pub(super) fn new(design: Design) -> Ledger {
        Ledger { design, encounters: Vec::new(), pairs: Vec::new() }
    }

    /// Returns the number of pairs that are known.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    pub(super) fn place(&self, pair: u64) -> Option<(PairPosition, [usize; 2])> {
        let &(encounter, nth) = self.pairs.get(usize::try_from(pair).ok()?)?;
        let found = &self.encounters[encounter];
        let place = PairPosition { pair, round: found.round, encounter: encounter as u64, nth };
        Some((place, found.engines))
    }

    /// Schedules encounters that can be played in parallel: the first pair of each, then the second
    /// of each.
    pub(super) fn open(&mut self, round: u64, meetings: &[[usize; 2]]) {
        let first = self.encounters.len();
        let planned = self.design.pairs;
        let new = meetings.iter().map(|&engines| Encounter {
            round,
            engines,
            score: Score::default(),
            planned,
            counted: 0,
        });
        self.encounters.extend(new);
        let numbers = first..self.encounters.len();
        for nth in 0..planned {
            self.pairs.extend(numbers.clone().map(|encounter| (encounter, nth)));
        }
    }

    /// Schedules one more pair of an encounter.
    pub(super) fn extend(&mut self, encounter: usize) {
        let nth = self.encounters[encounter].planned;
        self.encounters[encounter].planned += 1;
        self.pairs.push((encounter, nth));
    }

    /// Returns whether the encounter of a pair was decided before it.
    pub(super) fn is_void(&self, pair: u64) -> bool {
        let found = usize::try_from(pair).ok().and_then(|pair| self.pairs.get(pair));
        found.is_some_and(|&(encounter, nth)| nth >= self.encounters[encounter].planned)
    }

    /// Counts a pair. Returns its encounter if that is over now. Pairs of a knockout encounter that
    /// follow the one that decides it are void, unless it is played out.
    pub(super) fn count(&mut self, pair: u64, half_points: [u64; 2], games: u64) -> Option<usize> {
        let &(encounter, _) = self.pairs.get(usize::try_from(pair).ok()?)?;
        let found = &mut self.encounters[encounter];
        found.score.add(half_points, games);
        found.counted += 1;
        let Design { format, plays_out, .. } = self.design;
        let may_stop = format == Format::Knockout && !plays_out;
        if may_stop && found.is_decided(self.design.games_per_pair()) {
            // Pairs beyond this number are void from now on, those in flight included.
            found.planned = found.counted;
        }
        found.is_over().then_some(encounter)
    }
}
