//! Declaration and parsing of option values.

use std::fmt::Display;
use std::str::FromStr;

/// Returns the line that declares a number option (`spin`).
pub(super) fn spin_line<T: Display>(name: &str, default: T, min: T, max: T) -> String {
    format!("option name {name} type spin default {default} min {min} max {max}")
}

/// Returns the line that declares an option with a list of names (`combo`).
pub(super) fn combo_line(name: &str, default: &str, all: &[&str]) -> String {
    format!("option name {name} type combo default {default} var {}", all.join(" var "))
}

/// Parses the value of a number option (`spin`).
///
/// # Errors
///
/// Returns a message if the text is not a number from `min` to `max`.
pub(super) fn spin<T>(name: &str, text: &str, min: T, max: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| (&min..=&max).contains(&number));
    number.ok_or_else(|| format!("{name} must be a number from {min} to {max}, not \"{text}\""))
}

/// Parses the value of an option that is `true` or `false` (`check`).
///
/// # Errors
///
/// Returns a message if the text is neither `true` nor `false`, ignoring case.
pub(super) fn check(name: &str, text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{name} must be true or false, not \"{text}\"")),
    }
}
