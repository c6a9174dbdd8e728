//! Names of enum variants in flags, files and the store: the names that serde uses. The crate also
//! suggests corrections for mistyped names, and formats and parses numbers.

use std::fmt::Display;

use serde::de::{DeserializeOwned, Error, IntoDeserializer};

/// Error for a name that is not a variant of an enum. The error contains a message for the user,
/// and the list of valid names.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct UnknownName(String, &'static [&'static str]);

impl Error for UnknownName {
    fn custom<T: Display>(message: T) -> UnknownName {
        UnknownName(message.to_string(), &[])
    }

    fn unknown_variant(name: &str, expected: &'static [&'static str]) -> UnknownName {
        let hint = did_you_mean(name, expected.iter().copied());
        UnknownName(format!("'{name}' is not one of {}{hint}", expected.join(", ")), expected)
    }
}

/// Returns a number with a noun, such as `2 pairs`. The noun is in the plural unless the number is
/// 1.
pub fn quantity(number: impl Display, thing: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {thing}{plural}")
}

/// Returns names as a list in which `word` precedes the last name: `a, b or c`; `none` if there are
/// no names.
pub fn listed(names: impl IntoIterator<Item: Display>, word: &str) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.to_string()).collect();
    match &names[..] {
        [] => "none".to_owned(),
        [only] => only.clone(),
        [others @ .., last] => format!("{} {word} {last}", others.join(", ")),
    }
}

/// Separators between groups of three digits, including non-ASCII spaces.
const GROUPING: [char; 8] = [',', '.', '\'', '’', '_', '\u{a0}', '\u{2009}', '\u{202f}'];

/// Parses an unsigned integer in the output of a program: digits, optionally in groups of three.
/// Returns `None` for any other text, including ambiguous numbers such as `2.030`, which is a
/// decimal fraction in some locales.
pub fn whole_number(text: &str) -> Option<u64> {
    let separator = text.chars().find(|c| !c.is_ascii_digit());
    let Some(separator) = separator.filter(|separator| GROUPING.contains(separator)) else {
        return text.parse().ok().filter(|_| separator.is_none());
    };
    let mut groups = text.split(separator);
    let first = groups.next()?;
    let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let is_grouped = is_first && groups.all(|group| group.len() == 3);
    // A number with one point may be a decimal fraction; a number with several points cannot be.
    let is_decimal = separator == '.' && text.len() <= "999.999".len();
    text.replace(separator, "").parse().ok().filter(|_| is_grouped && !is_decimal)
}

/// Returns whether terminals and browsers interpret a character instead of displaying it: `true`
/// for control characters, line separators, zero-width spaces, tag characters, characters that
/// change the direction of the surrounding text, and the two noncharacters that XML forbids.
pub fn is_hidden(character: char) -> bool {
    let others = ['\u{61c}', '\u{200b}', '\u{200e}', '\u{200f}', '\u{2060}', '\u{feff}'];
    character.is_control()
        || others.contains(&character)
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(character, '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the text with escapes such as `\u{202e}` in place of characters that terminals and
/// browsers would interpret.
pub fn shown(text: String) -> String {
    // Nearly all texts contain no hidden characters, and are returned without a copy.
    if !text.contains(is_hidden) {
        return text;
    }
    let code = |c: char| if is_hidden(c) { c.escape_unicode().to_string() } else { c.to_string() };
    text.chars().map(code).collect()
}

/// Maximum length of a name, in characters.
pub const MAX_NAME: usize = 200;

/// Returns `true` if a text can be the name of an engine, a run or a gate: one line of visible
/// characters, at most [`MAX_NAME`].
pub fn is_name(text: &str) -> bool {
    !text.chars().all(is_blank) && text.chars().count() <= MAX_NAME && !text.contains(is_hidden)
}

/// Returns whether a character is displayed as a space or not at all.
fn is_blank(character: char) -> bool {
    let joiners = matches!(character, '\u{ad}' | '\u{34f}' | '\u{180e}' | '\u{200c}' | '\u{200d}');
    let fillers =
        matches!(character, '\u{115f}' | '\u{1160}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}');
    character.is_whitespace() || joiners || fillers || matches!(character, '\u{fe00}'..='\u{fe0f}')
}

/// Jaro-Winkler similarity (0 to 1) above which a known name is suggested.
const MIN_SIMILARITY: f64 = 0.8;

/// Returns the known name most similar to `name`, ignoring case; `None` if no known name is similar
/// enough.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    let all = known.into_iter();
    all.map(|known| (strsim::jaro_winkler(&name, &known.to_ascii_lowercase()), known))
        .filter(|(similarity, _)| *similarity > MIN_SIMILARITY)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, known)| known)
}

