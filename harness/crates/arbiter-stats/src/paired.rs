//! Comparisons of two programs on the same items, such as test positions.
//!
//! Items on which both programs have the same result contain no information about the difference
//! between the programs, so only items with different results count.

use std::f64::consts::{LN_2, PI};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::coin::binomial_tail;
use super::elo::Z_95;
use super::pentanomial::Trinomial;

/// Maximum number of tosses for which the incomplete beta function is accurate to eleven digits.
const MAX_BETA: u64 = 1_000;

/// Numbers of positions that both, one or neither of two programs solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SolvedCounts {
    /// Number of positions solved by both programs.
    pub both: u64,
    /// Number of positions solved only by the first program.
    pub only_first: u64,
    /// Number of positions solved only by the second program.
    pub only_second: u64,
    /// Number of positions solved by neither program.
    pub neither: u64,
}

/// Result of McNemar's test, where b is the number of positions solved only by the first program,
/// and c is the number of positions solved only by the second program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct McNemar {
    /// Exact two-sided p-value: probability that equal programs differ at least as much as
    /// observed.
    pub p_exact: f64,
    /// Two-sided mid-p value, which counts only half of the probability of the observed difference
    /// and is therefore less conservative than the exact p-value.
    pub p_mid: f64,
    /// (b − c)²/(b + c), which follows χ² with one degree of freedom if b + c is large.
    pub chi_squared: f64,
    /// Share solved by the first program minus the share solved by the second program, and the
    /// standard error of this difference.
    pub difference: (f64, f64),
}

/// Compares two programs on the same positions (Q. McNemar, 1947; the exact form is a sign test).
/// Returns `None` if the programs agree on all positions.
pub fn mcnemar(solved: &SolvedCounts) -> Option<McNemar> {
    let (b, c) = (solved.only_first, solved.only_second);
    let different = b + c;
    if different == 0 {
        return None;
    }
    let few = b.min(c);
    let n = different as f64;
    let tail = below_or_at(few, different);
    // The mid-p value counts half of the probability of the observed difference (H. Lancaster).
    let at = if few == 0 { tail } else { tail - below_or_at(few - 1, different) };
    let difference = b as f64 - c as f64;
    let all = n + solved.both as f64 + solved.neither as f64;
    let variance = (n - difference * difference / all).max(0.0);
    Some(McNemar {
        p_exact: (2.0 * tail).min(1.0),
        p_mid: (2.0 * tail - at).min(1.0),
        chi_squared: difference * difference / n,
        difference: (difference / all, variance.sqrt() / all),
    })
}

/// Returns the probability of at most `k` heads in `n` tosses of a fair coin. Requires k ≤ n/2.
fn below_or_at(k: u64, n: u64) -> f64 {
    if n <= MAX_BETA {
        // At most `k` heads are at least n − k tails.
        return binomial_tail(n, n - k, 0.5);
    }
    // The sum runs downwards from `k` heads, because each term is then smaller than the preceding
    // term.
    let mut sum = 0.0;
    let mut term = exactly(k, n);
    let mut heads = k;
    while term > sum * f64::EPSILON {
        sum += term;
        term *= heads as f64 / (n - heads + 1) as f64;
        heads = heads.saturating_sub(1);
    }
    sum
}

/// Returns the probability of exactly `k` heads in `n` tosses of a fair coin. The method uses the
/// errors of Stirling's formula, so that no large numbers cancel (C. Loader, "Fast and Accurate
/// Computation of Binomial Probabilities", 2000).
fn exactly(k: u64, n: u64) -> f64 {
    if k == 0 {
        return (-(n as f64) * LN_2).exp();
    }
    let [heads, tails, all] = [k, n - k, n].map(|count| count as f64);
    let lean = (tails - heads) / all;
    let distance = 0.5 * all * ((-lean * lean).ln_1p() + 2.0 * lean * lean.atanh());
    let spread = 0.5 * (2.0 * PI * heads * tails / all).ln();
    (stirling(all) - stirling(heads) - stirling(tails) - distance - spread).exp()
}

/// Returns the error of Stirling's formula for ln x!, for x ≥ 1.
fn stirling(x: f64) -> f64 {
    if x < 16.0 {
        // The asymptotic series below needs a large argument.
        return ln_gamma(x + 1.0) - ((x + 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln());
    }
    let square = x * x;
    (1.0 / 12.0 - (1.0 / 360.0 - (1.0 / 1260.0 - 1.0 / (1680.0 * square)) / square) / square) / x
}

/// Speeds of two programs on one item.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Speeds {
    /// Speed of the first program in any unit, positive.
    pub first: f64,
    /// Speed of the second program in the same unit, positive.
    pub second: f64,
}

