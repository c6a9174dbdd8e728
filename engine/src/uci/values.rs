//! Values of options: their declarations and their text.

use std::fmt::Display;
use std::str::FromStr;

/// Returns the line that declares a number.
pub(super) fn spin_line<T: Display>(name: &str, default: T, min: T, max: T) -> String {
    format!("option name {name} type spin default {default} min {min} max {max}")
}

/// Returns the line that declares a choice of names.
pub(super) fn combo_line(name: &str, default: &str, all: &[&str]) -> String {
    format!("option name {name} type combo default {default} var {}", all.join(" var "))
}

/// Returns the number that an option is set to.
///
/// # Errors
///
/// If the text is not a number in the range.
pub(super) fn spin<T>(name: &str, text: &str, min: T, max: T) -> Result<T, String>
where
    T: FromStr + PartialOrd + Display,
{
    let number = text.parse().ok().filter(|number| (&min..=&max).contains(&number));
    number.ok_or_else(|| format!("{name} must be a number from {min} to {max}, not \"{text}\""))
}

/// Returns the switch that an option is set to.
///
/// # Errors
///
/// If the text is neither `true` nor `false`.
pub(super) fn check(name: &str, text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(format!("{name} must be true or false, not \"{text}\"")),
    }
}
