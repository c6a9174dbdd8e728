//! All that a tuning is made of, fixed before its first game.

use std::collections::BTreeSet;

use thiserror::Error;

use super::gains::Gains;
use super::parameter::{Parameter, ParameterError};

/// Most parameters at once; engines with more are not told them in time.
const MAX_PARAMETERS: usize = 1_000;

/// Most pairs in all.
const MAX_PAIRS: u64 = 1_000_000_000;

/// What is tuned, and by which schedule.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuning {
    /// The parameters.
    pub parameters: Vec<Parameter>,
    /// Exponent of the step.
    pub alpha: f64,
    /// Exponent of the perturbation.
    pub gamma: f64,
    /// The part of all pairs by which the steps of the beginning are held back.
    pub a_ratio: f64,
    /// How often the values are moved.
    pub iterations: u64,
    /// Pairs of an iteration.
    pub pairs: u64,
    /// Iterations that may begin before the result of one is known: the values of an iteration are
    /// those after the results of all iterations but so many before it.
    pub ahead: u64,
}

/// Why there is nothing to tune.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TuningError {
    /// There are no parameters.
    #[error(
        "tune needs parameters: give --params FILE, --param LINE, --spins NAMES or [tune] of arbiter.toml"
    )]
    NoParameters,
    /// Too many of them.
    #[error("tune takes up to {MAX_PARAMETERS} parameters, got {0}")]
    TooMany(usize),
    /// One is named twice.
    #[error("parameter '{0}' is named twice")]
    Twice(String),
    /// One makes no sense.
    #[error("parameter {0}")]
    Parameter(#[from] ParameterError),
    /// Both sides would be at the ends of the range.
    #[error(
        "parameter {name}: its first perturbation {first:.3}, from c_end {c_end} at the last of \
         {pairs} pairs, is larger than its range {min} to {max}"
    )]
    FirstPerturbation {
        /// The parameter.
        name: String,
        /// Its first perturbation.
        first: f64,
        /// Its last.
        c_end: f64,
        /// Pairs in all.
        pairs: u64,
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// A constant of the schedule is out of range.
    #[error("{name} {value} is not between 0 and {most}")]
    Constant {
        /// Its name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The greatest that makes sense.
        most: f64,
    },
    /// More pairs than can be counted on.
    #[error("{0} iterations of {1} pairs are more than {MAX_PAIRS} pairs")]
    TooLong(u64, u64),
}

impl Tuning {
    /// Whether it can be carried out.
    pub fn check(&self) -> Result<(), TuningError> {
        let Tuning { parameters, alpha, gamma, a_ratio, iterations, pairs, .. } = self;
        match parameters.len() {
            0 => return Err(TuningError::NoParameters),
            1..=MAX_PARAMETERS => {}
            count => return Err(TuningError::TooMany(count)),
        }
        let constants =
            [("alpha", *alpha, 2.0), ("gamma", *gamma, 1.0), ("a-ratio", *a_ratio, 10.0)];
        for (name, value, most) in constants {
            if !(0.0..=most).contains(&value) {
                return Err(TuningError::Constant { name, value, most });
            }
        }
        if iterations.checked_mul(*pairs).is_none_or(|all| all > MAX_PAIRS) {
            return Err(TuningError::TooLong(*iterations, *pairs));
        }
        let mut names = BTreeSet::new();
        let gains = self.gains();
        for parameter in parameters {
            parameter.check()?;
            if !names.insert(parameter.name.to_ascii_lowercase()) {
                return Err(TuningError::Twice(parameter.name.clone()));
            }
            let Parameter { name, c_end, min, max, .. } = parameter;
            let first = gains.perturbation(parameter, 1);
            if first > max - min {
                let (name, pairs) = (name.clone(), self.all_pairs());
                let (c_end, min, max) = (*c_end, *min, *max);
                return Err(TuningError::FirstPerturbation { name, first, c_end, pairs, min, max });
            }
        }
        Ok(())
    }

    /// Pairs in all.
    pub fn all_pairs(&self) -> u64 {
        self.iterations.saturating_mul(self.pairs)
    }

    /// The schedule.
    pub fn gains(&self) -> Gains {
        Gains::new(self.alpha, self.gamma, self.a_ratio, self.all_pairs())
    }

    /// The number of the first pair of an iteration (from 0) in the schedule, from 1.
    pub fn first_pair(&self, iteration: u64) -> u64 {
        1 + iteration * self.pairs
    }

    /// The values at the start.
    pub fn start(&self) -> Vec<f64> {
        self.parameters.iter().map(|parameter| parameter.start).collect()
    }

    /// The engine's settings for values.
    pub fn settings(&self, values: &[f64]) -> Vec<(String, String)> {
        self.parameters.iter().zip(values).map(|(p, value)| p.setting(*value)).collect()
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
    fn what_cannot_be_carried_out_is_refused() {
        let check = |tuning: Tuning, expect: &str| {
            let error = tuning.check().unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        };
        let sound = tuning("A,1,0,10,1,0.1");
        assert_eq!(sound.check(), Ok(()));
        check(tuning(""), "give --params FILE");
        check(tuning("A,1,0,10,1,0.1\na,1,0,10,1,0.1"), "parameter 'a' is named twice");
        // 6 at the end is 10.2 at the first of 200 pairs.
        check(tuning("A,1,0,10,6,0.1"), "A: its first perturbation 10.2");
        check(Tuning { alpha: f64::NAN, ..sound.clone() }, "alpha NaN is not between 0 and 2");
        check(Tuning { gamma: 1.5, ..sound.clone() }, "gamma 1.5 is not between 0 and 1");
        check(Tuning { a_ratio: -0.1, ..sound.clone() }, "a-ratio -0.1");
        check(Tuning { iterations: u64::MAX, ..sound }, "iterations of 2 pairs are more than");
    }
}
