//! Configuration of a tuning run, and its gains.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_with::As;

use super::parameter::{MIN_INT_PERTURBATION, Parameter, ParameterKind};
use super::table::Line;

/// Maximum number of parameters; more options would delay the start of each game.
const MAX_PARAMETERS: usize = 1_000;

/// Maximum number of pairs in a tuning run.
const MAX_PAIRS: u64 = 1_000_000_000;

/// Parameters and gain schedule of a tuning run.
///
/// The gain sequences of SPSA are the step size a_k and the perturbation c_k of a parameter, where
/// k is the number of a pair, from 1 to n. The perturbation is c_k = c / k^γ and the step size is
/// a_k = a / (A + k)^α, where c and a are chosen so that c_n = c_end and a_n = r_end · c_end². A
/// won game changes a value by the step a_k / c_k = R_k · c_k, where R_k = a_k / c_k². Because k
/// counts pairs, the gains do not depend on the number of pairs per iteration.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tuning {
    /// Parameters to tune.
    #[serde(with = "As::<Vec<Line>>")]
    pub parameters: Vec<Parameter>,
    /// Exponent α of the step size.
    pub alpha: f64,
    /// Exponent γ of the perturbation.
    pub gamma: f64,
    /// Stability constant A of the step size, as a share of all pairs.
    pub a_ratio: f64,
    /// Number of iterations; each iteration updates the values once.
    pub iterations: u64,
    /// Number of pairs of games in an iteration.
    pub pairs: u64,
    /// Number of iterations that may start before the result of the current iteration is known: an
    /// iteration uses the values after all earlier iterations except the last `ahead` iterations.
    pub ahead: u64,
}

impl Tuning {
    /// Checks the parameters and the gain schedule; the error describes the first invalid value.
    pub fn check(&self) -> Result<(), String> {
        let Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs, .. } = self;
        if parameters.is_empty() {
            let ways = "--params FILE, --param LINE, --spins NAMES or [tune] of arbiter.toml";
            return Err(format!("tune requires parameters: give {ways}"));
        }
        let count = parameters.len();
        if count > MAX_PARAMETERS {
            return Err(format!("tune takes up to {MAX_PARAMETERS} parameters, got {count}"));
        }
        for (constant, value, most) in
            [("alpha", alpha, 2.0), ("gamma", gamma, 1.0), ("a-ratio", a_ratio, 10.0)]
        {
            if !(0.0..=most).contains(value) {
                return Err(format!("{constant} {value} is not between 0 and {most}"));
            }
        }
        if iterations.checked_mul(*pairs).is_none_or(|all| all > MAX_PAIRS) {
            return Err(format!(
                "{iterations} iterations of {pairs} pairs are more than {MAX_PAIRS} pairs"
            ));
        }
        let mut names = BTreeSet::new();
        for parameter in parameters {
            parameter.check().map_err(|error| format!("parameter {error}"))?;
            let Parameter { name, min, max, c_end, .. } = parameter;
            // Names of UCI options are not case-sensitive.
            if !names.insert(name.to_ascii_lowercase()) {
                return Err(format!("duplicate parameter '{name}'"));
            }
            // The perturbation is largest at the first pair.
            let first = self.perturbation(parameter, 1);
            if first > max - min {
                let pairs = self.all_pairs();
                return Err(format!(
                    "parameter {name}: its first perturbation {first:.3}, from c_end {c_end} at the \
                     last of {pairs} pairs, is larger than its range {min} to {max}"
                ));
            }
        }
        Ok(())
    }

    /// Returns the total number of pairs of games.
    pub fn all_pairs(&self) -> u64 {
        self.iterations.saturating_mul(self.pairs)
    }

    /// Returns the number (counted from 1) of the first pair of an iteration; `iteration` is
    /// counted from 0.
    pub(crate) fn first_pair(&self, iteration: u64) -> u64 {
        1 + iteration * self.pairs
    }

    /// Returns the initial values of all parameters.
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.start).collect()
    }

    /// Returns the names of the UCI options.
    pub fn names(&self) -> impl Iterator<Item = String> {
        self.settings(&self.start()).into_iter().map(|(name, _)| name)
    }

    /// Returns the name and the text of each UCI option for the given parameter values.
    pub fn settings(&self, values: &[f64]) -> Vec<(String, String)> {
        self.parameters.iter().zip(values).map(|(p, value)| p.setting(*value)).collect()
    }
}

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

    /// Returns c_k: the perturbation of a value at pair `k` (counted from 1). The perturbation of
    /// an integer is at least 0.5.
    pub fn perturbation(&self, parameter: &Parameter, k: u64) -> f64 {
        let c = parameter.c_end * (self.all_pairs() as f64 / k as f64).powf(self.gamma);
        match parameter.kind {
            // The perturbation decreases with k, and may become too small for an integer.
            ParameterKind::Int => c.max(MIN_INT_PERTURBATION),
            ParameterKind::Float => c,
        }
    }

    /// Returns R_k: the change of a value for each won game at pair `k` (counted from 1), as a
    /// share of the perturbation.
    pub fn rate(&self, parameter: &Parameter, k: u64) -> f64 {
        let a_end = parameter.r_end * parameter.c_end.powi(2);
        let a = self.stability();
        let growth = (a + self.all_pairs() as f64) / (a + k as f64);
        a_end * growth.powf(self.alpha) / self.perturbation(parameter, k).powi(2)
    }
}

#[cfg(test)]
impl Tuning {
    /// Creates the configuration of a tuning run from alpha, gamma and `a_ratio`, without
    /// parameters.
    pub(crate) fn test([alpha, gamma, a_ratio]: [f64; 3], iterations: u64) -> Tuning {
        Tuning { parameters: Vec::new(), alpha, gamma, a_ratio, iterations, pairs: 1, ahead: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{self, read_line};

    fn tuning(lines: &str) -> Tuning {
        let parameters = table::read(lines).unwrap();
        let (alpha, gamma, a_ratio) = (ALPHA, GAMMA, A_RATIO);
        Tuning { parameters, alpha, gamma, a_ratio, iterations: 100, pairs: 2, ahead: 0 }
    }

    #[test]
    fn impossible_tuning_plans_are_rejected() {
        let check = |tuning: Tuning, expect: &str| {
            let error = tuning.check().unwrap_err();
            assert!(error.contains(expect), "{error}");
        };
        let sound = tuning("A,1,0,10,1,0.1");
        assert_eq!(sound.check(), Ok(()));
        check(tuning(""), "give --params FILE");
        check(tuning("A,1,0,10,1,0.1\na,1,0,10,1,0.1"), "duplicate parameter 'a'");
        // A perturbation of 6 at the last of 200 pairs is 10.2 at the first pair.
        check(tuning("A,1,0,10,6,0.1"), "A: its first perturbation 10.2");
        check(Tuning { alpha: f64::NAN, ..sound.clone() }, "alpha NaN is not between 0 and 2");
        check(Tuning { gamma: 1.5, ..sound.clone() }, "gamma 1.5 is not between 0 and 1");
        check(Tuning { a_ratio: -0.1, ..sound.clone() }, "a-ratio -0.1");
        check(Tuning { iterations: u64::MAX, ..sound }, "iterations of 2 pairs are more than");
    }

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
