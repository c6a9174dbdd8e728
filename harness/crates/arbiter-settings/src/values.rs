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
use arbiter_plan::{SandboxMode, unexpanded_home};
use arbiter_protocol::parse_seconds;
use arbiter_stats::{Correction, Model};

/// Values of a setting, each with its help text, which may be empty.
pub type Choices<T> = [(T, &'static str)];

/// Sandbox modes of engines.
pub const SANDBOXES: &Choices<SandboxMode> = &[
    (SandboxMode::Require, "Start engines only in a complete sandbox"),
    (SandboxMode::Auto, "Start engines in the most complete sandbox that the system supports"),
    (SandboxMode::Off, "Start engines with the permissions of the user"),
];

/// Elo scales of the bounds of a test.
pub const MODELS: &Choices<Model> = &[
    (Model::Normalized, "Normalized Elo"),
    (Model::Logistic, "Logistic Elo"),
    (Model::Bayesian, "BayesElo, converted to logistic Elo with the observed draw ratio"),
];

/// Corrections of the bounds of a test.
pub const CORRECTIONS: &Choices<Correction> = &[
    (
        Correction::Dynamic,
        "Move the LLR bounds inwards by the measured mean overshoot, as fishtest does",
    ),
    (Correction::None, "Stop at Wald's bounds, as fastchess does"),
];

/// Returns the parser of a flag that accepts the values in `words`.
pub fn one_of<T>(words: &'static Choices<T>) -> impl TypedValueParser<Value = T>
where
    T: Clone + Display + Send + Sync + FromStr<Err = String>,
{
    let possible =
        words.iter().map(|(value, help)| PossibleValue::new(value.to_string()).help(*help));
    PossibleValuesParser::new(possible).try_map(|word| word.parse())
}

/// Parses a speed in nodes per second, 1 to 10^12.
pub(crate) fn parse_nps(text: &str) -> Result<f64, String> {
    let nps = text.parse().ok().filter(|nps| (1.0..=1e12).contains(nps));
    nps.ok_or_else(|| format!("expected 1 to 10^12 nodes per second, got {text}"))
}

/// A list, or a string in the form of the flag's argument.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text or a list of texts")]
enum Written {
    Text(String),
    List(Vec<String>),
}

/// Returns folders as text, separated by `:`.
pub(crate) fn folders_text(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(":")
}

/// Deserializes a path. Fails if the path begins with `~/`.
pub(crate) fn path<'de, D: Deserializer<'de>>(source: D) -> Result<Option<PathBuf>, D::Error> {
    let path = String::deserialize(source)?;
    unexpanded_home(&path).map_or(Ok(Some(path.into())), |reason| Err(Error::custom(reason)))
}

/// Parses a list of folders, or a string of folders separated by `:`. Fails if a folder begins with
/// `~/`.
pub(crate) fn folders<'de, D>(source: D) -> Result<Option<Vec<PathBuf>>, D::Error>
where
    D: Deserializer<'de>,
{
    let folders: Vec<PathBuf> = match Written::deserialize(source)? {
        Written::Text(text) => {
            // An empty part, for example between two colons, would mean the current folder.
            let folders = std::env::split_paths(&text);
            folders.filter(|folder| !folder.as_os_str().is_empty()).collect()
        }
        Written::List(folders) => folders.into_iter().map(PathBuf::from).collect(),
    };
    let mut texts = folders.iter().filter_map(|folder| folder.to_str());
    texts.find_map(unexpanded_home).map_or(Ok(Some(folders)), |reason| Err(Error::custom(reason)))
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

/// Parses a value of `arbiter.toml` like the argument of the flag; the items of a list are joined
/// with commas before parsing.
pub fn text<'de, D, T>(source: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr<Err: Display>,
{
    parsed(source, str::parse)
}

fn parsed<'de, D: Deserializer<'de>, T, E: Display>(
    source: D,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Result<Option<T>, D::Error> {
    parse(&as_typed(source)?).map(Some).map_err(Error::custom)
}

/// Parses a number of seconds as [`text`] does.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Duration>, D::Error> {
    parsed(source, parse_seconds)
}

/// Parses a speed in nodes per second as [`text`] does.
pub(crate) fn nps<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    parsed(source, parse_nps)
}

/// Parses a factor for timeouts, 0.01 to 1000, as [`text`] does.
pub(crate) fn factor<'de, D: Deserializer<'de>>(source: D) -> Result<Option<f64>, D::Error> {
    parsed(source, |text| {
        let factor = text.parse().ok().filter(|factor| (0.01..=1_000.0).contains(factor));
        factor.ok_or_else(|| format!("{text} is not a factor between 0.01 and 1000"))
    })
}

/// Parses a number of pieces as [`text`] does. Syzygy tablebases exist for three to seven pieces.
pub(crate) fn pieces<'de, D: Deserializer<'de>>(source: D) -> Result<Option<u32>, D::Error> {
    parsed(source, |text| {
        let pieces = text.parse().ok().filter(|pieces| (3..=7).contains(pieces));
        pieces.ok_or_else(|| format!("{text} is not a number of pieces from 3 to 7"))
    })
}

/// Parses names of fields in move comments as [`text`] does. The names may be separated by `+`,
/// because commas already separate keys on the command line.
pub(crate) fn fields<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Vec<Field>>, D::Error> {
    parsed(source, |text| parse_fields(&text.replace('+', ",")))
}

/// Parses an unsigned integer as [`text`] does; the error contains the allowed range.
pub fn number<'de, D: Deserializer<'de>, T: FromStr>(source: D) -> Result<Option<T>, D::Error> {
    let largest = u64::MAX >> (64 - 8 * size_of::<T>());
    parsed(source, |text| {
        text.parse().map_err(|_| format!("'{text}' is not a whole number from 0 to {largest}"))
    })
}

/// Parses `true` or `false` as [`text`] does; the error names both values.
pub fn truth<'de, D: Deserializer<'de>>(source: D) -> Result<Option<bool>, D::Error> {
    parsed(source, |text| text.parse().map_err(|_| format!("'{text}' is neither true nor false")))
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
