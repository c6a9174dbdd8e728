//! The gain sequences of SPSA: the perturbation and the step of values.
//!
//! With k counted in pairs from 1 and n pairs in all: the perturbation is c_k = c / k^γ and the
//! step a_k = a / (A + k)^α, where c and a are such that c_n = c_end and a_n = r_end · c_end². A
//! won game moves a value by R_k · c_k, with R_k = a_k / c_k². Counting pairs and not iterations
//! makes the gains independent of the number of pairs of an iteration.

use super::parameter::{MIN_INT_PERTURBATION, Parameter, ParameterKind};
use super::tuning::Tuning;

/// Exponent of the step unless the user sets one. The value that J. Spall recommends
/// ("Implementation of the Simultaneous Perturbation Algorithm for Stochastic Optimization", 1998).
pub const ALPHA: f64 = 0.602;

/// Exponent of the perturbation unless the user sets one. The value that J. Spall recommends
/// (1998).
pub const GAMMA: f64 = 0.101;

/// A as a share of all pairs, unless the user sets one. J. Spall (1998) recommends a tenth of the
/// iterations or less.
pub const A_RATIO: f64 = 0.1;

impl Tuning {
    /// Returns the stability constant A, in pairs.
    pub fn stability(&self) -> f64 {
        (self.a_ratio * self.all_pairs() as f64).floor()
    }

    /// Returns c_k: the perturbation of a value at pair `k`, counted from 1.
    pub fn perturbation(&self, parameter: &Parameter, k: u64) -> f64 {
        let c = parameter.c_end * (self.all_pairs() as f64 / k as f64).powf(self.gamma);
        match parameter.kind {
            // The perturbation falls with k, and may fall below what an integer can show.
            ParameterKind::Int => c.max(MIN_INT_PERTURBATION),
            ParameterKind::Float => c,
        }
    }

    /// Returns R_k: the move of a value by a won game at pair `k`, as a share of the perturbation.
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
    fn without_exponents_nothing_changes() {
        let tuning = Tuning::test([0.0, 0.0, 0.1], 5_000);
        let parameter = read_line("P,5,0,100,7,0.004").unwrap();
        for k in [1, 77, 5_000] {
            assert_eq!(tuning.perturbation(&parameter, k), 7.0);
            assert!((tuning.rate(&parameter, k) - 0.004).abs() < 1e-15);
        }
    }

    #[test]
    fn whole_numbers_are_perturbed_by_a_half_at_least() {
        let tuning = Tuning::test([ALPHA, GAMMA, A_RATIO], 100);
        let whole = read_line("P,5,0,10,0.1,0.002").unwrap();
        let real = read_line("P,float,5,0,10,0.1,0.002").unwrap();
        assert_eq!(tuning.perturbation(&whole, 100), 0.5);
        assert_eq!(tuning.perturbation(&real, 100), 0.1);
        // The step is a_k / c_k of the perturbation that is used.
        let step = |p: &Parameter| tuning.rate(p, 100) * tuning.perturbation(p, 100);
        assert!((step(&whole) - 0.002 * 0.01 / 0.5).abs() < 1e-15);
        assert!((step(&real) - 0.002 * 0.1).abs() < 1e-15);
    }
}