/// Returns the 95 % confidence interval (within 0 to 1) for a probability after `hits` hits in `n`
/// trials (E. B. Wilson, 1927). Returns `None` without trials.
pub fn share_interval(hits: u64, n: u64) -> Option<(f64, f64)> {
    wilson(hits as f64, n)
}

/// Returns a 95 % confidence interval (within 0 to 1) for the mean score of games. The interval is
/// computed as if no game were drawn; draws only make the interval wider than necessary. Returns
/// `None` without games.
pub fn score_interval(games: &Trinomial) -> Option<(f64, f64)> {
    wilson(games.wins as f64 + 0.5 * games.draws as f64, games.games())
}

fn wilson(hits: f64, n: u64) -> Option<(f64, f64)> {
    if n == 0 {
        return None;
    }
    let n = n as f64;
    let square = Z_95 * Z_95;
    let centre = (hits + square / 2.0) / (n + square);
    let half_width = Z_95 / (n + square) * (hits * (n - hits) / n + square / 4.0).max(0.0).sqrt();
    Some(((centre - half_width).max(0.0), (centre + half_width).min(1.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected probabilities are sums of binomial coefficients, or values of the normal
    /// distribution if the counts are nearly equal.
    #[test]
    fn large_counts_are_exact() {
        for (many, few, expected) in [
            (5_025, 4_975, 0.624_136_094_964_909_2),
            (500_250, 499_750, 0.617_779_406_050_461_2),
            (501_250, 498_750, 0.012_454_392_716_794_554),
            (503_000, 497_000, 1.985_149_763_923_022e-9),
            (1_000_000_000, 999_950_000, 0.263_556_058_450_156),
            (1_000_000_000, 0, 0.0),
        ] {
            let (only_first, only_second) = (many, few);
            let found =
                mcnemar(&SolvedCounts { only_first, only_second, ..SolvedCounts::default() });
            let found = found.expect("they differ").p_exact;
            assert!((found - expected).abs() <= 1e-9 * expected, "{many}, {few}: {found}");
        }
        // Both methods agree at the boundary between them.
        for few in [0, 1, 17, 400, 499, 500] {
            let [beta, sum] = [MAX_BETA, MAX_BETA + 1].map(|n| below_or_at(few, n));
            assert!(sum < beta && (few == 0 || sum > 0.5 * beta), "{few}: {beta} and {sum}");
        }
    }

    #[test]
    fn mcnemar_is_a_sign_test() {
        let test = |only_first, only_second| {
            mcnemar(&SolvedCounts { both: 50, only_first, only_second, neither: 20 })
        };
        assert_eq!(test(0, 0), None);
        let found = test(8, 2).expect("a difference");
        assert!((found.p_exact - 112.0 / 1024.0).abs() < 1e-12, "{found:?}");
        assert!((found.p_mid - (112.0 - 45.0) / 1024.0).abs() < 1e-12, "{found:?}");
        assert!((found.chi_squared - 3.6).abs() < 1e-12);
        assert!((found.difference.0 - 6.0 / 80.0).abs() < 1e-12);
        assert_eq!(test(2, 8).map(|m| m.p_exact), test(8, 2).map(|m| m.p_exact));
        assert_eq!(test(4, 4).map(|m| m.p_exact), Some(1.0));
        assert!((test(5, 0).expect("a difference").p_exact - 2.0 / 32.0).abs() < 1e-12);
    }

    /// At an end p of the interval, the share of hits is 1.96 standard errors away from p.
    #[test]
    fn ends_of_a_share_interval_are_1_96_standard_errors_from_the_share() {
        for (hits, n) in [(1, 10), (5, 10), (80, 100), (299, 300)] {
            let (low, high) = share_interval(hits, n).expect("trials");
            let share = hits as f64 / n as f64;
            assert!(low < share && share < high);
            for end in [low, high] {
                let z = (share - end).abs() / (end * (1.0 - end) / n as f64).sqrt();
                assert!((z - Z_95).abs() < 1e-9, "{hits} of {n}: {end}");
            }
        }
        assert_eq!(share_interval(0, 0), None);
        assert!(share_interval(0, 9).expect("trials").0 < 1e-12);
        assert!((share_interval(9, 9).expect("trials").1 - 1.0).abs() < 1e-12);
    }
}
