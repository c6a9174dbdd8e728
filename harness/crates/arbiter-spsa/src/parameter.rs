//! Parameter to be tuned: a numeric UCI option of the engine.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ratio of the range of a spin option to its default `c_end`; a common value (docs/tuning.md).
const SPIN_STEPS: f64 = 20.0;

/// Default `r_end` of a spin option; a common value (docs/tuning.md).
const SPIN_RATE: f64 = 0.002;

/// Minimum perturbation of an integer parameter. With a smaller perturbation, both sides would
/// often have the same value.
pub(super) const MIN_INT_PERTURBATION: f64 = 0.5;

/// Type of the values of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ParameterKind {
    /// Integers, for a spin or string option.
    #[default]
    Int,
    /// Decimal numbers, for a string option.
    Float,
}

arbiter_names::named!(ParameterKind);

/// Tuned UCI option with its range and step sizes.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Parameter {
    /// Name of the option.
    pub name: String,
    /// Type of the values.
    pub kind: ParameterKind,
    /// Value at the start of the tuning run.
    pub start: f64,
    /// Smallest allowed value.
    pub min: f64,
    /// Largest allowed value.
    pub max: f64,
    /// Perturbation in the last iteration, in units of the value.
    pub c_end: f64,
    /// Change of the value for each won game in the last iteration, as a share of the perturbation.
    pub r_end: f64,
}

impl Parameter {
    /// Creates the parameter for a spin option, with default step sizes: `c_end` is a twentieth of
    /// the range, but at least 0.5, and `r_end` is 0.002.
    pub fn from_spin(name: &str, default: i64, min: i64, max: i64) -> Parameter {
        let (start, min, max) = (default as f64, min as f64, max as f64);
        let name = name.to_owned();
        let kind = ParameterKind::Int;
        let c_end = ((max - min) / SPIN_STEPS).max(MIN_INT_PERTURBATION);
        Parameter { name, kind, start, min, max, c_end, r_end: SPIN_RATE }
    }

    /// Checks the name, the range, the start and the step sizes.
    pub fn check(&self) -> Result<(), String> {
        let Parameter { name, kind, start, min, max, c_end, r_end } = self;
        // The name becomes part of a line that is sent to the engine.
        if name.trim().is_empty() || name.chars().any(char::is_control) {
            return Err("a parameter requires the name of a UCI option".to_owned());
        }
        let numbers =
            [("start", start), ("min", min), ("max", max), ("c_end", c_end), ("r_end", r_end)];
        if let Some((field, _)) = numbers.into_iter().find(|(_, value)| !value.is_finite()) {
            return Err(format!("{name}: {field} must be a finite number"));
        }
        if min >= max {
            return Err(format!("{name}: the minimum {min} is not below the maximum {max}"));
        }
        if *kind == ParameterKind::Int && (min.fract() != 0.0 || max.fract() != 0.0) {
            return Err(format!(
                "{name}: the range of an int must be whole numbers, not {min} and {max}"
            ));
        }
        if !(min..=max).contains(&start) {
            return Err(format!("{name}: the start {start} is outside the range {min} to {max}"));
        }
        for (field, value) in [("c_end", c_end), ("r_end", r_end)] {
            if *value <= 0.0 {
                return Err(format!("{name}: {field} must be more than 0, got {value}"));
            }
        }
        if *c_end > max - min {
            Err(format!(
                "{name}: the perturbation c_end {c_end} is larger than the range {min} to {max}"
            ))
        } else {
            Ok(())
        }
    }

    /// Returns the value in the range that is nearest to `value`.
    pub fn clip(&self, value: f64) -> f64 {
        value.clamp(self.min, self.max)
    }

    /// Returns the name of the UCI option, and `value` as its text: clipped to the range and
    /// rounded to an integer or to six decimal places.
    pub fn setting(&self, value: f64) -> (String, String) {
        let text = match self.kind {
            // Adding 0 turns −0, the result of rounding small negative values, into 0.
            ParameterKind::Int => format!("{:.0}", self.clip(value.round()) + 0.0),
            ParameterKind::Float => {
                let text = format!("{:.6}", self.clip(value));
                text.trim_end_matches('0').trim_end_matches('.').to_owned()
            }
        };
        (self.name.clone(), text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(start: f64, min: f64, max: f64, c_end: f64, r_end: f64) -> Parameter {
        Parameter { name: "P".to_owned(), kind: ParameterKind::Int, start, min, max, c_end, r_end }
    }

    #[test]
    fn invalid_parameters_are_rejected_with_a_reason() {
        let check = |parameter: Parameter, expect: &str| {
            let error = parameter.check().unwrap_err();
            assert_eq!(error, expect);
        };
        assert_eq!(parameter(0.0, 0.0, 10.0, 10.0, 0.002).check(), Ok(()));
        check(parameter(5.0, 9.0, 9.0, 1.0, 0.002), "P: the minimum 9 is not below the maximum 9");
        check(
            parameter(11.0, 0.0, 10.0, 1.0, 0.002),
            "P: the start 11 is outside the range 0 to 10",
        );
        check(
            parameter(5.0, 0.0, 10.0, 10.5, 0.002),
            "P: the perturbation c_end 10.5 is larger than the range 0 to 10",
        );
        check(parameter(5.0, 0.0, 10.0, 0.0, 0.002), "P: c_end must be more than 0, got 0");
        check(parameter(5.0, 0.0, 10.0, 1.0, -1.0), "P: r_end must be more than 0, got -1");
        check(parameter(f64::NAN, 0.0, 10.0, 1.0, 1.0), "P: start must be a finite number");
        check(
            parameter(5.0, 0.5, 10.0, 1.0, 1.0),
            "P: the range of an int must be whole numbers, not 0.5 and 10",
        );
        let real = Parameter { kind: ParameterKind::Float, ..parameter(5.0, 0.5, 10.0, 1.0, 1.0) };
        assert_eq!(real.check(), Ok(()));
        let unnamed = Parameter { name: " ".to_owned(), ..real };
        check(unnamed, "a parameter requires the name of a UCI option");
    }

    #[test]
    fn values_are_sent_in_the_format_of_the_engine() {
        let integer = parameter(5.0, -10.0, 10.0, 1.0, 0.002);
        assert_eq!(integer.setting(-0.4).1, "0");
        assert_eq!(integer.setting(7.6).1, "8");
        assert_eq!(integer.setting(12.0).1, "10");
        let real = Parameter { kind: ParameterKind::Float, ..integer };
        assert_eq!(real.setting(0.125).1, "0.125");
        assert_eq!(real.setting(3.0).1, "3");
        assert_eq!(real.setting(1.0 / 3.0).1, "0.333333");
    }

    #[test]
    fn a_spin_option_has_default_step_sizes() {
        let spin = Parameter::from_spin("Razor", 350, 100, 700);
        assert_eq!((spin.c_end, spin.r_end, spin.start), (30.0, 0.002, 350.0));
        assert_eq!(Parameter::from_spin("Depth", 4, 1, 8).c_end, 0.5);
    }
}
