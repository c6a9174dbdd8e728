//! Engine options: declarations, and checks of requested values.

use arbiter_names::did_you_mean;
use thiserror::Error;

/// Declaration of an engine option.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OptionDeclaration {
    /// Name of the option. Comparisons of names ignore case, as UCI requires.
    pub name: String,
    /// Type of the option, with its constraints.
    pub kind: OptionKind,
    /// Default value, as declared by the engine.
    pub default: Option<String>,
}

/// Type of an option with its constraints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OptionKind {
    /// `true` or `false`.
    Check,
    /// Integer in a range.
    Spin {
        /// Minimum value.
        min: i64,
        /// Maximum value.
        max: i64,
    },
    /// One of several values.
    Combo {
        /// Allowed values.
        values: Vec<String>,
    },
    /// Action without a value.
    Button,
    /// Free text.
    String,
    /// Type that the protocol does not define; the option cannot be set.
    Unknown(String),
}

/// Reason why a requested option cannot be set; the message continues a sentence that begins with
/// the engine's name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text}")]
pub struct OptionError {
    text: String,
    /// `true` if the engine has no option with this name or a similar name.
    pub is_unlike_any: bool,
}

/// Names of the fields of an `option` line.
const FIELDS: [&str; 6] = ["name", "type", "default", "min", "max", "var"];

/// Names of option types.
const KINDS: [&str; 5] = ["check", "spin", "combo", "button", "string"];

impl OptionDeclaration {
    /// Parses the words after `option`; `None` if the name or the type is missing.
    pub fn parse(rest: &str) -> Option<OptionDeclaration> {
        let mut fields: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut words = rest.split_ascii_whitespace().peekable();
        let mut kind = String::new();
        while let Some(word) = words.next() {
            let next = words.peek().map(|next| next.to_ascii_lowercase()).unwrap_or_default();
            // A name may contain names of fields ("min depth"), so the name ends only at the type.
            // The default of a string may contain any word.
            let opens = match fields.last() {
                Some(("name", _)) if fields.len() == 1 => {
                    word == "type" && KINDS.contains(&next.as_str())
                }
                Some(("default", _)) if kind == "string" => false,
                // The first word of a value of a combo may be the name of a field. The default may
                // be empty, so `var` is a value only if it is the last word or precedes a `var`.
                Some(("default" | "var", value)) if kind == "combo" && value.is_empty() => {
                    word == "var" && !["", "var"].contains(&next.as_str())
                }
                _ => FIELDS.contains(&word),
            };
            if opens && word == "type" {
                kind.clone_from(&next);
            }
            match fields.last_mut() {
                _ if opens => fields.push((word, Vec::new())),
                Some((_, words)) => words.push(word),
                None => return None,
            }
        }
        let field =
            |key: &str| fields.iter().find(|(k, _)| *k == key).map(|(_, words)| words.join(" "));
        let name = field("name").filter(|n| !n.is_empty())?;
        let Some(kind) = field("type") else {
            // An unknown type did not end the name.
            let (name, rest) = name.split_once(" type ")?;
            let kind = OptionKind::Unknown(rest.split(' ').next()?.to_owned());
            return Some(OptionDeclaration { name: name.to_owned(), kind, default: None });
        };
        // A missing or unreadable bound counts as no restriction, so that no value is rejected
        // because of an incomplete declaration.
        let bound = |key, open: i64| field(key).and_then(|v| v.parse().ok()).unwrap_or(open);
        let kind = match kind.to_ascii_lowercase().as_str() {
            "check" => OptionKind::Check,
            "button" => OptionKind::Button,
            "string" => OptionKind::String,
            "spin" => OptionKind::Spin { min: bound("min", i64::MIN), max: bound("max", i64::MAX) },
            "combo" => {
                let values = fields.iter().filter(|(key, _)| *key == "var");
                OptionKind::Combo { values: values.map(|(_, words)| words.join(" ")).collect() }
            }
            other => OptionKind::Unknown(other.to_owned()),
        };
        Some(OptionDeclaration { name, kind, default: field("default") })
    }

    /// Returns whether the type of the option is known.
    pub fn has_known_type(&self) -> bool {
        !matches!(self.kind, OptionKind::Unknown(_))
    }
}

