//! JSON, as far as it is written here: no more than text, numbers, lists and objects.

use std::fmt::{Display, Write};

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            c if u32::from(c) < 0x20 => {
                let _infallible = write!(quoted, "\\u{:04x}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A list of values that are JSON already.
pub(super) fn list(values: impl IntoIterator<Item = impl Display>) -> String {
    let values: Vec<String> = values.into_iter().map(|value| value.to_string()).collect();
    format!("[{}]", values.join(","))
}

/// An object of values that are JSON already.
pub(super) fn object<'a>(entries: impl IntoIterator<Item = (&'a str, impl Display)>) -> String {
    let entries: Vec<String> =
        entries.into_iter().map(|(key, value)| format!("{}:{value}", text(key))).collect();
    format!("{{{}}}", entries.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written() {
        assert_eq!(text("a\"b\\c\n"), "\"a\\\"b\\\\c\\u000a\"");
        assert_eq!(list([1, -2]), "[1,-2]");
        assert_eq!(object([("a", list([0; 0])), ("b", text("é"))]), "{\"a\":[],\"b\":\"é\"}");
    }
}
