//! Reader for JSON in the form that the store writes (without white space).
//!
//! The moves of a run are megabytes of JSON, which this reader reads several times as fast as
//! serde. For JSON in any other form, this reader returns `None`. The functions compare bytes and
//! have the attribute `#[inline]`, because the generic functions of strings are in other codegen
//! units, from which nothing is inlined.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;

use arbiter_game::record::{MoveRecord, SearchInfo};
use arbiter_protocol::Score;

/// Reads the stored moves of a game.
pub(crate) fn read_moves(text: &str) -> Option<Vec<MoveRecord>> {
    let mut moves = Vec::new();
    Compact::read(text, |json| {
        json.list(|json| {
            let mut uci = None;
            let mut search = None;
            json.fields(|json, field| {
                match field {
                    "m" => uci = Some(json.text()?.parse().ok()?),
                    "t" => search = Some(read_search(json)?),
                    // A later version may add fields.
                    _ => drop(json.value::<IgnoredAny>()?),
                }
                Some(())
            })?;
            moves.push(MoveRecord { uci: uci?, search });
            Some(())
        })
    })?;
    Some(moves)
}

/// Reads stored search information.
fn read_search(json: &mut Compact<'_>) -> Option<SearchInfo> {
    let mut search = SearchInfo::default();
    let mut elapsed = None;
    json.fields(|json, field| {
        let SearchInfo { details, .. } = &mut search;
        match field {
            "cp" => search.score = Some(Score::Centipawns(json.integer()?)),
            "mate" => search.score = Some(Score::Mate(json.integer()?)),
            "d" => search.depth = Some(json.number()?),
            "sd" => search.seldepth = Some(json.number()?),
            "n" => search.nodes = Some(json.number()?),
            "ns" => elapsed = Some(Duration::from_nanos(json.number()?)),
            "t" => search.reported = Some(Duration::from_millis(json.number()?)),
            "l" => {
                details.get_or_insert_default().left = Some(Duration::from_nanos(json.number()?));
            }
            "nps" => details.get_or_insert_default().nps = Some(json.number()?),
            "hf" => details.get_or_insert_default().hashfull = Some(json.number()?),
            "tb" => details.get_or_insert_default().tbhits = Some(json.number()?),
            "pv" => details.get_or_insert_default().pv = json.strings()?,
            "x" => details.get_or_insert_default().lines = json.strings()?,
            _ => drop(json.value::<IgnoredAny>()?),
        }
        Some(())
    })?;
    // Search information always has a measured time, so a row without a measured time is damaged.
    search.elapsed = elapsed?;
    Some(search)
}

/// JSON that has not been read yet.
#[derive(Debug)]
pub(crate) struct Compact<'a>(&'a str);

impl<'a> Compact<'a> {
    /// Returns the value that `read` reads from `text`; `None` unless `read` reads the complete
    /// text.
    pub(crate) fn read<T>(
        text: &'a str,
        read: impl FnOnce(&mut Compact<'a>) -> Option<T>,
    ) -> Option<T> {
        let mut json = Compact(text);
        read(&mut json).filter(|_| json.0.is_empty())
    }

    /// Reads `token`. If the rest does not start with `token`, reads nothing and returns `None`.
    #[inline]
    pub(crate) fn expect(&mut self, token: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(token)?;
        Some(())
    }

    /// Returns whether the rest starts with one of the characters `first`.
    #[inline]
    pub(crate) fn starts_with(&self, first: [char; 2]) -> bool {
        self.0.starts_with(first)
    }

    /// Reads an ASCII character. If the rest starts with another character, reads nothing and
    /// returns `None`.
    #[inline]
    fn byte(&mut self, byte: u8) -> Option<()> {
        if self.0.as_bytes().first() != Some(&byte) {
            return None;
        }
        self.0 = self.0.get(1..)?;
        Some(())
    }

    /// Reads `begin`, items with commas between them, and `end`.
    #[inline]
    fn items(
        &mut self,
        [begin, end]: [u8; 2],
        mut item: impl FnMut(&mut Compact<'a>) -> Option<()>,
    ) -> Option<()> {
        self.byte(begin)?;
        if self.byte(end).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.byte(b',').is_none() {
                return self.byte(end);
            }
        }
    }

    /// Reads a list.
    #[inline]
    pub(crate) fn list(&mut self, item: impl FnMut(&mut Compact<'a>) -> Option<()>) -> Option<()> {
        self.items(*b"[]", item)
    }

    /// Reads an object. `value` gets the name of each field and reads the value of the field.
    #[inline]
    pub(crate) fn fields(
        &mut self,
        mut value: impl FnMut(&mut Compact<'a>, &'a str) -> Option<()>,
    ) -> Option<()> {
        self.items(*b"{}", |json| {
            let name = json.text()?;
            json.byte(b':')?;
            value(json, name)
        })
    }

    /// Reads a list of strings.
    fn strings(&mut self) -> Option<Vec<String>> {
        let mut strings = Vec::new();
        self.list(|json| {
            strings.push(json.string()?);
            Some(())
        })?;
        Some(strings)
    }

    /// Reads a value in any form, as serde does.
    pub(crate) fn value<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let mut values = serde_json::Deserializer::from_str(self.0).into_iter();
        let value = values.next()?.ok()?;
        self.0 = self.0.get(values.byte_offset()..)?;
        Some(value)
    }

    /// Reads a non-negative integer.
    #[inline]
    pub(crate) fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        let bytes = self.0.as_bytes();
        let end = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        // JSON has no leading zeros.
        let number: u64 =
            digits.parse().ok().filter(|_| end == 1 || bytes.first() != Some(&b'0'))?;
        number.try_into().ok()
    }

