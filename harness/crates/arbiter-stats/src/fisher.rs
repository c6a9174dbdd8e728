//! One-sided Fisher's exact test. The test shows whether games from one source (a worker or a
//! machine) fail significantly more often than games from all other sources together.
//!
//! If all games are equally likely to fail, the number of failures of one source has a
//! hypergeometric distribution.

use statrs::function::factorial::ln_binomial;

/// Numbers of games and of failed games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailureCount {
    /// Number of games, including failed games.
    pub games: u64,
    /// Number of failed games.
    pub failures: u64,
}

/// Returns the p-value, 0 to 1: the probability of at least as many failures as `source` has, if
/// all games are equally likely to fail. Returns 1 if `source` has no failures or `others` has no
/// games.
///
/// # Panics
///
/// Panics if there are more failures than games.
pub fn fisher_exact(source: FailureCount, others: FailureCount) -> f64 {
    assert!(source.failures <= source.games && others.failures <= others.games);
    if source.failures == 0 || others.games == 0 {
        return 1.0;
    }
    let failures = source.failures + others.failures;
    let all = ln_binomial(source.games + others.games, failures);
    let most = source.games.min(failures);
    let term = |count: u64| {
        if failures - count > others.games {
            return 0.0;
        }
        // The terms are computed from logarithms, because the binomial coefficients overflow.
        (ln_binomial(source.games, count) + ln_binomial(others.games, failures - count) - all).exp()
    };
    // Rounding errors may make a sum of all terms exceed 1.
    (source.failures..=most).map(term).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(games: u64, failures: u64) -> FailureCount {
        FailureCount { games, failures }
    }

    fn check(source: FailureCount, others: FailureCount, expected: f64) {
        let actual = fisher_exact(source, others);
        assert!((actual - expected).abs() < 1e-12 + 1e-9 * expected, "{actual} is not {expected}");
    }

    #[test]
    fn small_tables_match_direct_counts() {
        // There are 70 ways to choose the 4 failures among 8 games. In 1 way, the source has all
        // four failures, in 16 ways three, in 36 ways two.
        check(share(4, 4), share(4, 0), 1.0 / 70.0);
        check(share(4, 3), share(4, 1), 17.0 / 70.0);
        check(share(4, 2), share(4, 2), 53.0 / 70.0);
        // 2 of 10 games failed, both among the 3 games of the source: 3 of 45 ways.
        check(share(3, 2), share(7, 0), 3.0 / 45.0);
        check(share(3, 1), share(7, 1), 24.0 / 45.0);
    }

    #[test]
    fn a_comparison_without_data_is_not_significant() {
        assert_eq!(fisher_exact(share(9, 0), share(9, 9)), 1.0);
        assert_eq!(fisher_exact(share(9, 9), share(0, 0)), 1.0);
        assert_eq!(fisher_exact(share(0, 0), share(9, 9)), 1.0);
        check(share(5, 5), share(5, 5), 1.0);
    }

    #[test]
    fn large_tables_stay_finite() {
        let actual = fisher_exact(share(200_000, 900), share(3_000_000, 3_000));
        assert!((0.0..1e-100).contains(&actual), "{actual}");
        let actual = fisher_exact(share(200_000, 205), share(3_000_000, 3_000));
        assert!((0.2..0.6).contains(&actual), "{actual}");
    }
}
