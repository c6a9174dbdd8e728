//! Sequential test for a biased coin, and upper tail of the binomial distribution.

use statrs::function::beta::beta_reg;
use statrs::function::gamma::ln_gamma;

/// Returns the natural logarithm of the evidence for an unknown bias. The evidence is the
/// likelihood ratio of a mixture of biased coins (R. E. Krichevsky and V. K. Trofimov, *The
/// performance of universal encoding*, 1981) to a fair coin. If the coin is fair, the probability
/// that the logarithm ever exceeds `x` is at most `exp(-x)`, however often the logarithm is
/// computed (J. Ville, 1939).
pub fn ln_bias_evidence(heads: u64, tails: u64) -> f64 {
    let [heads, tails] = [heads, tails].map(|count| count as f64);
    let tosses = heads + tails;
    ln_gamma(heads + 0.5) + ln_gamma(tails + 0.5) - ln_gamma(tosses + 1.0)
        + tosses * std::f64::consts::LN_2
        - std::f64::consts::PI.ln()
}

/// Returns the probability of at least `heads` heads in `tosses` tosses of a coin. The coin shows
/// heads with the probability `chance`, 0 to 1.
pub fn binomial_tail(tosses: u64, heads: u64, chance: f64) -> f64 {
    match heads {
        0 => 1.0,
        _ if heads > tosses => 0.0,
        _ => beta_reg(heads as f64, (tosses - heads) as f64 + 1.0, chance.clamp(0.0, 1.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_match_direct_counts() {
        for (tosses, heads, chance, expected) in
            [(3, 2, 0.5, 0.5), (4, 4, 0.05, 6.25e-6), (9, 0, 0.1, 1.0), (2, 3, 0.9, 0.0)]
        {
            let actual = binomial_tail(tosses, heads, chance);
            assert!((actual - expected).abs() < 1e-12, "{tosses}, {heads}: {actual}");
        }
        assert_eq!([binomial_tail(5, 1, 0.0), binomial_tail(5, 5, 1.0)], [0.0, 1.0]);
    }

    #[test]
    fn few_tosses_match_direct_counts() {
        // In the mixture, two heads have the probability (1/2)(3/2)/2!. A head and a tail in a
        // given order have the probability (1/2)(1/2)/2!.
        for (heads, tails, times) in [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 1.5), (1, 1, 0.5)] {
            let actual = ln_bias_evidence(heads, tails).exp();
            assert!((actual - times).abs() < 1e-12, "{heads}, {tails}: {actual}");
        }
    }

    #[test]
    fn a_fair_coin_hardly_ever_looks_biased() {
        const COINS: u64 = 20_000;
        let mut random = 1u64;
        let mut is_head = || {
            // Xorshift (G. Marsaglia, 2003).
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random >> 63 == 0
        };
        let mut exceeds = |_: &u64| {
            let mut counts = [0, 0];
            (0..300).any(|_| {
                counts[usize::from(is_head())] += 1;
                ln_bias_evidence(counts[0], counts[1]) > 20f64.ln()
            })
        };
        let share = (0..COINS).filter(|coin| exceeds(coin)).count() as f64 / COINS as f64;
        assert!((0.005..0.05).contains(&share), "{share}");
    }
}
