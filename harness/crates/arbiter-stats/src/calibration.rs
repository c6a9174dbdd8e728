//! Calibration of evaluations: game results for each range of one side's evaluations.
//!
//! Buckets are centred on whole pawns; the outermost buckets are unbounded. A game is counted once
//! in each bucket that contains an evaluation from the game, because the evaluations in one game
//! are not independent.

use super::pentanomial::{GameResult, Trinomial};

/// Width of a bucket of evaluations, in centipawns.
pub(crate) const BUCKET_CENTIPAWNS: i32 = 100;

/// Number of buckets on either side of the bucket around zero. The 13 buckets fit into the bits of
/// a `u16`.
const SIDE: i32 = 6;

const BUCKETS: usize = 2 * SIDE as usize + 1;

/// Set of buckets that contain evaluations of one side in one game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct EvaluationBuckets(u16);

impl EvaluationBuckets {
    /// Adds an evaluation in centipawns; ±∞ is a mate score, and NaN is ignored.
    pub fn add(&mut self, centipawns: f64) {
        if centipawns.is_nan() {
            return;
        }
        let side = f64::from(SIDE);
        let place = (centipawns / f64::from(BUCKET_CENTIPAWNS)).round().clamp(-side, side) as i32;
        self.0 |= 1 << (place + SIDE);
    }

    /// Returns the set with all evaluations negated.
    #[must_use]
    pub fn mirrored(self) -> EvaluationBuckets {
        EvaluationBuckets(self.0.reverse_bits() >> (u16::BITS as usize - BUCKETS))
    }

    /// Returns the union with `other`.
    #[must_use]
    pub fn with(self, other: EvaluationBuckets) -> EvaluationBuckets {
        EvaluationBuckets(self.0 | other.0)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Results of one player's games, grouped by the player's evaluations.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Calibration([Trinomial; BUCKETS]);

impl Calibration {
    /// Middle of the highest bucket, in centipawns. The highest bucket also contains all larger
    /// evaluations, and the lowest bucket all smaller evaluations.
    pub const MAX_CENTIPAWNS: i32 = SIDE * BUCKET_CENTIPAWNS;

    /// Adds a game with the player's evaluations and result.
    pub fn add(&mut self, set: EvaluationBuckets, result: GameResult) {
        let buckets = self.0.iter_mut().enumerate();
        let selected = buckets.filter(|(place, _)| set.0 & (1 << place) != 0);
        selected.for_each(|(_, bucket)| bucket.record(result));
    }

    /// Returns the middle of each bucket, in centipawns, with the results of the games in the
    /// bucket.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &Trinomial)> {
        (-SIDE..=SIDE).map(|place| place * BUCKET_CENTIPAWNS).zip(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the middles of the buckets that are not empty.
    fn middles(set: EvaluationBuckets) -> Vec<i32> {
        let mut calibration = Calibration::default();
        calibration.add(set, GameResult::Win);
        let used = calibration.iter().filter(|(_, results)| results.wins == 1);
        used.map(|(middle, _)| middle).collect()
    }

    fn buckets_of(evaluations: &[f64]) -> EvaluationBuckets {
        let mut set = EvaluationBuckets::default();
        evaluations.iter().for_each(|centipawns| set.add(*centipawns));
        set
    }

    #[test]
    fn buckets_are_centred_on_whole_pawns_and_unbounded_at_the_ends() {
        let middle = |centipawns| middles(buckets_of(&[centipawns]));
        for (centipawns, expected) in
            [(0.0, 0), (49.0, 0), (-49.0, 0), (51.0, 100), (-149.0, -100), (649.0, 600)]
        {
            assert_eq!(middle(centipawns), [expected], "{centipawns}");
        }
        assert_eq!(middle(9_999.0), [600]);
        assert_eq!(middle(f64::NEG_INFINITY), [-600]);
        assert!(buckets_of(&[f64::NAN]).is_empty());
    }

    #[test]
    fn a_game_counts_once_for_each_bucket() {
        assert_eq!(middles(buckets_of(&[10.0, 20.0, 210.0, -700.0])), [-600, 0, 200]);
        assert_eq!(middles(buckets_of(&[10.0, 20.0, 210.0, -700.0]).mirrored()), [-200, 0, 600]);
        assert_eq!(middles(buckets_of(&[100.0]).with(buckets_of(&[-100.0]))), [-100, 100]);
    }
}
