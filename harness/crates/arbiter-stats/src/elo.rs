//! Logistic Elo: the scale on which a score s corresponds to −400·log₁₀(1/s − 1).
//!
//! Rules for edge cases, identical for games and pairs:
//!
//! | sample | Elo | interval | likelihood of superiority |
//! |---|---|---|---|
//! | empty | none | none | none |
//! | all units won (all lost: mirrored) | infinite | from [`least_score`] to infinity | none, but a bound |
//! | all games drawn, or all pairs in one inner cell | finite | zero width | none, because the sample has no spread |
//! | one unit | as for all units in one cell | | |
//! | otherwise | finite | an end is infinite if the interval of the score exceeds (0, 1) | 0 to 1, sometimes also a bound |
//!
//! The estimates in this module use the unmodified counts. Likelihood ratios raise empty cells
//! first.

use std::cmp::Ordering;

use statrs::function::erf::{erfc, erfc_inv};

use super::distribution::Moments;

/// 97.5 % quantile of the standard normal distribution, for 95 % intervals.
pub const Z_95: f64 = 1.959963984540054;

/// Estimate with its 95 % confidence interval. Each number may be infinite, but not NaN.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Estimated value.
    pub value: f64,
    /// Lower end of the 95 % interval.
    pub low: f64,
    /// Upper end of the 95 % interval.
    pub high: f64,
}

impl Estimate {
    /// Returns half the width of the interval (the number after "±"); `None` if an end is infinite.
    pub fn half_width(&self) -> Option<f64> {
        Some(0.5 * (finite(self.high)? - finite(self.low)?))
    }
}

/// Returns the number; `None` if the number is infinite or NaN.
pub fn finite(number: f64) -> Option<f64> {
    number.is_finite().then_some(number)
}

/// Returns the expected score, 0 to 1, of a player who is `elo` Elo points stronger than the
/// opponent.
pub fn score_from_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

/// Returns the Elo difference with the expected score `score`: -∞ if the score is 0 or less, ∞ if
/// the score is 1 or more.
pub fn elo_from_score(score: f64) -> f64 {
    // Adding 0 turns the −0 of an even score into 0, which is printed without a minus sign.
    -400.0 * (1.0 / score.clamp(0.0, 1.0) - 1.0).log10() + 0.0
}

/// Returns the Elo of the sample's mean score.
///
/// The confidence interval for the score is the mean ± [`Z_95`] standard errors. Each end is
/// converted to Elo, so the Elo interval is asymmetric for lopsided scores.
pub fn estimate(sample: &Moments) -> Estimate {
    within(sample, Z_95)
}

/// Returns the Elo as [`estimate`] does, with a wider interval for one of `family` simultaneous
/// estimates. With a probability of at least 95 %, all intervals contain their true values, even if
/// the estimates depend on each other. Each interval has the level 1 − 5 %/`family` (Bonferroni
/// correction).
pub fn simultaneous(sample: &Moments, family: usize) -> Estimate {
    within(sample, simultaneous_z(family))
}

/// Returns the half-width, in standard errors, of one of `family` simultaneous intervals: [`Z_95`]
/// for 1 interval, 3.17 for 33.
fn simultaneous_z(family: usize) -> f64 {
    std::f64::consts::SQRT_2 * erfc_inv(0.05 / family.max(1) as f64)
}

/// Returns the exact lower bound of the expected score of a player who won all `units` units. A
/// player with the expected score s wins a unit with a probability of at most s, and N units with a
/// probability of at most sᴺ. The bound is the s for which sᴺ is the probability that a standard
/// normal variable exceeds `z`.
pub(crate) fn least_score(units: f64, z: f64) -> f64 {
    // This expression solves sᴺ = Φ(−z) for s.
    normal_cdf(-z).powf(1.0 / units)
}

fn within(sample: &Moments, standard_errors: f64) -> Estimate {
    if sample.mean >= 1.0 || sample.mean <= 0.0 {
        let bound = elo_from_score(least_score(sample.units, standard_errors));
        let infinite = f64::INFINITY;
        return if sample.mean >= 1.0 {
            Estimate { value: infinite, low: bound, high: infinite }
        } else {
            Estimate { value: -infinite, low: -infinite, high: -bound }
        };
    }
    let margin = standard_errors * sample.standard_error();
    Estimate {
        value: elo_from_score(sample.mean),
        low: elo_from_score(sample.mean - margin),
        high: elo_from_score(sample.mean + margin),
    }
}

/// Returns the likelihood of superiority (LOS), 0 to 1: the probability that the first engine is
/// stronger, Φ((mean − ½) / standard error). Returns `None` if the sample has no variance.
pub fn likelihood_of_superiority(sample: &Moments) -> Option<f64> {
    let error = sample.standard_error();
    (error > 0.0).then(|| normal_cdf((sample.mean - 0.5) / error))
}

/// Returns a bound on the likelihood of superiority (LOS) for an extremely lopsided sample of N
/// units: the LOS is greater than 1 − 2⁻ᴺ, or less than 2⁻ᴺ. Equal players win, or lose, all N
/// units with a probability of at most 2⁻ᴺ, and no result of N units is stronger evidence. Returns
/// `None` for all other samples.
pub fn bound_of_superiority(sample: &Moments) -> Option<(Ordering, f64)> {
    let chance = 0.5f64.powf(sample.units);
    let is_lopsided = sample.mean >= 1.0 || sample.mean <= 0.0;
    let los = likelihood_of_superiority(sample).or(is_lopsided.then_some(sample.mean))?;
    match los {
        los if los >= 1.0 - chance => Some((Ordering::Greater, 1.0 - chance)),
        los if los <= chance => Some((Ordering::Less, chance)),
        _ => None,
    }
}