    /// Reads an integer.
    #[inline]
    pub(crate) fn integer<T: TryFrom<i64>>(&mut self) -> Option<T> {
        let number: i64 = if self.byte(b'-').is_some() {
            // For serde, -0 is a floating-point number.
            -self.number().filter(|number: &i64| *number != 0)?
        } else {
            self.number()?
        };
        number.try_into().ok()
    }

    /// Reads a string without escapes.
    #[inline]
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        let mut json = Compact(self.0);
        json.byte(b'"')?;
        let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | ..b' ');
        let end = json.0.as_bytes().iter().position(is_special)?;
        let text = json.0.get(..end)?;
        json.0 = json.0.get(end..)?;
        json.byte(b'"')?;
        *self = json;
        Some(text)
    }

    /// Reads a string.
    pub(crate) fn string(&mut self) -> Option<String> {
        if let Some(text) = self.text() {
            return Some(text.to_owned());
        }
        // The moves of a game are a string with many escaped quotation marks, which serde reads
        // three times as slowly.
        let mut bytes = self.0.strip_prefix('"')?.bytes();
        let mut text = Vec::with_capacity(bytes.len().min(1 << 14));
        loop {
            let byte = bytes.next()?;
            text.push(match byte {
                b'"' => break,
                b'\\' => match bytes.next()? {
                    escaped @ (b'"' | b'\\') => escaped,
                    _ => return self.value(),
                },
                ..b' ' => return None,
                _ => byte,
            });
        }
        self.0 = self.0.get(self.0.len() - bytes.len()..)?;
        String::from_utf8(text).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Debug;

    use serde::Deserialize;

    /// Checks that `read` either returns the same value as serde or returns `None`. Returns `true`
    /// if `read` returns a value.
    fn check<'a, T: Deserialize<'a> + PartialEq + Debug>(
        text: &'a str,
        read: impl FnOnce(&mut Compact<'a>) -> Option<T>,
    ) -> bool {
        let found = Compact::read(text, read);
        let is_read = found.is_some();
        let expected: Option<T> = serde_json::from_str(text).ok();
        assert!(!is_read || found == expected, "{text}: {found:?}");
        is_read
    }

    #[test]
    fn values_are_read_as_by_serde() {
        for text in ["0", "7", "255", "18446744073709551615"] {
            assert!(check::<u64>(text, Compact::number), "{text}");
        }
        for text in ["", "01", "00", "+1", "-1", "1.0", "1e2", "1 ", " 1", "18446744073709551616"] {
            assert!(!check::<u64>(text, Compact::number), "{text}");
        }
        assert!(check::<u8>("255", Compact::number) && !check::<u8>("256", Compact::number));
        for text in ["0", "-7", "2147483647", "-2147483647"] {
            assert!(check::<i32>(text, Compact::integer), "{text}");
        }
        for text in ["-", "-0", "-01", "--1", "2147483648", "-2147483649", "-9223372036854775809"] {
            assert!(!check::<i32>(text, Compact::integer), "{text}");
        }
        for text in [r#""""#, r#""ä e2e4""#] {
            assert!(check::<String>(text, |json| json.text().map(str::to_owned)), "{text}");
            assert!(check::<String>(text, Compact::string), "{text}");
        }
        for text in [r#""\"""#, r#""a\\\"ö\"""#, r#""\n\t\r\b\f\u0000\u001b\u007F\u00e4""#] {
            assert!(!check::<String>(text, |json| json.text().map(str::to_owned)), "{text}");
            assert!(check::<String>(text, Compact::string), "{text}");
        }
        for text in [
            "\"",
            "\"\\\"",
            "\"\\",
            "\"a\n\"",
            "\"\\ud800\"",
            "\"\\u00+a\"",
            "\"\\q\"",
            "x",
            "\"\"\"",
        ] {
            assert!(!check::<String>(text, Compact::string), "{text}");
        }
    }
}