/// Returns the text ` (did you mean 'x'?)`, which follows an unknown name in an error message.
/// Returns an empty string if no known name is similar.
pub fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map_or_else(String::new, |near| format!(" (did you mean '{near}'?)"))
}

/// Returns the variant called `name` of a fieldless enum; used only by [`named!`]. The error lists
/// the valid names.
#[doc(hidden)]
pub fn from_name<T: DeserializeOwned>(name: &str) -> Result<T, String> {
    T::deserialize(name.into_deserializer()).map_err(|UnknownName(message, _)| message)
}

/// Returns the names of all variants of a fieldless enum, in the order of declaration.
pub fn names<T: DeserializeOwned>() -> &'static [&'static str] {
    // No variant has an empty name, and the error contains all names.
    T::deserialize("".into_deserializer()).map_or_else(|UnknownName(_, names)| names, |_| &[])
}

/// Returns all variants of a fieldless enum, in the order of declaration.
pub fn variants<T: DeserializeOwned>() -> impl Iterator<Item = T> {
    names::<T>().iter().filter_map(|name| from_name(name).ok())
}

/// Implements `Display` and `FromStr` for fieldless enums, with the names that serde uses.
#[macro_export]
macro_rules! named {
    ($($type:ty),+) => { $(
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                serde::Serialize::serialize(self, f)
            }
        }

        impl std::str::FromStr for $type {
            type Err = String;

            fn from_str(name: &str) -> Result<Self, String> {
                $crate::from_name(name)
            }
        }
    )+ };
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    #[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Size {
        Small,
        VeryLarge,
    }

    named!(Size);

    #[test]
    fn variants_are_in_the_order_of_declaration() {
        assert_eq!(super::names::<Size>(), ["small", "very-large"]);
        assert!(super::variants::<Size>().eq([Size::Small, Size::VeryLarge]));
    }

    #[test]
    fn lists_have_a_word_before_the_last_name() {
        assert_eq!(super::listed(["a", "b", "c"], "or"), "a, b or c");
        assert_eq!(super::listed(["a", "b"], "and"), "a and b");
        assert_eq!(super::listed(["a"], "and"), "a");
        assert_eq!(super::listed([""; 0], "or"), "none");
    }

    #[test]
    fn whole_numbers_may_be_grouped_in_threes() {
        for text in [
            "2030154",
            "2,030,154",
            "2.030.154",
            "2'030'154",
            "2’030’154",
            "2_030_154",
            "2\u{a0}030\u{a0}154",
            "2\u{202f}030\u{202f}154",
            "02030154",
        ] {
            assert_eq!(super::whole_number(text), Some(2_030_154), "{text}");
        }
        assert_eq!(super::whole_number("1,234"), Some(1234));
        for text in [
            "",
            ",",
            "2.030",
            "2,03",
            "2,0301",
            "20,30,154",
            "2,030.154",
            "0,123",
            "1234,567",
            "-5",
            "+5",
            "2 030",
            "2M",
            "1e6",
            "2,030,",
            ",030",
            "99999999999999999999",
            "2,+30,154",
        ] {
            assert_eq!(super::whole_number(text), None, "{text}");
        }
    }

    #[test]
    fn names_are_short_lines_of_visible_characters() {
        assert!(super::is_name("Stockfish 17 é") && super::is_name(&"é".repeat(200)));
        for text in [
            "",
            " ",
            "a\nb",
            "\u{1b}[1m",
            "\u{202e}",
            "a\u{fffe}",
            "\u{ffff}",
            "\u{2800}\u{3164}\u{ad}",
            "a\u{200b}",
            "a\u{2028}",
            "a\u{2060}",
            "\u{feff}a",
            "a\u{e0041}",
        ] {
            assert!(!super::is_name(text), "{text:?}");
        }
        assert!(!super::is_name(&"a".repeat(201)));
    }

    #[test]
    fn only_the_number_1_is_singular() {
        assert_eq!(
            [1, 0, 12].map(|n| super::quantity(n, "pair")),
            ["1 pair", "0 pairs", "12 pairs"]
        );
    }

    #[test]
    fn variant_names_parse_back_and_unknown_names_fail() {
        for size in [Size::Small, Size::VeryLarge] {
            assert_eq!(size.to_string().parse(), Ok(size));
        }
        assert_eq!(format!("{:>7}", Size::Small), "  small");
        let error = "medium".parse::<Size>().expect_err("no such size");
        assert_eq!(error.to_string(), "'medium' is not one of small, very-large");
    }
}
