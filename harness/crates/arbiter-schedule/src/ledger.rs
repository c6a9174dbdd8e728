//! Encounters of a tournament whose pairs become known during the run.

use super::{Design, Format, PairPosition, Score};

/// Encounter of two engines in one round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Encounter {
    /// Index of the round, counted from 0.
    pub round: u64,
    /// Indices of the two engines.
    pub engines: [usize; 2],
    /// Score of both engines in the pairs counted so far.
    pub score: Score,
    /// Number of scheduled pairs. After an early decision, the value is the number of counted
    /// pairs.
    pub planned: u64,
    /// Number of counted pairs.
    pub counted: u64,
}

impl Encounter {
    /// Returns whether the lead of one engine exceeds the half points that can still be won.
    fn is_decided(&self, games_per_pair: u64) -> bool {
        let [first, second] = self.score.half_points;
        // A game is worth two half points.
        let remaining = (self.planned - self.counted).saturating_mul(2 * games_per_pair);
        first.abs_diff(second) > remaining
    }

    /// Returns whether all pairs are counted.
    pub fn is_over(&self) -> bool {
        self.counted == self.planned
    }

    /// Returns the index in `engines`, 0 or 1, of the engine with more points; `None` if the
    /// encounter is drawn.
    pub fn leader(&self) -> Option<usize> {
        let [first, second] = self.score.half_points;
        (first != second).then_some(usize::from(first < second))
    }
}

/// All known encounters and pairs of a tournament.
#[derive(Debug, Clone)]
pub(crate) struct Ledger {
    pub(super) design: Design,
    /// Encounters in the order in which they became known.
    pub(super) encounters: Vec<Encounter>,
    /// For each pair, the index of the encounter, and the number of the pair (counted from 0) in
    /// this encounter.
    pairs: Vec<(usize, u64)>,
}

impl Ledger {
    pub(super) fn new(design: Design) -> Ledger {
        Ledger { design, encounters: Vec::new(), pairs: Vec::new() }
    }

    /// Returns the number of known pairs.
    pub(super) fn pairs(&self) -> u64 {
        self.pairs.len() as u64
    }

    pub(super) fn place(&self, pair: u64) -> Option<(PairPosition, [usize; 2])> {
        let &(encounter, nth) = self.pairs.get(usize::try_from(pair).ok()?)?;
        let found = &self.encounters[encounter];
        let place = PairPosition { pair, round: found.round, encounter: encounter as u64, nth };
        Some((place, found.engines))
    }

    /// Schedules encounters that can be played in parallel: the first pair of each encounter, then
    /// the second pair of each encounter, and so on.
    pub(super) fn open(&mut self, round: u64, meetings: &[[usize; 2]]) {
        let first = self.encounters.len();
        let planned = self.design.pairs;
        let score = Score::default();
        let new = |&engines| Encounter { round, engines, score, planned, counted: 0 };
        self.encounters.extend(meetings.iter().map(new));
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

    /// Returns whether the encounter of a pair was decided before this pair.
    pub(super) fn is_void(&self, pair: u64) -> bool {
        let found = usize::try_from(pair).ok().and_then(|pair| self.pairs.get(pair));
        found.is_some_and(|&(encounter, nth)| nth >= self.encounters[encounter].planned)
    }

    /// Counts a pair. Returns the encounter of the pair if the encounter is now over. After the
    /// pair that decides a knockout encounter, the remaining pairs of the encounter are void unless
    /// the design requires that all pairs are played.
    pub(super) fn count(&mut self, pair: u64, half_points: [u64; 2], games: u64) -> Option<usize> {
        let &(encounter, _) = self.pairs.get(usize::try_from(pair).ok()?)?;
        let found = &mut self.encounters[encounter];
        found.score.add(half_points, games);
        found.counted += 1;
        let Design { format, plays_out, .. } = self.design;
        let may_stop = format == Format::Knockout && !plays_out;
        if may_stop && found.is_decided(self.design.games_per_pair()) {
            // Pairs beyond this number are now void, including pairs that are being played.
            found.planned = found.counted;
        }
        found.is_over().then_some(encounter)
    }
}
