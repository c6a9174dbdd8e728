//! Values that are words, in flags and in `arbiter.toml`.

use std::str::FromStr;

use clap::ValueEnum;

use super::ArgsError;
use arbiter_openings::Order;
use arbiter_plan::affinity::Affinity;
use arbiter_plan::file::{self, ConfigFile};
use arbiter_plan::noise::NoiseLimit;
use arbiter_stats::{Correction, Model};

/// The order of openings.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OrderArg {
    Sequential,
    Random,
}

/// The scale of test bounds.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ModelArg {
    /// Normalized Elo
    Normalized,
    /// Logistic Elo
    Logistic,
    /// BayesElo, converted to logistic Elo with the draws of the sample
    Bayesian,
}

/// The correction of a test's bounds.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum OvershootArg {
    /// Move the bounds inwards by the mean excess measured so far, as fishtest does
    Dynamic,
    /// Stop at Wald's bounds, as fastchess does
    None,
}

pub(super) fn order_word(file: &ConfigFile, word: &str) -> Result<Order, ArgsError> {
    OrderArg::from_str(word, false).map(Order::from).map_err(|_| ArgsError::Word {
        file: file.name(),
        key: "order",
        value: word.to_owned(),
        expected: "sequential or random".to_owned(),
    })
}

pub(super) fn model_word(file: &ConfigFile, word: &str) -> Result<Model, ArgsError> {
    ModelArg::from_str(word, false).map(Model::from).map_err(|_| ArgsError::Word {
        file: file.name(),
        key: "model",
        value: word.to_owned(),
        expected: "normalized, logistic or bayesian".to_owned(),
    })
}

/// The flag, or what the file says, or the default.
pub(super) fn affinity(flag: Option<Affinity>, file: &ConfigFile) -> Result<Affinity, ArgsError> {
    let expected = "auto, none or a list such as \"0-3,8\"";
    given(flag, file, "affinity", &file.affinity, expected)
}

/// The same of the limit of noise.
pub(super) fn noise_limit(
    flag: Option<NoiseLimit>,
    file: &ConfigFile,
) -> Result<NoiseLimit, ArgsError> {
    let expected = "a share between 0 and 1, or \"off\"";
    given(flag, file, "noise-limit", &file.noise_limit, expected)
}

fn given<T: Default + FromStr>(
    flag: Option<T>,
    file: &ConfigFile,
    key: &'static str,
    written: &Option<toml::Value>,
    expected: &str,
) -> Result<T, ArgsError> {
    let (None, Some(value)) = (&flag, written) else { return Ok(flag.unwrap_or_default()) };
    let value = file::plain(value);
    value.parse().map_err(|_| ArgsError::Word {
        file: file.name(),
        key,
        value: value.clone(),
        expected: expected.to_owned(),
    })
}

pub(super) fn overshoot_word(file: &ConfigFile, word: &str) -> Result<Correction, ArgsError> {
    OvershootArg::from_str(word, false).map(Correction::from).map_err(|_| ArgsError::Word {
        file: file.name(),
        key: "overshoot",
        value: word.to_owned(),
        expected: "dynamic or none".to_owned(),
    })
}

impl From<OvershootArg> for Correction {
    fn from(arg: OvershootArg) -> Correction {
        match arg {
            OvershootArg::Dynamic => Correction::Dynamic,
            OvershootArg::None => Correction::None,
        }
    }
}

impl From<OrderArg> for Order {
    fn from(arg: OrderArg) -> Order {
        match arg {
            OrderArg::Sequential => Order::Sequential,
            OrderArg::Random => Order::Random,
        }
    }
}

impl From<ModelArg> for Model {
    fn from(arg: ModelArg) -> Model {
        match arg {
            ModelArg::Normalized => Model::Normalized,
            ModelArg::Logistic => Model::Logistic,
            ModelArg::Bayesian => Model::Bayesian,
        }
    }
}

/// Longest text that says what a run is about, in signs.
const MAX_ABOUT: usize = 300;

/// A text for a cell of a table.
pub(crate) fn one_line(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err("expected a text".to_owned()),
        1..=MAX_ABOUT if text.chars().any(char::is_control) => {
            Err("expected one line, without control characters".to_owned())
        }
        1..=MAX_ABOUT => Ok(text.to_owned()),
        signs => Err(format!("expected at most {MAX_ABOUT} characters, got {signs}")),
    }
}
