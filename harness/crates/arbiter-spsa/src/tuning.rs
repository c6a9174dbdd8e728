//! Configuration of a tuning run.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_with::As;

use super::parameter::Parameter;
use super::table::Line;

/// Maximum number of parameters; more options would delay the start of each game.
const MAX_PARAMETERS: usize = 1_000;

/// Maximum number of pairs in a tuning run.
const MAX_PAIRS: u64 = 1_000_000_000;

/// Parameters and gain schedule of a tuning run.
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
    /// iteration uses the values after all earlier iterations except the last `ahead`.
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

    /// Returns the number (from 1) of the first pair of an iteration (from 0).
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
    use crate::gains::{A_RATIO, ALPHA, GAMMA};
    use crate::table;

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
}
