//! A log-likelihood ratio as Brownian motion between two barriers: how likely it ends at the upper
//! one, and after how many units.
//!
//! An approximation (it ignores that the ratio jumps over its barrier), good to a few percent, for
//! planning a test and for telling how long it may still take. Decisions never rest on it.

/// Brownian motion observed once per unit (a game or a pair).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Walk {
    /// Mean change per unit.
    pub drift: f64,
    /// Variance of the change per unit, greater than 0.
    pub variance: f64,
}

/// How a walk between two barriers ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exit {
    /// Probability of leaving through the upper barrier, 0 to 1.
    pub upper_probability: f64,
    /// Mean number of units until either barrier is reached.
    pub mean_units: f64,
}

/// Below this value of |2·drift/variance|·(distance between the barriers) the limit without drift
/// is more accurate than the formula.
const NO_DRIFT: f64 = 1e-5;

impl Walk {
    /// Exit of a walk with `below` to go down to the lower barrier and `above` to go up to the
    /// upper one; both must be at least 0.
    ///
    /// With γ = 2·drift/variance: P = (1 − e^(−γ·below)) / (1 − e^(−γ·(below + above))) and
    /// E = (P·above − (1 − P)·below) / drift; without drift P = below/(below + above) and
    /// E = below·above/variance.
    pub fn exit(&self, below: f64, above: f64) -> Exit {
        assert!(below >= 0.0 && above >= 0.0, "outside the barriers: {below}, {above}");
        let width = below + above;
        let gamma = 2.0 * self.drift / self.variance;
        if (gamma * width).abs() < NO_DRIFT {
            let upper_probability = if width > 0.0 { below / width } else { 0.5 };
            return Exit { upper_probability, mean_units: below * above / self.variance };
        }
        // Written for a rising walk, so that no exponential overflows; a falling one is its mirror.
        let (near, far) = if gamma > 0.0 { (below, above) } else { (above, below) };
        let rise = gamma.abs();
        let far_probability = (-rise * near).exp_m1() / (-rise * width).exp_m1();
        let near_probability =
            (-rise * near).exp() * (-rise * far).exp_m1() / (-rise * width).exp_m1();
        let mean_units = (far_probability * far - near_probability * near) / self.drift.abs();
        let upper_probability = if gamma > 0.0 { far_probability } else { near_probability };
        Exit { upper_probability, mean_units: mean_units.max(0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_meets_its_limit() {
        let (below, above) = (2.0, 3.5);
        let still = Walk { drift: 0.0, variance: 0.01 }.exit(below, above);
        for drift in [1e-9, -1e-9, 2e-8, -2e-8] {
            let slow = Walk { drift, variance: 0.01 }.exit(below, above);
            assert!((slow.upper_probability - still.upper_probability).abs() < 1e-4);
            assert!((slow.mean_units / still.mean_units - 1.0).abs() < 1e-4, "{slow:?}");
        }
    }

    #[test]
    fn a_mirrored_walk_ends_mirrored() {
        let up = Walk { drift: 0.003, variance: 0.02 }.exit(1.0, 2.0);
        let down = Walk { drift: -0.003, variance: 0.02 }.exit(2.0, 1.0);
        assert!((up.upper_probability + down.upper_probability - 1.0).abs() < 1e-12);
        assert!((up.mean_units - down.mean_units).abs() < 1e-9);
    }

    #[test]
    fn strong_drift_goes_straight_to_its_barrier() {
        let exit = Walk { drift: 1.0, variance: 1e-4 }.exit(3.0, 50.0);
        assert_eq!(exit.upper_probability, 1.0);
        assert!((exit.mean_units - 50.0).abs() < 1e-9);
        let exit = Walk { drift: -1.0, variance: 1e-4 }.exit(3.0, 50.0);
        assert!(exit.upper_probability < 1e-300 && (exit.mean_units - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_walk_at_its_barrier_has_ended() {
        assert_eq!(Walk { drift: 0.1, variance: 0.1 }.exit(3.0, 0.0).mean_units, 0.0);
        assert_eq!(Walk { drift: 0.0, variance: 0.1 }.exit(0.0, 3.0).mean_units, 0.0);
    }
}
