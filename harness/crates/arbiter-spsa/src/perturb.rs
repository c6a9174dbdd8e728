//! Values of both sides of an iteration, and the update of the values from the result.

use rand_chacha::rand_core::Rng;

use super::parameter::{Parameter, ParameterKind};
use super::tuning::Tuning;
use arbiter_schedule::seed::{seed_for, uniform};

/// Draws a random flag for each parameter: `true` if the first side has the higher value and the
/// second side the lower value.
pub(crate) fn flips(seed: u64, iteration: u64, parameters: usize) -> Vec<bool> {
    let mut rng = seed_for(seed, "tune.flip", iteration);
    (0..parameters).map(|_| rng.next_u64() >> 63 == 1).collect()
}

/// Draws a uniform random number in [0, 1) for each parameter. The number decides whether the
/// values of the parameter are rounded up or down. Both sides use the same number, so that rounding
/// favours neither side.
pub(crate) fn fractions(seed: u64, iteration: u64, parameters: usize) -> Vec<f64> {
    let mut rng = seed_for(seed, "tune.round", iteration);
    (0..parameters).map(|_| uniform(&mut rng)).collect()
}

/// Returns the values in the form that an engine accepts. Values of integer parameters are rounded
/// up or down at random, so that the expected rounded value is the exact value.
pub(crate) fn round(parameters: &[Parameter], values: &[f64], fractions: &[f64]) -> Vec<f64> {
    let all = parameters.iter().zip(values).zip(fractions);
    all.map(|((parameter, value), fraction)| match parameter.kind {
        // With a uniform fraction, the mean of floor(value + fraction) is the value.
        ParameterKind::Int => (value + fraction).floor(),
        ParameterKind::Float => *value,
    })
    .collect()
}

impl Tuning {
    /// Returns the values of both sides at pair `k` (from 1): `theta` plus or minus the
    /// perturbation, clipped to the ranges but not rounded.
    pub(crate) fn sides(&self, k: u64, theta: &[f64], flips: &[bool]) -> [Vec<f64>; 2] {
        [true, false].map(|up| {
            let all = self.parameters.iter().zip(theta).zip(flips);
            let value = |((parameter, theta), flip): ((&Parameter, &f64), &bool)| {
                let c = self.perturbation(parameter, k);
                parameter.clip(if *flip == up { theta + c } else { theta - c })
            };
            all.map(value).collect()
        })
    }

    /// Updates the values according to the result of the iteration whose first pair is `k` (from
    /// 1). `score` is the first side's number of wins minus its number of losses.
    pub(crate) fn update(&self, k: u64, theta: &mut [f64], flips: &[bool], score: i64) {
        for ((parameter, value), flip) in self.parameters.iter().zip(theta).zip(flips) {
            // The step is the gain a times Spall's gradient estimate y·Δ/c, where y is the score
            // and Δ = ±1. In this formula, a/c = R·c.
            let step = self.rate(parameter, k) * self.perturbation(parameter, k) * score as f64;
            *value = parameter.clip(if *flip { *value + step } else { *value - step });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::read_line;

    #[test]
    fn flips_are_fair_and_differ_by_iteration() {
        let ups: usize = (0..5_000).map(|i| flips(7, i, 4).iter().filter(|up| **up).count()).sum();
        // The limit is five standard deviations of the number of `true` flags among 20,000 flags.
        assert!(ups.abs_diff(10_000) < 354, "{ups}");
        assert_ne!(flips(7, 0, 64), flips(7, 1, 64));
        assert_ne!(flips(7, 0, 64), flips(8, 0, 64));
        assert_eq!(flips(7, 3, 64), flips(7, 3, 64));
    }

    #[test]
    fn rounding_keeps_the_mean_and_favours_no_side() {
        let parameters = [read_line("P,5,0,10,1,0.002").unwrap()];
        let (mut sum, mut difference) = (0.0, 0.0);
        for iteration in 0..20_000 {
            let fractions = fractions(1, iteration, 1);
            let [plus, minus] = [5.3, 4.7].map(|v| round(&parameters, &[v], &fractions)[0]);
            assert!(plus >= minus && plus - minus <= 1.0);
            sum += plus;
            difference += plus - minus;
        }
        assert!((sum / 20_000.0 - 5.3).abs() < 0.02, "{sum}");
        assert!((difference / 20_000.0 - 0.6).abs() < 0.02, "{difference}");
    }

    #[test]
    fn a_rounded_value_stays_in_its_range() {
        let parameters = [read_line("P,10,0,10,1,0.002").unwrap()];
        assert_eq!(round(&parameters, &[10.0], &[0.999_999]), [10.0]);
        assert_eq!(round(&parameters, &[0.0], &[0.999_999]), [0.0]);
    }
}
