//! Strings and lists of limited length from other machines, for `#[serde(with)]` and
//! `#[serde(deserialize_with)]`.

use std::convert::Infallible;
use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use serde_with::serde_conv;

use arbiter_names::is_hidden;

/// Maximum length, in characters, of a shown or stored string that comes from another machine.
pub const MAX_TEXT: usize = 300;

/// Maximum length, in characters, of the description of a game's end.
const MAX_DETAIL: usize = 1_000;

/// Returns the first `length` characters of a string, with control and other hidden characters
/// replaced, so that the result is safe to print on a terminal.
pub fn printable(text: &str, length: usize) -> String {
    let shown = text.chars().take(length);
    shown.map(|c| if is_hidden(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

serde_conv!(
    /// String that is shown or stored: truncated, with control characters replaced.
    pub Text,
    String,
    String::as_str,
    |text: String| Ok::<_, Infallible>(printable(&text, MAX_TEXT))
);

serde_conv!(
    /// Description of the end of a game: truncated, with control characters replaced.
    pub(crate) Detail,
    String,
    String::as_str,
    |text: String| Ok::<_, Infallible>(printable(&text, MAX_DETAIL))
);

/// Deserializes a list of at most `MOST` items. Fails on a longer list before the list fills the
/// memory.
pub fn at_most<'de, const MOST: usize, T: Deserialize<'de>, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    deserializer.deserialize_seq(BoundedList::<MOST, T>(PhantomData))
}

struct BoundedList<const MOST: usize, T>(PhantomData<T>);

impl<'de, const MOST: usize, T: Deserialize<'de>> Visitor<'de> for BoundedList<MOST, T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of at most {MOST} items")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        // No capacity is reserved, because the announced length comes from the other machine and
        // may be wrong.
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            if items.len() == MOST {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
            items.push(item);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[test]
    fn lists_longer_than_the_limit_are_errors() {
        #[derive(Deserialize)]
        struct Short(#[serde(deserialize_with = "at_most::<2, _, _>")] Vec<u8>);
        let read = |text: &str| serde_json::from_str(text).map(|Short(list)| list);
        assert_eq!(read("[1,2]").unwrap(), [1, 2]);
        let error = read("[1,2,3,4]").unwrap_err().to_string();
        assert!(error.contains("at most 2 items"), "{error}");
    }
}
