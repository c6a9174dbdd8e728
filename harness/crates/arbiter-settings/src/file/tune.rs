//! The `[tune]` table: parameters and iterations of `arbiter tune`.

use std::path::PathBuf;

use serde::Deserialize;

use crate::values::path;
use arbiter_plan::{DEFAULT_AHEAD, DEFAULT_ITERATIONS};
use arbiter_spsa::{A_RATIO, ALPHA, GAMMA, Parameter, ParameterKind, Tuning};

settings! {
    /// Settings of a tuning run: flags of `arbiter tune` and the `[tune]` table.
    TuneTable, plan;
    None::<&str> => {
        /// Number of iterations of SPSA
        #[arg(conflicts_with = "rounds")]
        #[resume(Length)]
        iterations["N"]: Option<u64> = DEFAULT_ITERATIONS => plan.tuning.as_ref().map(|tuning| tuning.iterations),
        /// Step size exponent
        alpha["X"]: Option<f64> = ALPHA => plan.tuning.as_ref().map(|tuning| tuning.alpha),
        /// Perturbation exponent
        gamma["X"]: Option<f64> = GAMMA => plan.tuning.as_ref().map(|tuning| tuning.gamma),
        /// Stability constant A as a share of all pairs; damps the first steps
        a_ratio["SHARE"]: Option<f64> = A_RATIO => plan.tuning.as_ref().map(|tuning| tuning.a_ratio),
        /// Number of iterations that may start before the result of an earlier one is known, so
        /// that no slot is idle; values lag by as many iterations
        ahead["N"]: Option<u64> = DEFAULT_AHEAD => plan.tuning.as_ref().map(|tuning| tuning.ahead),
    }
    @of_file => {
        /// File with a table of parameters, relative to the settings file.
        #[serde(deserialize_with = "path")]
        params: Option<PathBuf>,
        /// Names of the engine's spin options that are parameters of the tuning run.
        spins: Vec<String>,
        /// Number of pairs per iteration.
        pairs: Option<u64>,
        /// The `[[tune.parameter]]` tables, before their values are checked.
        parameter: Vec<ParameterTable>,
    }
}

/// A table of `[[tune.parameter]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ParameterTable {
    name: String,
    /// Kind of the parameter: int or float.
    #[serde(default = "whole")]
    kind: String,
    start: f64,
    min: f64,
    max: f64,
    #[serde(alias = "c_end")]
    c_end: f64,
    #[serde(alias = "r_end")]
    r_end: f64,
}

fn whole() -> String {
    ParameterKind::Int.to_string()
}

impl TuneTable {
    /// Returns the tuning settings for `parameters`. The numbers of iterations and pairs are 0; the
    /// caller sets these numbers.
    pub fn tuning(&self, parameters: Vec<Parameter>) -> Tuning {
        Tuning {
            parameters,
            alpha: self.alpha.unwrap_or(ALPHA),
            gamma: self.gamma.unwrap_or(GAMMA),
            a_ratio: self.a_ratio.unwrap_or(A_RATIO),
            iterations: 0,
            pairs: 0,
            ahead: self.ahead.unwrap_or(DEFAULT_AHEAD),
        }
    }

    /// Returns the parameters of `[[tune.parameter]]`. An error names the invalid parameter.
    pub fn parameters(&self) -> Result<Vec<Parameter>, String> {
        let all = (1..).zip(&self.parameter);
        all.map(|(number, table)| {
            table.parameter().map_err(|why| format!("[[tune.parameter]] number {number}: {why}"))
        })
        .collect()
    }
}

impl ParameterTable {
    fn parameter(&self) -> Result<Parameter, String> {
        let neither = |_| format!("kind '{}' is neither int nor float", self.kind);
        let kind = self.kind.parse().map_err(neither)?;
        let ParameterTable { start, min, max, c_end, r_end, .. } = *self;
        let parameter = Parameter { name: self.name.clone(), kind, start, min, max, c_end, r_end };
        parameter.check()?;
        Ok(parameter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> TuneTable {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn parameters_are_tables() {
        let text = "iterations = 9\na-ratio = 0.2\n[[parameter]]\nname = 'A'\nstart = 1\nmin = 0\n\
                    max = 10\nc-end = 0.5\nr_end = 0.002\n";
        let table = read(text);
        assert_eq!((table.iterations, table.a_ratio), (Some(9), Some(0.2)));
        let parameters = table.parameters().unwrap();
        assert_eq!((parameters[0].kind, parameters[0].max), (ParameterKind::Int, 10.0));
        let error = |old: &str, new: &str| read(&text.replace(old, new)).parameters().unwrap_err();
        assert!(error("start = 1", "start = 11").contains("number 1: A: the start 11 is outside"));
        assert!(error("start = 1", "kind = 'bool'\nstart = 1").contains("neither int nor float"));
    }
}
