//! Log-likelihood ratio as Brownian motion between two barriers: the probability of reaching the
//! upper barrier first, and the mean number of units until either barrier is reached.
//!
//! This approximation is accurate to a few percent. The approximation ignores the overshoot, the
//! distance by which the LLR jumps past a barrier. The approximation serves to plan tests, to
//! forecast the length of tests and to estimate strengths after tests, but never to make decisions.

use std::f64::consts::PI;

use super::elo::normal_cdf;

/// Brownian motion observed once per unit (a game or a pair).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct BrownianMotion {
    /// Mean change per unit.
    pub drift: f64,
    /// Variance of the change per unit, greater than 0.
    pub variance: f64,
}

/// Exit of a random walk from the interval between two barriers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exit {
    /// Probability of exit at the upper barrier, 0 to 1.
    pub upper_probability: f64,
    /// Mean number of units until either barrier is reached.
    pub mean_units: f64,
}

/// Value of |2·drift/variance|·(distance between the barriers) below which the formula without
/// drift is more accurate than the general formula.
const NO_DRIFT: f64 = 1e-5;

impl BrownianMotion {
    /// Returns the exit of a walk whose start is at the distance `below` from the lower barrier and
    /// at the distance `above` from the upper barrier. Both distances must be at least 0.
    ///
    /// With γ = 2·drift/variance, the probability of reaching the upper barrier first is P = (1 −
    /// e^(−γ·below)) / (1 − e^(−γ·(below + above))), and the mean number of units is E = (P·above −
    /// (1 − P)·below) / drift. Without drift, P = below/(below + above) and E =
    /// below·above/variance.
    pub(crate) fn exit(&self, below: f64, above: f64) -> Exit {
        assert!(below >= 0.0 && above >= 0.0, "outside the barriers: {below}, {above}");
        let width = below + above;
        let gamma = 2.0 * self.drift / self.variance;
        if (gamma * width).abs() < NO_DRIFT {
            let upper_probability = if width > 0.0 { below / width } else { 0.5 };
            return Exit { upper_probability, mean_units: below * above / self.variance };
        }
        exit_by_rate(gamma, self.drift, below, above)
    }
}

/// Returns the exit of a walk with the mean change `drift` per unit. `rate` must be nonzero and
/// satisfy E(e^(−rate·change)) = 1. [`BrownianMotion::exit`] explains the formulas and the
/// distances.
pub(crate) fn exit_by_rate(rate: f64, drift: f64, below: f64, above: f64) -> Exit {
    // The formulas are for a rising walk, so that no exponential overflows. A falling walk is
    // mirrored.
    let (near, far) = if rate > 0.0 { (below, above) } else { (above, below) };
    let rise = rate.abs();
    let width = below + above;
    // `exp_m1` keeps the digits that 1 − e^x would lose for a small drift.
    let far_probability = (-rise * near).exp_m1() / (-rise * width).exp_m1();
    let near_probability = (-rise * near).exp() * (-rise * far).exp_m1() / (-rise * width).exp_m1();
    let mean_units = (far_probability * far - near_probability * near) / drift.abs();
    let upper_probability = if rate > 0.0 { far_probability } else { near_probability };
    // Rounding errors may make a mean close to 0 negative.
    Exit { upper_probability, mean_units: mean_units.max(0.0) }
}

/// Size of a term at which the sum of eigenfunctions is truncated.
const NEGLIGIBLE: f64 = 1e-13;

/// Minimum value of drift·barrier/variance at which a reflection is computed from the asymptotic
/// series of the normal tail. The threshold is the same as in fishtest. Above the threshold, the
/// error of the series is at most 1e-5, and no exponential overflows.
const STEEP: f64 = 5.0;

impl BrownianMotion {
    /// Returns the probability that a walk that starts at 0 between the barriers `lower` < 0 <
    /// `upper` has a worse outcome than `level` after `units` units. The outcome is worse if the
    /// walk has reached the lower barrier within these units, or has reached no barrier and is
    /// below `level`. If `level` is a barrier, the result is the probability of a worse end in the
    /// order "early failure < late failure < late pass < early pass".
    ///
    /// The probability is computed by an expansion in eigenfunctions of the strip between the
    /// barriers. Where this expansion converges too slowly or loses precision, the probability is
    /// computed from the first reflections at the barriers (D. Siegmund, "Sequential Analysis",
    /// chapter 3).
    pub(crate) fn outcome_probability(
        &self,
        lower: f64,
        upper: f64,
        units: f64,
        level: f64,
    ) -> f64 {
        assert!(lower < 0.0 && 0.0 < upper && units > 0.0, "{lower}, {upper}, {units}");
        let width = upper - lower;
        let gamma = self.drift / self.variance;
        let probability =
            // The terms of the expansion decay too slowly for short times and cancel for steep
            // drifts. The thresholds are the same as in fishtest.
            if self.variance * units / (width * width) < 0.01 || (gamma * width).abs() > 15.0 {
                self.by_reflections(lower, upper, units, level)
            } else {
                self.by_eigenfunctions(lower, upper, units, level)
            };
        // Both series are truncated, so their sums may be slightly outside the range 0 to 1.
        probability.clamp(0.0, 1.0)
    }

