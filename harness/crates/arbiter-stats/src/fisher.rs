//! One-sided exact test of Fisher: significance of the difference if one source of games (a worker,
//! a machine) fails more often than all other sources together.
//!
//! If failures hit games at random, the number of failures of one source is hypergeometric.

use statrs::function::factorial::ln_binomial;

/// Numbers of games and of failed games.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FailureCount {
    /// Number of games, including failures.
    pub games: u64,
    /// Number of failures.
    pub failures: u64,
}

/// Returns the probability, 0 to 1, that a source has at least as many failures as `own` if
/// failures hit games at random; 1 if `own` has no failures or `others` has no games.
///
/// # Panics
///
/// If there are more failures than games.
pub fn fisher_exact(own: FailureCount, others: FailureCount) -> f64 {
    assert!(own.failures <= own.games && others.failures <= others.games);
    if own.failures == 0 || others.games == 0 {
        return 1.0;
    }
    let failures = own.failures + others.failures;
    let all = ln_binomial(own.games + others.games, failures);
    let most = own.games.min(failures);
    let term = |count: u64| {
        if failures - count > others.games {
            return 0.0;
        }
        // The terms are computed from logarithms, because the binomials themselves overflow.
        (ln_binomial(own.games, count) + ln_binomial(others.games, failures - count) - all).exp()
    };
    // A sum of all terms may exceed 1 by a rounding error.
    (own.failures..=most).map(term).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(games: u64, failures: u64) -> FailureCount {
        FailureCount { games, failures }
    }

    fn check(own: FailureCount, others: FailureCount, expect: f64) {
        let found = fisher_exact(own, others);
        assert!((found - expect).abs() < 1e-12 + 1e-9 * expect, "{found} is not {expect}");
    }

    #[test]
    fn small_tables_match_direct_counts() {
        // There are 70 ways to choose 4 of 8 games: 1 way with four games of the source, 16 with
        // three, 36 with two.
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
        let found = fisher_exact(share(200_000, 900), share(3_000_000, 3_000));
        assert!((0.0..1e-100).contains(&found), "{found}");
        let found = fisher_exact(share(200_000, 205), share(3_000_000, 3_000));
        assert!((0.2..0.6).contains(&found), "{found}");
    }
}