/// Returns the declaration of the option `name`, and the value to send, spelled as in the
/// declaration. Fails if no option has this name, or if the option does not accept the value.
/// Comparisons of names and values ignore case.
pub fn check_option<'a>(
    declared: &'a [OptionDeclaration],
    name: &str,
    value: &str,
) -> Result<(&'a OptionDeclaration, String), OptionError> {
    let Some(option) = declared.iter().find(|option| option.name.eq_ignore_ascii_case(name)) else {
        let hint = did_you_mean(name, declared.iter().map(|option| option.name.as_str()));
        let text = format!("has no option '{name}'{hint}");
        return Err(OptionError { text, is_unlike_any: hint.is_empty() });
    };
    let one_of = |words: &[&str]| {
        // Two values of an option may differ only in case, so an exact match is preferred.
        let exact = words.iter().find(|word| **word == value);
        let found = exact.or_else(|| words.iter().find(|word| word.eq_ignore_ascii_case(value)));
        found.map(|word| (*word).to_owned())
    };
    let (admitted, expected) = match &option.kind {
        OptionKind::Check => (one_of(&["true", "false"]), "true or false".to_owned()),
        OptionKind::Spin { min, max } => {
            let number = value.parse::<i64>().ok().filter(|v| (*min..=*max).contains(v));
            let is_open = *min == i64::MIN || *max == i64::MAX;
            let open = " (the 64-bit limit, where the engine declares no whole number)";
            let note = if is_open { open } else { "" };
            (number.map(|v| v.to_string()), format!("a whole number from {min} to {max}{note}"))
        }
        // Values that the engine does not declare cannot be checked.
        OptionKind::Combo { values } if values.is_empty() => return Ok((option, value.to_owned())),
        OptionKind::Combo { values } => {
            let words: Vec<&str> = values.iter().map(String::as_str).collect();
            (one_of(&words), format!("one of {}", values.join(", ")))
        }
        OptionKind::Button => {
            let expected = "no value, or true or false (a button)";
            (one_of(&["", "true", "false"]), expected.to_owned())
        }
        OptionKind::String => return Ok((option, value.to_owned())),
        OptionKind::Unknown(kind) => {
            let text = format!("declares option '{}' with the unknown type '{kind}'", option.name);
            return Err(OptionError { text, is_unlike_any: false });
        }
    };
    admitted.map(|admitted| (option, admitted)).ok_or_else(|| {
        let name = &option.name;
        let text = format!("option '{name}' does not take '{value}': expected {expected}");
        OptionError { text, is_unlike_any: false }
    })
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
            "name Aggression type spin default 0.5 min 0.0 max 1.0",
            "name Text type text default x",
            "name Book type combo default Own",
        ]
        .map(|line| OptionDeclaration::parse(line).unwrap())
        .into()
    }

    #[test]
    fn declarations_are_parsed() {
        let declared = declared();
        assert_eq!(declared[0].kind, OptionKind::Spin { min: 1, max: 1024 });
        assert_eq!(
            declared[2].kind,
            OptionKind::Combo { values: vec!["Solid".into(), "Very Risky".into()] }
        );
        assert_eq!(declared[3].name, "Clear Hash");
        assert_eq!(declared[5].name, "Skill min");
        let bare = |line: &str| {
            let OptionDeclaration { name, kind, default } = OptionDeclaration::parse(line).unwrap();
            (name, kind, default)
        };
        let path = |default: Option<&str>| {
            ("TbPath".to_owned(), OptionKind::String, default.map(str::to_owned))
        };
        assert_eq!(bare("name TbPath type string"), path(None));
        assert_eq!(bare("name TbPath\ttype\tString default"), path(Some("")));
        assert_eq!(bare("name TbPath type string default /a max b"), path(Some("/a max b")));
        assert_eq!(bare("type string name TbPath default C:\\a b"), path(Some("C:\\a b")));
        let odd = bare("name Piece type value (min) type spin default 1 min -5 max +5");
        let kind = OptionKind::Spin { min: -5, max: 5 };
        assert_eq!(odd, ("Piece type value (min)".to_owned(), kind, Some("1".to_owned())));
        let combo = |line: &str, default: &str, values: &[&str]| {
            let values = values.iter().map(|value| (*value).to_owned()).collect();
            let kind = OptionKind::Combo { values };
            let got = bare(&format!("name Style type combo {line}"));
            assert_eq!(got, ("Style".to_owned(), kind, Some(default.to_owned())));
        };
        combo("default default var default var solid", "default", &["default", "solid"]);
        combo("default max var min var max var var", "max", &["min", "max", "var"]);
        combo("default var var A var var var B", "var", &["A", "var", "B"]);
        combo("default var A var B", "", &["A", "B"]);
        assert_eq!(OptionDeclaration::parse("type spin"), None);
        let unknown = |kind: &str| OptionKind::Unknown(kind.to_owned());
        let lever = ("Big X".to_owned(), unknown("lever"), None);
        assert_eq!(bare("name Big X type lever default up"), lever);
        assert_eq!(bare("type lever name Big X"), lever);
        assert_eq!(OptionDeclaration::parse("name type lever"), None);
        assert_eq!(OptionDeclaration::parse("name Big X"), None);
    }

    #[test]
    fn requested_options_are_checked() {
        let declared = declared();
        let check = |name: &str, value: &str, expect: Result<&str, &str>| {
            let got = check_option(&declared, name, value).map_err(|e| e.to_string());
            let got = got.map(|(option, value)| format!("{}={value}", option.name));
            assert_eq!(got, expect.map(str::to_owned).map_err(str::to_owned));
        };
        check("hash", "64", Ok("Hash=64"));
        check("hash", "+064", Ok("Hash=64"));
        check("Ponder", "True", Ok("Ponder=true"));
        check("Style", "very risky", Ok("Style=Very Risky"));
        check("book", "Other", Ok("Book=Other"));
        check("Clear Hash", "", Ok("Clear Hash="));
        check("SyzygyPath", "/anything at ALL", Ok("SyzygyPath=/anything at ALL"));
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
        check(
            "Aggression",
            "0.7",
            Err("option 'Aggression' does not take '0.7': expected a whole number from \
                 -9223372036854775808 to 9223372036854775807 (the 64-bit limit, where the \
                 engine declares no whole number)"),
        );
        check("text", "y", Err("declares option 'Text' with the unknown type 'text'"));
    }
}
