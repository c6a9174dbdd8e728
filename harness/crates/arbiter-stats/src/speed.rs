//! Sequential comparison of the speeds of two programs, measured in pairs.
//!
//! In each round, both programs do the same work, one immediately after the other, in random order.
//! The observation is the logarithm of the ratio of the programs' speeds. Because the order is
//! random, a disturbance on the machine is equally likely to slow down either program. The
//! logarithms are therefore distributed symmetrically around the true value. The signed-rank test
//! assumes nothing else.
//!
//! There are a few interim analyses, after 8, 16, 32, … rounds. The error rate is divided equally
//! between the analyses (Bonferroni correction), so that the interval is valid at every analysis.

use super::paired::Speeds;
use super::signed_rank::SortedSample;

/// Number of rounds before the first interim analysis.
const FIRST_ANALYSIS: usize = 8;

/// Minimum number of rounds for a 95 % interval. If both programs are equally fast, the logarithms
/// of n rounds all have the same sign with a probability of 2/2ⁿ, which is below 5 % for six or
/// more rounds.
pub const FEWEST_ROUNDS: usize = 6;

/// Maximum probability that the interval does not contain the true ratio, over all analyses
/// together.
const ERROR_RATE: f64 = 0.05;

/// Settings of a comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SpeedTest {
    /// Maximum number of rounds, [`FEWEST_ROUNDS`] or more.
    pub rounds: usize,
    /// Ratio of speeds, first over second, to compare with the interval: 1 to test which program is
    /// faster, 0.98 to test whether the first program is more than 2 % slower.
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
    /// 95 % confidence interval for the ratio, corrected for the interim analyses; `None` after too
    /// few rounds.
    pub interval: Option<(f64, f64)>,
}

impl SpeedTest {
    /// Returns the numbers of rounds after which the comparison may stop: 8, 16, 32, … and the
    /// maximum number of rounds.
    pub fn interim_analyses(self) -> Vec<usize> {
        let rounds = self.rounds.max(FEWEST_ROUNDS);
        let mut analyses: Vec<usize> =
            // Doubling keeps the number of analyses small, so that the Bonferroni correction widens
            // the interval only slightly.
            std::iter::successors(Some(FIRST_ANALYSIS), |n| n.checked_mul(2))
                .take_while(|n| *n < rounds)
                .collect();
        analyses.push(rounds);
        analyses
    }

    /// Returns the ratio after the given rounds. Returns `None` if there are no rounds, or if a
    /// speed is not a positive number.
    pub fn ratio(self, rounds: &[Speeds]) -> Option<Ratio> {
        // The logarithm turns the ratio into a difference, which is distributed symmetrically
        // because the order of the programs is random.
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