/// Returns the probability that a standard normal variable is below `z`; accurate in both tails.
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * erfc(-z / std::f64::consts::SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::super::pentanomial::{Pentanomial, Trinomial};
    use super::*;

    fn from_pairs(counts: [u64; 5]) -> Estimate {
        estimate(&Pentanomial(counts).distribution().moments().expect("some pairs"))
    }

    #[test]
    fn elo_and_score_are_inverse() {
        for elo in [-800.0, -100.0, -1.5, 0.0, 3.0, 250.0] {
            let back = finite(elo_from_score(score_from_elo(elo))).expect("inside (0, 1)");
            assert!((back - elo).abs() < 1e-9, "{elo} became {back}");
        }
        assert_eq!(elo_from_score(0.0), f64::NEG_INFINITY);
        assert_eq!(elo_from_score(1.0), f64::INFINITY);
    }

    #[test]
    fn lopsided_samples_follow_the_rules_for_edge_cases() {
        let won = from_pairs([0, 0, 0, 0, 9]);
        assert_eq!((won.value, won.high), (f64::INFINITY, f64::INFINITY));
        // 0.66372⁹ is 2.5 %.
        assert!((score_from_elo(won.low).powi(9) - 0.025).abs() < 1e-9, "{won:?}");
        assert_eq!(won.half_width(), None);
        let drawn = from_pairs([0, 0, 9, 0, 0]);
        assert_eq!((finite(drawn.value), drawn.half_width()), (Some(0.0), Some(0.0)));
        let nearly = from_pairs([0, 0, 0, 1, 2]);
        assert!(finite(nearly.value).is_some() && finite(nearly.low).is_some());
        assert_eq!(nearly.high, f64::INFINITY);
        for counts in [[0, 0, 0, 0, 9], [0, 0, 9, 0, 0], [0, 1, 0, 0, 0]] {
            let moments = Pentanomial(counts).distribution().moments().expect("some pairs");
            assert_eq!(likelihood_of_superiority(&moments), None);
        }
        assert_eq!(Pentanomial::default().distribution().moments(), None);
    }

    #[test]
    fn swapping_sides_negates_elo() {
        let close = |a: f64, b: f64| a == b || (a - b).abs() < 1e-9;
        for counts in [[3, 30, 60, 31, 9], [0, 1, 0, 0, 0], [0, 0, 0, 1, 2], [0, 0, 0, 0, 4]] {
            let (ours, theirs) = (Pentanomial(counts), Pentanomial(counts).swapped());
            let (a, b) = (from_pairs(ours.0), from_pairs(theirs.0));
            assert!(close(a.value, -b.value), "{counts:?}");
            assert!(close(a.low, -b.high), "{counts:?}");
            assert!(close(a.high, -b.low), "{counts:?}");
        }
    }

    #[test]
    fn likelihoods_of_both_sides_add_up_to_one() {
        let games = Trinomial { losses: 30, draws: 50, wins: 41 };
        let los = |games: Trinomial| {
            likelihood_of_superiority(&games.distribution().moments().expect("some games"))
                .expect("some spread")
        };
        assert!((los(games) + los(games.swapped()) - 1.0).abs() < 1e-15);
        assert!(los(games) > 0.5);
    }

    #[test]
    fn perfect_and_near_perfect_scores_have_a_bound() {
        let moments = |counts| Pentanomial(counts).distribution().moments().expect("some pairs");
        let (most, least) = (Ordering::Less, Ordering::Greater);
        for (counts, bound) in [
            ([0, 0, 0, 0, 3], Some((least, 0.875))),
            ([3, 0, 0, 0, 0], Some((most, 0.125))),
            ([0, 0, 0, 0, 1], Some((least, 0.5))),
            ([1, 0, 0, 0, 0], Some((most, 0.5))),
            ([0, 0, 0, 1, 2], Some((least, 0.875))),
            ([2, 1, 0, 0, 0], Some((most, 0.125))),
            ([1, 0, 0, 0, 2], None),
            ([0, 0, 0, 1, 0], None),
        ] {
            assert_eq!(bound_of_superiority(&moments(counts)), bound, "{counts:?}");
        }
        let bounds = [1, 10, 1_000].map(|pairs| from_pairs([0, 0, 0, 0, pairs]).low);
        assert!(bounds.is_sorted() && bounds[0] < -600.0 && bounds[2] > 950.0, "{bounds:?}");
    }

    #[test]
    fn simultaneous_intervals_are_wider() {
        // Quantiles of the normal distribution at 1 − 0.025/n, from published tables.
        for (family, expect) in [(1, Z_95), (2, 2.241403), (10, 2.807034), (33, 3.171)] {
            assert!((simultaneous_z(family) - expect).abs() < 1e-3, "{family}");
        }
        let sample = Pentanomial([2, 5, 20, 6, 3]).distribution().moments().expect("some pairs");
        let (one, alone) = (simultaneous(&sample, 1), estimate(&sample));
        assert!((one.half_width().unwrap() - alone.half_width().unwrap()).abs() < 1e-9);
        let many = simultaneous(&sample, 33);
        assert_eq!(many.value, alone.value);
        assert!(many.low < alone.low && many.high > alone.high);
    }
}
