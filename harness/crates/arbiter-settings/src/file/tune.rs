//! The `[tune]` table: what `arbiter tune` tunes, and how.

use std::path::PathBuf;

use serde::Deserialize;

use arbiter_spsa::{Parameter, ParameterKind, TuningError};

/// The `[tune]` table; every key is optional.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TuneTable {
    /// File with a table of parameters, relative to the file.
    pub params: Option<PathBuf>,
    /// Spin options of the engine that are parameters.
    #[serde(default)]
    pub spins: Vec<String>,
    /// How often the values are moved.
    pub iterations: Option<u64>,
    /// Pairs of an iteration.
    pub pairs: Option<u64>,
    /// Exponent of the step.
    pub alpha: Option<f64>,
    /// Exponent of the perturbation.
    pub gamma: Option<f64>,
    /// Part of all pairs that holds back the first steps.
    pub a_ratio: Option<f64>,
    /// Iterations that may begin before the result of one is known.
    pub ahead: Option<u64>,
    #[serde(default)]
    parameter: Vec<ParameterTable>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ParameterTable {
    name: String,
    /// int or float.
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
    /// The parameters of `[[tune.parameter]]`. An error says which one is wrong.
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
        parameter.check().map_err(|error: TuningError| error.to_string())?;
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
        assert!(error("start = 1", "start = 11").contains("number 1: A: its start 11 is outside"));
        assert!(error("start = 1", "kind = 'bool'\nstart = 1").contains("neither int nor float"));
    }
}
