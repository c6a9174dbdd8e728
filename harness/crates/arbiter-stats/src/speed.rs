//! Sequential comparison of the speeds of two programs, measured in pairs.
//!
//! In each round both programs do the same work, one right after the other, in random order. The
//! datum is the logarithm of the ratio of their speeds. Because the order is random, any
//! disturbance by the machine is as likely to help the one program as the other, so the logarithms
//! are distributed symmetrically around the true one, which is the only assumption of the
//! signed-rank test.
//!
//! There are a few interim analyses, at doubling numbers of rounds. The error rate is divided
//! between them (C. E. Bonferroni), so that the interval holds wherever the comparison stops.

use super::paired::Speeds;
use super::signed_rank::SortedSample;

/// Number of rounds before the first interim analysis.
const FIRST_ANALYSIS: usize = 8;

/// Smallest number of rounds with a 95 % interval. All differences of n rounds have the same sign
/// with a probability of 2/2ⁿ, which is below 5 % from six rounds on.
pub const FEWEST_ROUNDS: usize = 6;

/// Probability that the interval does not cover the true ratio.
const ERROR_RATE: f64 = 0.05;

/// Comparison before its first round.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedTest {
    /// Maximum number of rounds, [`FEWEST_ROUNDS`] or more.
    pub rounds: usize,
    /// Ratio of interest: 1 tests which program is faster; 0.98, whether the first one has lost
    /// more than 2 %.
    pub threshold: f64,
}

/// Result of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SpeedVerdict {
    /// The ratio is above the threshold.
    Above,
    /// The ratio is below the threshold.
    Below,
    /// The interval contains the threshold.
    Open,
}

/// Ratio of speeds, first over second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// Hodges-Lehmann estimate of the ratio.
    pub ratio: f64,
    /// The 95 % interval of the ratio, corrected for the interim analyses; `None` after too few
    /// rounds.
    pub interval: Option<(f64, f64)>,
}

impl SpeedTest {
    /// Returns the numbers of rounds after which the comparison may stop: 8, twice as many each
    /// time, and all.
    pub fn interim_analyses(self) -> Vec<usize> {
        let rounds = self.rounds.max(FEWEST_ROUNDS);
        let mut analyses: Vec<usize> =
            // Doubling keeps the number of analyses small, and so the price of Bonferroni's
            // correction.
            std::iter::successors(Some(FIRST_ANALYSIS), |n| n.checked_mul(2))
                .take_while(|n| *n < rounds)
                .collect();
        analyses.push(rounds);
        analyses
    }

    /// Returns the ratio after these rounds. `None` without any, and for speeds that are not
    /// positive numbers.
    pub fn ratio(self, rounds: &[Speeds]) -> Option<Ratio> {
        // Logarithms turn the ratio into a difference, which a random order makes symmetric.
        let logs = rounds.iter().map(|speeds| (speeds.first / speeds.second).ln());
        let logs = SortedSample::new(logs.collect())?;
        let tail = ERROR_RATE / self.interim_analyses().len() as f64 / 2.0;
        let interval = logs.interval(tail).map(|(low, high)| (low.exp(), high.exp()));
        Some(Ratio { ratio: logs.centre().exp(), interval })
    }

    /// Compares the interval with the threshold.
    pub fn verdict(self, ratio: &Ratio) -> SpeedVerdict {
        match ratio.interval {
            Some((low, _)) if low > self.threshold => SpeedVerdict::Above,
            Some((_, high)) if high < self.threshold => SpeedVerdict::Below,
            _ => SpeedVerdict::Open,
        }
    }
}

#[cfg(test)]
mod tests;
