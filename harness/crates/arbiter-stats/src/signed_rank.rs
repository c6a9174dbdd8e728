//! Centre of symmetry of a distribution, estimated from a sample, with a confidence interval.
//!
//! The only assumption is that each number is distributed symmetrically around the centre. The
//! numbers need not be normally distributed, have equal variances, or be free of outliers. The
//! estimate is the median of the means of all pairs of numbers, including each number with itself
//! (J. Hodges, E. Lehmann, 1963). The ends of the interval are two of these means. The distribution
//! of F. Wilcoxon's signed-rank statistic (1945) determines which two means (J. Tukey).

use statrs::distribution::{ContinuousCDF, Normal};

/// Maximum sample size for which the distribution is computed exactly. For larger samples, the
/// normal approximation gives slightly wider intervals.
const EXACT: usize = 64;

/// Finite numbers in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SortedSample(Vec<f64>);

impl SortedSample {
    /// Sorts the sample; `None` if the sample is empty or contains a number that is not finite.
    pub(crate) fn new(mut numbers: Vec<f64>) -> Option<SortedSample> {
        numbers.sort_by(f64::total_cmp);
        let is_sound = !numbers.is_empty() && numbers.iter().all(|x| x.is_finite());
        is_sound.then_some(SortedSample(numbers))
    }

    /// Returns the Hodges-Lehmann estimate of the centre.
    pub(crate) fn centre(&self) -> f64 {
        let means = means_of(self.0.len());
        f64::midpoint(self.mean_at(means.div_ceil(2)), self.mean_at(means / 2 + 1))
    }

    /// Returns an interval for the centre. The probability that the centre is below the interval is
    /// at most `tail`, and the probability that the centre is above the interval is also at most
    /// `tail`. `tail` must be between 0 and 0.5. Returns `None` if the sample is too small.
    pub(crate) fn interval(&self, tail: f64) -> Option<(f64, f64)> {
        let excluded = critical_value(self.0.len(), tail)?;
        let means = means_of(self.0.len());
        Some((self.mean_at(excluded + 1), self.mean_at(means - excluded)))
    }

    /// Returns the mean with the rank `rank`, counted from 1, among the sorted means of all pairs
    /// of numbers, including each number with itself.
    fn mean_at(&self, rank: u64) -> f64 {
        let mut low = self.0[0];
        let mut high = self.0[self.0.len() - 1];
        if self.means_up_to(low) >= rank {
            return low;
        }
        loop {
            let middle = f64::midpoint(low, high);
            // No floating-point number lies between `low` and `high`, so the search ends.
            if middle <= low || middle >= high {
                return high;
            }
            if self.means_up_to(middle) >= rank {
                high = middle;
            } else {
                low = middle;
            }
        }
    }

    /// Returns the number of pairs of numbers (each number also with itself) whose mean is at most
    /// `limit`.
    fn means_up_to(&self, limit: f64) -> u64 {
        let numbers = &self.0;
        // The numbers are sorted, so one pass from both ends is enough: the larger a number is, the
        // fewer partners it has.
        let mut end = numbers.len();
        let mut count = 0;
        for (index, number) in numbers.iter().enumerate() {
            while end > index && f64::midpoint(*number, numbers[end - 1]) > limit {
                end -= 1;
            }
            count += end.saturating_sub(index) as u64;
        }
        count
    }
}

/// Returns the number of pairs of `count` numbers, including each number with itself.
fn means_of(count: usize) -> u64 {
    let count = count as u64;
    count * (count + 1) / 2
}

/// Returns the critical value of the signed-rank statistic for `count` numbers: the largest c for
/// which the probability of a statistic of at most c is at most `tail`. Returns `None` if there is
/// no such value.
fn critical_value(count: usize, tail: f64) -> Option<u64> {
    if count > EXACT {
        return Some(normal_critical_value(count, tail));
    }
    let distribution = signed_rank_distribution(count);
    let mut up_to = 0.0;
    let unlikely = distribution.iter().take_while(|chance| {
        up_to += **chance;
        up_to <= tail
    });
    (unlikely.count() as u64).checked_sub(1)
}

