//! Values that are words, in flags and in `arbiter.toml`.

use std::fmt::Display;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::Failure;
use arbiter_names::is_hidden;
use arbiter_openings::Order;
use arbiter_plan::{ConfigFile, SandboxMode};
use arbiter_schedule::{Format, OpeningPolicy};
use arbiter_stats::{Correction, Model};

/// The words that a flag, or a key of `arbiter.toml`, takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words<T: 'static> {
    /// Each value with its line in the help, which may be empty.
    pub(crate) values: &'static [(T, &'static str)],
}

/// The order of openings.
pub(crate) const ORDERS: Words<Order> =
    Words { values: &[(Order::Sequential, ""), (Order::Random, "")] };

/// What holds engines.
pub(crate) const SANDBOXES: Words<SandboxMode> = Words {
    values: &[
        (SandboxMode::Require, "A complete sandbox, or nothing is started"),
        (SandboxMode::Auto, "What the system has of it"),
        (SandboxMode::Off, "Engines may do what the user may"),
    ],
};

/// The scale of the bounds of a test.
pub(crate) const MODELS: Words<Model> = Words {
    values: &[
        (Model::Normalized, "Normalized Elo"),
        (Model::Logistic, "Logistic Elo"),
        (Model::Bayesian, "BayesElo, converted to logistic Elo with the draws of the sample"),
    ],
};

/// The correction of a test's bounds.
pub(crate) const CORRECTIONS: Words<Correction> = Words {
    values: &[
        (
            Correction::Dynamic,
            "Move the bounds inwards by the mean excess measured so far, as fishtest does",
        ),
        (Correction::None, "Stop at Wald's bounds, as fastchess does"),
    ],
};

/// The formats of tournaments.
pub(crate) const FORMATS: Words<Format> = Words {
    values: &[
        (Format::RoundRobin, "Everyone meets everyone"),
        (Format::Gauntlet, "The first engine, or the first --seeds, meet all others"),
        (Format::Pyramid, "Each engine meets all that are listed before it"),
        (Format::Knockout, "Who loses an encounter is out; byes go to the best seeds"),
        (Format::Swiss, "Engines with equal points meet, and nobody the same opponent twice"),
        (
            Format::Ladder,
            "From the bottom up, the winner of each encounter meets the next one above",
        ),
    ],
};

/// When the next opening is taken.
pub(crate) const POLICIES: Words<OpeningPolicy> = Words {
    values: &[
        (
            OpeningPolicy::Shared,
            "The n-th pair of every encounter of a round gets the same opening",
        ),
        (OpeningPolicy::PerRound, "One opening for a whole round"),
        (OpeningPolicy::PerEncounter, "One opening for all pairs of an encounter"),
        (OpeningPolicy::PerPair, "Each pair gets an opening of its own"),
        (OpeningPolicy::Cycled, "Pairs take as many openings in turn as there are rounds"),
    ],
};

impl<T: Copy + Display> Words<T> {
    /// The value of a word; an error lists the words there are.
    pub(crate) fn read(&self, word: &str) -> Result<T, String> {
        let mut values = self.values.iter().map(|(value, _)| *value);
        values.find(|value| value.to_string() == word).ok_or_else(|| {
            let names: Vec<String> =
                self.values.iter().map(|(value, _)| value.to_string()).collect();
            let (last, others) = names.split_last().expect("every table has values");
            format!("expected {} or {last}", others.join(", "))
        })
    }

    /// Reads the words of a flag.
    pub(crate) fn parser(self) -> impl TypedValueParser<Value = T>
    where
        T: Send + Sync,
    {
        let possible = self.values.iter().map(|(value, help)| {
            let possible = PossibleValue::new(value.to_string());
            if help.is_empty() { possible } else { possible.help(*help) }
        });
        let accepted = "clap accepts only words of the table";
        PossibleValuesParser::new(possible).map(move |word| self.read(&word).expect(accepted))
    }
}

/// The value of a flag, or else that of the same key of the file, which `read` reads.
pub(super) fn merged<T, E: Display>(
    flag: Option<T>,
    file: &ConfigFile,
    key: &str,
    written: &Option<impl Display>,
    read: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, Failure> {
    let (None, Some(text)) = (&flag, written.as_ref().map(|value| value.to_string())) else {
        return Ok(flag);
    };
    read(&text).map(Some).map_err(|error| {
        let reason = error.to_string().replace('\n', " ");
        Failure::invalid(format!("{}: {key} = \"{text}\": {reason}", file.name()))
    })
}

/// Returns the help of a flag with its default.
pub(crate) fn usual(help: &str, default: impl Display) -> String {
    format!("{help} [default: {default}]")
}

/// A number of things of which there is one at least.
pub(crate) fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "expected a whole number, 1 or more".to_owned())
}

/// Longest text that says what a run is about, in signs.
const MAX_ABOUT: usize = 300;

/// A text for a cell of a table.
pub(crate) fn one_line(text: &str) -> Result<String, String> {
    let text = text.trim();
    match text.chars().count() {
        0 => Err("expected a text".to_owned()),
        1..=MAX_ABOUT if text.chars().any(is_hidden) => {
            Err("expected one line, without control characters".to_owned())
        }
        1..=MAX_ABOUT => Ok(text.to_owned()),
        signs => Err(format!("expected at most {MAX_ABOUT} characters, got {signs}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_formats_and_policies_can_be_had() {
        assert!(
            Format::ALL.into_iter().all(|format| FORMATS.read(&format.to_string()) == Ok(format))
        );
        for word in ["shared", "per-round", "per-encounter", "per-pair"] {
            assert_eq!(POLICIES.read(word).map(|policy| policy.to_string()), Ok(word.to_owned()));
        }
    }

    #[test]
    fn a_wrong_word_in_the_file_is_answered_with_the_right_ones() {
        let file = ConfigFile::default();
        let found = merged(None, &file, "schedule", &Some("swill"), |word| FORMATS.read(word));
        let error = found.unwrap_err().message;
        assert!(error.contains("schedule = \"swill\"") && error.contains("swiss"), "{error}");
    }
}
