//! Values of settings as text, both on the command line and in `arbiter.toml`.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::Keys;
use arbiter_game::annotation::{Field, parse_fields};
use arbiter_names::UnknownName;
use arbiter_plan::SandboxMode;
use arbiter_protocol::{TimeError, parse_seconds};
use arbiter_stats::{Correction, Model};

/// Values of a setting, each with its help, which may be empty.
pub type Words<T> = [(T, &'static str)];

/// Sandbox modes of engines.
pub const SANDBOXES: &Words<SandboxMode> = &[
    (SandboxMode::Require, "Start engines only in a complete sandbox"),
    (SandboxMode::Auto, "A sandbox as complete as the system supports"),
    (SandboxMode::Off, "Engines have the permissions of the user"),
];

/// Elo scales of the bounds of a test.
pub const MODELS: &Words<Model> = &[
    (Model::Normalized, "Normalized Elo"),
    (Model::Logistic, "Logistic Elo"),
    (Model::Bayesian, "BayesElo, converted to logistic Elo with the observed draw ratio"),
];

/// Corrections of the bounds of a test.
pub const CORRECTIONS: &Words<Correction> = &[
    (
        Correction::Dynamic,
        "Move the bounds inwards by the measured mean overshoot, as fishtest does",
    ),
    (Correction::None, "Stop at Wald's bounds, as fastchess does"),
];

/// Returns the parser of a flag that accepts one of these values.
pub fn one_of<T>(words: &'static Words<T>) -> impl TypedValueParser<Value = T>
where
    T: Clone + Display + Send + Sync + FromStr<Err = UnknownName>,
{
    let possible = words.iter().map(|(value, help)| {
        let possible = PossibleValue::new(value.to_string());
        if help.is_empty() { possible } else { possible.help(*help) }
    });
    PossibleValuesParser::new(possible).try_map(|word| word.parse())
}

/// Timeout, in seconds as text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Seconds(pub Duration);

impl FromStr for Seconds {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Seconds, TimeError> {
        parse_seconds(text).map(Seconds)
    }
}

/// Factor by which timeouts are multiplied, 0.01 to 1000.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Factor(pub f64);

impl FromStr for Factor {
    type Err = String;

    fn from_str(text: &str) -> Result<Factor, String> {
        let factor = text.parse().ok().filter(|factor| (0.01..=1_000.0).contains(factor));
        let wrong = || format!("{text} is not a factor between 0.01 and 1000");
        factor.map(Factor).ok_or_else(wrong)
    }
}

/// Speed in nodes per second, 1 to 10^12.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nps(pub f64);

impl FromStr for Nps {
    type Err = String;

    fn from_str(text: &str) -> Result<Nps, String> {
        let nps = text.parse().ok().filter(|nps| (1.0..=1e12).contains(nps));
        nps.map(Nps).ok_or_else(|| format!("expected 1 to 10^12 nodes per second, got {text}"))
    }
}

/// Maximum number of pieces in positions that are looked up in tablebases, 3 to 7.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pieces(pub u32);

impl FromStr for Pieces {
    type Err = String;

    fn from_str(text: &str) -> Result<Pieces, String> {
        // Syzygy tables exist for three to seven pieces.
        let pieces = text.parse().ok().filter(|pieces| (3..=7).contains(pieces));
        pieces.map(Pieces).ok_or_else(|| format!("{text} is not a number of pieces from 3 to 7"))
    }
}

/// Fields in the comments of moves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fields(pub Vec<Field>);

impl FromStr for Fields {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Fields, UnknownName> {
        // Commas already separate keys on the command line.
        parse_fields(&text.replace('+', ",")).map(Fields)
    }
}

/// Folders, separated by `:` in text.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Folders(pub Vec<PathBuf>);

impl fmt::Display for Folders {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let folders = self.0.iter().map(|folder| folder.display().to_string());
        f.write_str(&folders.collect::<Vec<_>>().join(":"))
    }
}

/// A list, or a text in the form of the flag.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum Written {
    Text(String),
    List(Vec<String>),
}

impl<'de> Deserialize<'de> for Folders {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Folders, D::Error> {
        Ok(match Written::deserialize(source)? {
            Written::Text(text) => {
                // An empty part, for example between two colons, would mean the current folder.
                let folders = std::env::split_paths(&text);
                Folders(folders.filter(|folder| !folder.as_os_str().is_empty()).collect())
            }
            Written::List(folders) => Folders(folders.into_iter().map(PathBuf::from).collect()),
        })
    }
}

/// Deserializes a setting with several keys: a table, or the text of the flag.
pub(crate) fn keys<'de, D: Deserializer<'de>, T: Keys>(source: D) -> Result<Vec<T>, D::Error> {
    source.deserialize_any(TableOrText(PhantomData)).map(|setting| vec![setting])
}

struct TableOrText<T>(PhantomData<T>);

impl<'de, T: Keys> Visitor<'de> for TableOrText<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a table or a text")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        T::parse(text).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(table))
    }
}

/// Parses a value of `arbiter.toml` like the argument of the flag; a list is joined with commas
/// first.
pub fn text<'de, D, T>(source: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    as_typed(source)?.parse().map(Some).map_err(|error: T::Err| Error::custom(error))
}

/// Parses an unsigned whole number as [`text`] does; the error names the allowed numbers.
pub fn number<'de, D: Deserializer<'de>, T: FromStr>(source: D) -> Result<Option<T>, D::Error> {
    let text = as_typed(source)?;
    let largest = u64::MAX >> (64 - 8 * size_of::<T>());
    let expected = || format!("'{text}' is not a whole number from 0 to {largest}");
    text.parse().map(Some).map_err(|_| Error::custom(expected()))
}

/// Parses `true` or `false` as [`text`] does; the error names both.
pub fn truth<'de, D: Deserializer<'de>>(source: D) -> Result<Option<bool>, D::Error> {
    let text = as_typed(source)?;
    let expected = || format!("'{text}' is neither true nor false");
    text.parse().map(Some).map_err(|_| Error::custom(expected()))
}

/// Returns a value of `arbiter.toml` as the argument of the flag.
fn as_typed<'de, D: Deserializer<'de>>(source: D) -> Result<String, D::Error> {
    Ok(match toml::Value::deserialize(source)? {
        // A list is joined with commas, so that one parser reads both the file and the flag.
        toml::Value::Array(words) => words.iter().map(plain).collect::<Vec<_>>().join(","),
        toml::Value::Table(keys) => {
            let keys = keys.iter().map(|(key, value)| format!("{key}={}", plain(value)));
            keys.collect::<Vec<_>>().join(",")
        }
        value => plain(&value),
    })
}

/// Returns a value as the text of the flag.
pub(crate) fn plain(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
