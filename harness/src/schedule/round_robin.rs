//! Everyone meets everyone. Two engines are the smallest case: all pairs are theirs.

use super::Pairing;

/// A schedule in which each round lets every two engines meet once, all from the same opening, so
/// that no engine is helped by the book.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RoundRobin {
    engines: usize,
    rounds: u64,
}

impl RoundRobin {
    /// `rounds` pairs of games for each two of `engines` (at least two).
    pub fn new(engines: usize, rounds: u64) -> RoundRobin {
        assert!(engines >= 2, "a schedule needs two engines");
        RoundRobin { engines, rounds }
    }

    /// Pairs in one round.
    pub(super) fn encounters(&self) -> u64 {
        (self.engines * (self.engines - 1) / 2) as u64
    }

    /// Pairs in all.
    pub fn pairs(&self) -> u64 {
        self.rounds.saturating_mul(self.encounters())
    }

    /// The pair with this number, or `None` beyond the last.
    pub fn pairing(&self, pair: u64) -> Option<Pairing> {
        let opening = pair / self.encounters();
        let mut encounter = pair % self.encounters();
        for first in 0..self.engines {
            let partners = (self.engines - 1 - first) as u64;
            if encounter < partners {
                let engines = [first, first + 1 + encounter as usize];
                return (pair < self.pairs()).then_some(Pairing { pair, engines, opening });
            }
            encounter -= partners;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_engines_meet_in_every_pair() {
        let schedule = RoundRobin::new(2, 3);
        let all: Vec<Pairing> = (0..).map_while(|pair| schedule.pairing(pair)).collect();
        let expect = [0, 1, 2].map(|n| Pairing { pair: n, engines: [0, 1], opening: n });
        assert_eq!(all, expect);
    }

    #[test]
    fn every_two_engines_meet_once_a_round_from_one_opening() {
        let schedule = RoundRobin::new(4, 2);
        assert_eq!(schedule.pairs(), 12);
        for round in 0..2 {
            let pairs = round * 6..(round + 1) * 6;
            let pairings: Vec<Pairing> = pairs.filter_map(|p| schedule.pairing(p)).collect();
            assert!(pairings.iter().all(|p| p.opening == round));
            let met: Vec<[usize; 2]> = pairings.iter().map(|p| p.engines).collect();
            assert_eq!(met, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        }
        assert_eq!(schedule.pairing(12), None);
    }
}
