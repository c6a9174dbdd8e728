//! Gain sequences of SPSA: step size a_k and perturbation c_k of a parameter.
//!
//! Here, k is the number of a pair, from 1 to n. The perturbation is c_k = c / k^γ and the step
//! size is a_k = a / (A + k)^α, where c and a are chosen so that c_n = c_end and a_n = r_end ·
//! c_end². A won game changes a value by the step a_k / c_k = R_k · c_k, where R_k = a_k / c_k².
//! Because k counts pairs, the gains do not depend on the number of pairs per iteration.

use super::parameter::{MIN_INT_PERTURBATION, Parameter, ParameterKind};
use super::tuning::Tuning;

/// Default exponent α of the step size. J. Spall recommends this value ("Implementation of the
/// Simultaneous Perturbation Algorithm for Stochastic Optimization", 1998).
pub const ALPHA: f64 = 0.602;

/// Default exponent γ of the perturbation. J. Spall (1998) recommends this value.
pub const GAMMA: f64 = 0.101;

/// Default of the stability constant `A`, as a share of all pairs. J. Spall (1998) recommends at
/// most a tenth of the iterations.
pub const A_RATIO: f64 = 0.1;

impl Tuning {
    /// Returns the stability constant A, in pairs, rounded down.
    pub fn stability(&self) -> f64 {
        (self.a_ratio * self.all_pairs() as f64).floor()
    }

    /// Returns c_k, the perturbation of a value at pair `k`, counted from 1. The perturbation of an
    /// integer is at least 0.5.
    pub fn perturbation(&self, parameter: &Parameter, k: u64) -> f64 {
        let c = parameter.c_end * (self.all_pairs() as f64 / k as f64).powf(self.gamma);
        match parameter.kind {
            // The perturbation decreases with k, and may become too small for an integer.
            ParameterKind::Int => c.max(MIN_INT_PERTURBATION),
            ParameterKind::Float => c,
        }
    }

    /// Returns R_k: the change of a value for each won game at pair `k`, counted from 1, as a share
    /// of the perturbation.
    pub fn rate(&self, parameter: &Parameter, k: u64) -> f64 {
        let a_end = parameter.r_end * parameter.c_end.powi(2);
        let a = self.stability();
        let growth = (a + self.all_pairs() as f64) / (a + k as f64);
        a_end * growth.powf(self.alpha) / self.perturbation(parameter, k).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::read_line;

    #[test]
    fn gains_are_constant_without_exponents() {
        let tuning = Tuning::test([0.0, 0.0, 0.1], 5_000);
        let parameter = read_line("P,5,0,100,7,0.004").unwrap();
        for k in [1, 77, 5_000] {
            assert_eq!(tuning.perturbation(&parameter, k), 7.0);
            assert!((tuning.rate(&parameter, k) - 0.004).abs() < 1e-15);
        }
    }

    #[test]
    fn integers_are_perturbed_by_at_least_one_half() {
        let tuning = Tuning::test([ALPHA, GAMMA, A_RATIO], 100);
        let integer = read_line("P,5,0,10,0.1,0.002").unwrap();
        let real = read_line("P,float,5,0,10,0.1,0.002").unwrap();
        assert_eq!(tuning.perturbation(&integer, 100), 0.5);
        assert_eq!(tuning.perturbation(&real, 100), 0.1);
        // The step is a_k / c_k, where c_k is the perturbation after its lower limit is applied.
        let step = |p: &Parameter| tuning.rate(p, 100) * tuning.perturbation(p, 100);
        assert!((step(&integer) - 0.002 * 0.01 / 0.5).abs() < 1e-15);
        assert!((step(&real) - 0.002 * 0.1).abs() < 1e-15);
    }
}
