//! The first engine meets everyone else; the others do not meet.

use super::Pairing;

/// A schedule in which each round lets the first engine meet every other once, all from the same
/// opening.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauntlet {
    engines: usize,
    rounds: u64,
}

impl Gauntlet {
    /// `rounds` pairs of games against each other engine; `engines` (at least two) counts the
    /// first one too.
    pub fn new(engines: usize, rounds: u64) -> Gauntlet {
        assert!(engines >= 2, "a schedule needs two engines");
        Gauntlet { engines, rounds }
    }

    /// Engines that the first one meets.
    pub(super) fn opponents(&self) -> u64 {
        (self.engines - 1) as u64
    }

    /// Pairs in all.
    pub fn pairs(&self) -> u64 {
        self.rounds.saturating_mul(self.opponents())
    }

    /// The pair with this number, or `None` beyond the last.
    pub fn pairing(&self, pair: u64) -> Option<Pairing> {
        let opponent = 1 + (pair % self.opponents()) as usize;
        let opening = pair / self.opponents();
        let pairing = Pairing { pair, engines: [0, opponent], opening };
        (pair < self.pairs()).then_some(pairing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_meets_each_other_from_the_same_openings() {
        let schedule = Gauntlet::new(3, 2);
        assert_eq!(schedule.pairs(), 4);
        let all: Vec<Pairing> = (0..).map_while(|pair| schedule.pairing(pair)).collect();
        let met: Vec<_> = all.iter().map(|p| (p.engines, p.opening)).collect();
        assert_eq!(met, [([0, 1], 0), ([0, 2], 0), ([0, 1], 1), ([0, 2], 1)]);
    }
}