/// Returns [`critical_value`] for a normal distribution with the mean and variance of the
/// statistic.
fn normal_critical_value(count: usize, tail: f64) -> u64 {
    let n = count as f64;
    let mean = n * (n + 1.0) / 4.0;
    let spread = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
    let quantile = Normal::standard().inverse_cdf(tail);
    // The 0.5 is the continuity correction, because the values of the statistic are integers.
    (mean + quantile * spread - 0.5).max(0.0) as u64
}

/// Returns the probability of each value of the signed-rank statistic, starting with the value 0.
/// The statistic is the sum of a random subset of the ranks 1 to `count`, in which each rank is
/// included with probability ½.
fn signed_rank_distribution(count: usize) -> Vec<f64> {
    let mut distribution = vec![0.0; count * (count + 1) / 2 + 1];
    distribution[0] = 1.0;
    for rank in 1..=count {
        for value in (0..=rank * (rank + 1) / 2).rev() {
            let with = if value >= rank { distribution[value - rank] } else { 0.0 };
            distribution[value] = f64::midpoint(distribution[value], with);
        }
    }
    distribution
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The data show the effect of a tranquilizer on depression (M. Hollander, D. Wolfe,
    /// "Nonparametric Statistical Methods", table 3.1). The estimate and the 96.1 % interval are
    /// from the examples in this book.
    #[test]
    fn estimate_and_interval_match_a_published_example() {
        let changes = [-0.952, 0.147, -1.022, -0.430, -0.620, -0.590, -0.490, 0.080, -0.010];
        let changes = SortedSample::new(changes.to_vec()).unwrap();
        assert!((changes.centre() + 0.46).abs() < 1e-12, "{}", changes.centre());
        let (low, high) = changes.interval(0.0196).unwrap();
        assert!((low + 0.786).abs() < 1e-12 && (high + 0.010).abs() < 1e-12, "{low} {high}");
    }

    /// The expected values are published critical values, two-sided, at 5 % and 1 %.
    #[test]
    fn critical_values_are_those_of_the_tables() {
        let check = |count, tail, expect| {
            assert_eq!(critical_value(count, tail), expect, "{count} {tail}");
        };
        for (count, at_5, at_1) in [
            (5, None, None),
            (6, Some(0), None),
            (8, Some(3), Some(0)),
            (10, Some(8), Some(3)),
            (20, Some(52), Some(37)),
            (25, Some(89), Some(68)),
        ] {
            check(count, 0.025, at_5);
            check(count, 0.005, at_1);
        }
        assert!((signed_rank_distribution(40).iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_normal_approximation_is_close_and_conservative() {
        for tail in [0.025, 0.00625, 0.0025] {
            let exact = critical_value(EXACT, tail).unwrap();
            let normal = normal_critical_value(EXACT, tail);
            assert!((0..=5).contains(&(exact as i64 - normal as i64)), "{tail}: {exact} {normal}");
        }
    }

    #[test]
    fn ranks_of_means_match_a_sorted_list() {
        let numbers = vec![3.0, -1.0, 0.25, 0.25, 8.0, 2.5];
        let mut means = Vec::new();
        for (index, one) in numbers.iter().enumerate() {
            means.extend(numbers[index..].iter().map(|other| f64::midpoint(*one, *other)));
        }
        means.sort_by(f64::total_cmp);
        let numbers = SortedSample::new(numbers).unwrap();
        for (index, mean) in means.iter().enumerate() {
            assert_eq!(numbers.mean_at(index as u64 + 1), *mean);
        }
        assert_eq!(SortedSample::new(vec![]), None);
        assert_eq!(SortedSample::new(vec![1.0, f64::NAN]), None);
    }
}
