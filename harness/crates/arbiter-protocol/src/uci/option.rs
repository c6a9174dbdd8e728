//! Engine options: what an engine declares, and whether a wish fits the declaration.

use arbiter_names::did_you_mean;
use thiserror::Error;

/// One `option` line of an engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionDeclaration {
    /// The option's name; compared without regard to case, as the protocol demands.
    pub name: String,
    /// What values it takes.
    pub kind: OptionKind,
    /// The value that it has to begin with, as the engine says.
    pub default: Option<String>,
}

/// The type of an option with its constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check,
    /// A whole number in a range.
    Spin {
        /// Least value.
        min: i64,
        /// Greatest value.
        max: i64,
    },
    /// One of several words.
    Combo {
        /// The words.
        values: Vec<String>,
    },
    /// An action without a value.
    Button,
    /// Free text.
    String,
}

/// Why a wished option cannot be set; the text follows the engine's name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct OptionError {
    text: String,
    is_unlike_any: bool,
}

impl OptionError {
    fn new(text: String) -> OptionError {
        OptionError { text, is_unlike_any: false }
    }

    /// Whether the engine has no option that is called so, or nearly so.
    pub fn is_unlike_any(&self) -> bool {
        self.is_unlike_any
    }
}

/// The words that open a field of an `option` line.
const FIELDS: [&str; 6] = ["name", "type", "default", "min", "max", "var"];

impl OptionDeclaration {
    /// Reads the words after `option`. `None` if name or type is missing or unknown.
    pub fn parse(rest: &str) -> Option<OptionDeclaration> {
        let mut fields: Vec<(&str, Vec<&str>)> = Vec::new();
        for word in rest.split_ascii_whitespace() {
            // A name may contain field words ("min depth"), so `name` runs until `type`.
            let in_name = matches!(fields.last(), Some(("name", _)));
            let opens = if in_name { word == "type" } else { FIELDS.contains(&word) };
            match fields.last_mut() {
                _ if opens => fields.push((word, Vec::new())),
                Some((_, words)) => words.push(word),
                None => return None,
            }
        }
        let field =
            |key: &str| fields.iter().find(|(k, _)| *k == key).map(|(_, words)| words.join(" "));
        let name = field("name").filter(|n| !n.is_empty())?;
        let kind = match field("type")?.as_str() {
            "check" => OptionKind::Check,
            "button" => OptionKind::Button,
            "string" => OptionKind::String,
            "spin" => OptionKind::Spin {
                min: field("min").and_then(|v| v.parse().ok()).unwrap_or(i64::MIN),
                max: field("max").and_then(|v| v.parse().ok()).unwrap_or(i64::MAX),
            },
            "combo" => OptionKind::Combo {
                values: fields
                    .iter()
                    .filter(|(key, _)| *key == "var")
                    .map(|(_, words)| words.join(" "))
                    .collect(),
            },
            _ => return None,
        };
        Some(OptionDeclaration { name, kind, default: field("default") })
    }

    /// Checks a value against the declaration.
    fn admits(&self, value: &str) -> Result<(), OptionError> {
        let expected = match &self.kind {
            OptionKind::Check if value == "true" || value == "false" => return Ok(()),
            OptionKind::Check => "true or false".to_owned(),
            OptionKind::Spin { min, max } => {
                if value.parse::<i64>().is_ok_and(|v| (*min..=*max).contains(&v)) {
                    return Ok(());
                }
                format!("a whole number from {min} to {max}")
            }
            OptionKind::Combo { values } => {
                if values.iter().any(|v| v.eq_ignore_ascii_case(value)) {
                    return Ok(());
                }
                format!("one of {}", values.join(", "))
            }
            OptionKind::Button if ["", "true", "false"].contains(&value) => return Ok(()),
            OptionKind::Button => "no value, or whether to press it: it is a button".to_owned(),
            OptionKind::String => return Ok(()),
        };
        let name = &self.name;
        Err(OptionError::new(format!(
            "option '{name}' does not take '{value}': expected {expected}"
        )))
    }
}

/// Checks a wish against all declarations and returns the option's own.
pub fn check_option<'a>(
    declared: &'a [OptionDeclaration],
    name: &str,
    value: &str,
) -> Result<&'a OptionDeclaration, OptionError> {
    match declared.iter().find(|d| d.name.eq_ignore_ascii_case(name)) {
        Some(declaration) => declaration.admits(value).map(|()| declaration),
        None => {
            let hint = did_you_mean(name, declared.iter().map(|option| option.name.as_str()));
            Err(OptionError {
                text: format!("has no option '{name}'{hint}"),
                is_unlike_any: hint.is_empty(),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared() -> Vec<OptionDeclaration> {
        [
            "name Hash type spin default 16 min 1 max 1024",
            "name Ponder type check default false",
            "name Style type combo default Solid var Solid var Very Risky",
            "name Clear Hash type button",
            "name SyzygyPath type string default <empty>",
            "name Skill min type spin default 1 min 0 max 20",
        ]
        .map(|line| OptionDeclaration::parse(line).unwrap())
        .into()
    }

    #[test]
    fn declarations_are_read() {
        let declared = declared();
        assert_eq!(declared[0].kind, OptionKind::Spin { min: 1, max: 1024 });
        assert_eq!(
            declared[2].kind,
            OptionKind::Combo { values: vec!["Solid".into(), "Very Risky".into()] }
        );
        assert_eq!(declared[3].name, "Clear Hash");
        assert_eq!(declared[5].name, "Skill min");
        assert_eq!(OptionDeclaration::parse("type spin"), None);
        assert_eq!(OptionDeclaration::parse("name X type lever"), None);
    }

    #[test]
    fn wishes_are_checked() {
        let declared = declared();
        let check = |name: &str, value: &str, expect: Result<&str, &str>| {
            let got = check_option(&declared, name, value).map_err(|e| e.to_string());
            assert_eq!(got.map(|option| &*option.name), expect.map_err(str::to_owned));
        };
        check("hash", "64", Ok("Hash"));
        check("Ponder", "true", Ok("Ponder"));
        check("Style", "very risky", Ok("Style"));
        check("Clear Hash", "", Ok("Clear Hash"));
        check("SyzygyPath", "/anything at all", Ok("SyzygyPath"));
        check("Hahs", "1", Err("has no option 'Hahs' (did you mean 'Hash'?)"));
        check("Contempt", "1", Err("has no option 'Contempt'"));
        check(
            "Hash",
            "4096",
            Err("option 'Hash' does not take '4096': expected a whole number from 1 to 1024"),
        );
        check("Ponder", "yes", Err("option 'Ponder' does not take 'yes': expected true or false"));
        check(
            "Style",
            "Wild",
            Err("option 'Style' does not take 'Wild': expected one of Solid, Very Risky"),
        );
    }
}
