//! Options in a command line of fastchess or cutechess-cli, with their values.

use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

/// Option of a command line, with its values.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    /// Name without the dashes.
    pub name: String,
    /// Arguments up to the next option.
    pub values: Vec<String>,
}

/// Splits a command line into options. Fails if the first argument is not an option.
pub(super) fn split(args: &[String]) -> Result<Vec<Word>, String> {
    let mut words: Vec<Word> = Vec::new();
    for arg in args {
        if let Some(name) = option_name(arg) {
            words.push(Word { name: name.to_owned(), values: Vec::new() });
        } else if let Some(last) = words.last_mut() {
            last.values.push(arg.clone());
        } else {
            return Err(format!("'{arg}' does not belong to an option; options start with a dash"));
        }
    }
    Ok(words)
}

/// Returns the name of an option; `None` if `arg` is a value. An option starts with one or two
/// dashes and a letter, so negative numbers are values.
fn option_name(arg: &str) -> Option<&str> {
    let name = arg.strip_prefix('-')?;
    let name = name.strip_prefix('-').unwrap_or(name);
    name.starts_with(|c: char| c.is_ascii_alphabetic()).then_some(name)
}

impl Word {
    /// Returns the value; fails unless there is exactly one value.
    pub(super) fn single(&self) -> Result<&str, String> {
        match &self.values[..] {
            [value] => Ok(value),
            [] => Err(format!("-{} needs a value", self.name)),
            [_, extra, ..] => Err(format!("-{} takes one value; unexpected '{extra}'", self.name)),
        }
    }

    /// Parses the only value as an integer.
    pub(super) fn number<T: FromStr>(&self) -> Result<T, String> {
        let value = self.single()?;
        value.parse().map_err(|_| format!("-{} {value}: not a whole number", self.name))
    }

    /// Parses the only value as a number of milliseconds.
    pub(super) fn millis(&self) -> Result<Duration, String> {
        self.number().map(Duration::from_millis)
    }

    /// Parses the values as an adjudication rule; `defaults` contains the values of fastchess and
    /// cutechess-cli for missing keys. Both programs treat `movecount=0` as the default, 1, so this
    /// field is skipped.
    pub(super) fn rule<T: FromStr<Err: Display>>(&self, defaults: &str) -> Result<T, String> {
        let fields = self.key_values()?.into_iter().filter(|field| *field != ("movecount", "0"));
        let rule =
            fields.fold(defaults.to_owned(), |rule, (key, value)| format!("{rule},{key}={value}"));
        rule.parse().map_err(|error| format!("-{}: {error}", self.name))
    }

    /// Returns `true` for an option without a value, otherwise an error.
    pub(super) fn switch(&self) -> Result<bool, String> {
        match self.values.first() {
            None => Ok(true),
            Some(value) => Err(format!("-{} takes no value; unexpected '{value}'", self.name)),
        }
    }

    /// Splits each value into a key and its value; a key without `=` has no value.
    pub(super) fn fields(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.values.iter().map(|value| match value.split_once('=') {
            Some((key, value)) => (key, Some(value)),
            None => (value.as_str(), None),
        })
    }

    /// Splits each value into a key and its value; fails if a value has no `=`, or if there is no
    /// value.
    pub(super) fn key_values<'a>(&'a self) -> Result<Vec<(&'a str, &'a str)>, String> {
        if self.values.is_empty() {
            return Err(format!("-{} needs KEY=VALUE", self.name));
        }
        let pair = |(key, value): (&'a str, Option<&'a str>)| {
            Ok((key, value.ok_or_else(|| self.no_value(key))?))
        };
        self.fields().map(pair).collect()
    }

    /// Sets a boolean from the value of the key `only`; fails if there are other keys.
    pub(super) fn set_truth(&self, only: &str, set: &mut bool) -> Result<(), String> {
        for (key, value) in self.key_values()? {
            if key != only {
                return Err(self.unknown_key(key, only));
            }
            *set = self.truth(key, value)?;
        }
        Ok(())
    }

    /// Parses the value of a key as a number.
    pub(super) fn figure<T: FromStr>(&self, key: &str, value: &str) -> Result<T, String> {
        value.parse().map_err(|_| self.wrong(key, value, format!("'{value}' is not a number")))
    }

    /// Parses the value of a key as `true` or `false`.
    pub(super) fn truth(&self, key: &str, value: &str) -> Result<bool, String> {
        value.parse().map_err(|_| self.wrong(key, value, "expected true or false"))
    }

    /// Returns the error for an invalid value of a key.
    pub(super) fn wrong(&self, key: &str, value: &str, error: impl Display) -> String {
        format!("-{} {key}={value}: {error}", self.name)
    }

    /// Returns the error for a key without a value.
    pub(super) fn no_value(&self, key: &str) -> String {
        format!("-{}: '{key}' is not KEY=VALUE", self.name)
    }

    /// Returns the error for an unknown key.
    pub(super) fn unknown_key(&self, key: &str, known: &str) -> String {
        format!("-{}: unknown key '{key}'; the keys are {known}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Vec<Word>, String> {
        split(&shell_words::split(line).unwrap())
    }

    #[test]
    fn options_keep_their_values() {
        let found = words("-engine cmd=a 'args=-x --y' -sprt elo0=-3 -repeat -wait -5 --version");
        let found = found.unwrap();
        let names: Vec<&str> = found.iter().map(|word| word.name.as_str()).collect();
        assert_eq!(names, ["engine", "sprt", "repeat", "wait", "version"]);
        assert_eq!(found[0].key_values(), Ok(vec![("cmd", "a"), ("args", "-x --y")]));
        assert_eq!(found[3].single(), Ok("-5"));
        assert_eq!(found[2].switch(), Ok(true));
    }

    #[test]
    fn errors_name_the_wrong_option() {
        let check = |line: &str, read: fn(&Word) -> Option<String>, part: &str| {
            let error = read(&words(line).unwrap()[0]).unwrap();
            assert!(error.contains(part), "{error}");
        };
        check("-rounds", |word| word.number::<u64>().err(), "-rounds needs a value");
        check("-rounds ten", |word| word.number::<u64>().err(), "ten: not a whole number");
        check("-rounds 1 2", |word| word.number::<u64>().err(), "unexpected '2'");
        check("-recover yes", |word| word.switch().err(), "-recover takes no value");
        check("-draw 3", |word| word.key_values().err(), "-draw: '3' is not KEY=VALUE");
        check("-resign", |word| word.key_values().err(), "-resign needs KEY=VALUE");
        assert!(words("rounds -x").unwrap_err().contains("'rounds' does not belong"));
    }
}