    fn by_eigenfunctions(&self, lower: f64, upper: f64, units: f64, level: f64) -> f64 {
        let width = upper - lower;
        let start = -lower;
        let end = level - lower;
        let gamma = self.drift / self.variance;
        let escape = if (gamma * width).abs() < NO_DRIFT {
            upper / width
        } else {
            (2.0 * gamma * upper).exp_m1() / (2.0 * gamma * width).exp_m1()
        };
        let mut sum = 0.0;
        for n in 1.. {
            let wave = f64::from(n) * PI / width;
            let decay =
                0.5 * self.variance * wave * wave + 0.5 * self.drift * self.drift / self.variance;
            let size = (gamma * (end - start) - decay * units).exp();
            let shape = 2.0 * (gamma * (wave * end).sin() - wave * (wave * end).cos())
                / (width * (gamma * gamma + wave * wave));
            sum += size * shape * (wave * start).sin();
            if size <= NEGLIGIBLE {
                break;
            }
        }
        escape + sum
    }

    fn by_reflections(&self, lower: f64, upper: f64, units: f64, level: f64) -> f64 {
        let gamma = self.drift / self.variance;
        let spread = (self.variance * units).sqrt();
        let offset = self.drift * units;
        let reflected = |shift: f64, z: f64| {
            if shift < 2.0 * STEEP {
                return shift.exp() * normal_cdf(z);
            }
            // The factor is huge and the tail is tiny, so their exponents are added. The asymptotic
            // series of the tail begins with 1/|z| − 1/|z|³.
            (shift - 0.5 * z * z).exp() * (1.0 / z.powi(3) - 1.0 / z) / (2.0 * PI).sqrt()
        };
        normal_cdf((level - offset) / spread)
            + reflected(2.0 * gamma * lower, (2.0 * lower - level + offset) / spread)
            - reflected(2.0 * gamma * upper, (level - 2.0 * upper - offset) / spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_approaches_the_limit_without_drift() {
        let (below, above) = (2.0, 3.5);
        let still = BrownianMotion { drift: 0.0, variance: 0.01 }.exit(below, above);
        for drift in [1e-9, -1e-9, 2e-8, -2e-8] {
            let slow = BrownianMotion { drift, variance: 0.01 }.exit(below, above);
            assert!((slow.upper_probability - still.upper_probability).abs() < 1e-4);
            assert!((slow.mean_units / still.mean_units - 1.0).abs() < 1e-4, "{slow:?}");
        }
    }

    #[test]
    fn a_mirrored_walk_has_the_mirrored_exit() {
        let up = BrownianMotion { drift: 0.003, variance: 0.02 }.exit(1.0, 2.0);
        let down = BrownianMotion { drift: -0.003, variance: 0.02 }.exit(2.0, 1.0);
        assert!((up.upper_probability + down.upper_probability - 1.0).abs() < 1e-12);
        assert!((up.mean_units - down.mean_units).abs() < 1e-9);
    }

    #[test]
    fn strong_drift_goes_straight_to_its_barrier() {
        let exit = BrownianMotion { drift: 1.0, variance: 1e-4 }.exit(3.0, 50.0);
        assert_eq!(exit.upper_probability, 1.0);
        assert!((exit.mean_units - 50.0).abs() < 1e-9);
        let exit = BrownianMotion { drift: -1.0, variance: 1e-4 }.exit(3.0, 50.0);
        assert!(exit.upper_probability < 1e-300 && (exit.mean_units - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_walk_at_its_barrier_has_ended() {
        assert_eq!(BrownianMotion { drift: 0.1, variance: 0.1 }.exit(3.0, 0.0).mean_units, 0.0);
        assert_eq!(BrownianMotion { drift: 0.0, variance: 0.1 }.exit(0.0, 3.0).mean_units, 0.0);
    }

    #[test]
    fn both_expansions_of_the_outcome_agree() {
        for drift in [-0.002, -1e-9, 0.0, 0.0005, 0.002] {
            let walk = BrownianMotion { drift, variance: 0.01 };
            for units in [100.0, 150.0, 250.0] {
                for level in [-2.9, -1.0, 0.0, 1.3, 2.9] {
                    let waves = walk.by_eigenfunctions(-2.9, 2.9, units, level);
                    let mirrors = walk.by_reflections(-2.9, 2.9, units, level);
                    assert!((waves - mirrors).abs() < 1e-5, "{drift} {units} {level}");
                }
            }
        }
    }

    #[test]
    fn the_outcome_converges_to_the_exit() {
        let walk = BrownianMotion { drift: 0.001, variance: 0.01 };
        let failed = walk.outcome_probability(-2.0, 3.0, 1e6, 3.0);
        assert!((failed + walk.exit(2.0, 3.0).upper_probability - 1.0).abs() < 1e-12);
    }
}
