//! Reader of JSON in exactly the form in which the store writes it: without white space, and with
//! the keys in a fixed order.
//!
//! The moves of a run are megabytes of JSON, which this reader reads several times as fast as
//! serde. It never reads what serde would reject or read differently. For JSON in any other form,
//! it returns `None`, and the caller uses serde. The reader is in this crate, because the crate is
//! compiled as one unit: otherwise its functions would not be inlined.

#![cfg_attr(not(test), deny(clippy::unwrap_used, clippy::expect_used, clippy::panic))]

use std::time::Duration;

use crate::record::{MoveRecord, SearchInfo};
use arbiter_protocol::Score;

/// Reads the stored moves of a game.
pub fn read_moves(text: &str) -> Option<Vec<MoveRecord>> {
    let mut moves = Vec::new();
    Compact::read(text, |json| {
        json.expect("[")?;
        json.list("]", |json| {
            json.expect("{\"m\":")?;
            let uci = json.text()?.parse().ok()?;
            let search = if json.eat(",\"t\":{") { Some(search(json)?) } else { None };
            json.expect("}")?;
            moves.push(MoveRecord { uci, search });
            Some(())
        })
    })?;
    Some(moves)
}

/// Reads stored search information after the opening brace.
fn search(json: &mut Compact<'_>) -> Option<SearchInfo> {
    let mut search = SearchInfo::default();
    let mut elapsed = None;
    json.list("}", |json| {
        let SearchInfo { details, .. } = &mut search;
        let field = json.text()?;
        json.expect(":")?;
        match field {
            "cp" => search.score = Some(Score::Centipawns(json.integer()?)),
            "mate" => search.score = Some(Score::Mate(json.integer()?)),
            "d" => search.depth = Some(json.number()?),
            "sd" => search.seldepth = Some(json.number()?),
            "n" => search.nodes = Some(json.number()?),
            "ns" => elapsed = Some(Duration::from_nanos(json.number()?)),
            "t" => search.reported = Some(Duration::from_millis(json.number()?)),
            "l" => {
                let left = Duration::from_nanos(json.number()?);
                details.get_or_insert_default().left = Some(left);
            }
            "nps" => details.get_or_insert_default().nps = Some(json.number()?),
            "hf" => details.get_or_insert_default().hashfull = Some(json.number()?),
            "tb" => details.get_or_insert_default().tbhits = Some(json.number()?),
            "pv" => details.get_or_insert_default().pv = strings(json)?,
            "x" => details.get_or_insert_default().lines = strings(json)?,
            _ => return None,
        }
        Some(())
    })?;
    search.elapsed = elapsed?;
    Some(search)
}

fn strings(json: &mut Compact<'_>) -> Option<Vec<String>> {
    let mut strings = Vec::new();
    json.expect("[")?;
    json.list("]", |json| {
        strings.push(json.string()?);
        Some(())
    })?;
    Some(strings)
}

/// JSON that has not been read yet.
#[derive(Debug)]
pub struct Compact<'a>(&'a str);

impl<'a> Compact<'a> {
    /// Returns what `read` reads from a complete text.
    pub fn read<T>(text: &'a str, read: impl FnOnce(&mut Compact<'a>) -> Option<T>) -> Option<T> {
        let mut json = Compact(text);
        read(&mut json).filter(|_| json.0.is_empty())
    }

    /// Reads `token` if the rest starts with it, and returns whether it does.
    pub fn eat(&mut self, token: &str) -> bool {
        let rest = self.0.strip_prefix(token);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    /// Reads `token`.
    pub fn expect(&mut self, token: &str) -> Option<()> {
        self.eat(token).then_some(())
    }

    /// Reads items with commas between them, at least one, and then `end`.
    pub fn list(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Compact<'a>) -> Option<()>,
    ) -> Option<()> {
        loop {
            item(self)?;
            if !self.eat(",") {
                return self.expect(end);
            }
        }
    }

    /// Reads a whole number that is not negative.
    pub fn number<T: TryFrom<u64>>(&mut self) -> Option<T> {
        let end = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.0.split_at(end);
        self.0 = rest;
        // JSON has no leading zeros.
        let number: u64 = digits.parse().ok().filter(|_| end == 1 || !digits.starts_with('0'))?;
        number.try_into().ok()
    }

    /// Reads a whole number.
    pub fn integer<T: TryFrom<i64>>(&mut self) -> Option<T> {
        let number: i64 = if self.eat("-") {
            // For serde, -0 is a floating-point number.
            -self.number().filter(|number: &i64| *number != 0)?
        } else {
            self.number()?
        };
        number.try_into().ok()
    }

    /// Reads a string without escapes.
    pub fn text(&mut self) -> Option<&'a str> {
        let rest = self.0.strip_prefix('"')?;
        let end = rest.bytes().position(|byte| matches!(byte, b'"' | b'\\' | ..b' '))?;
        let (text, rest) = rest.split_at(end);
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    /// Reads a string, in which quotation marks and backslashes may be escaped.
    pub fn string(&mut self) -> Option<String> {
        if let Some(text) = self.text() {
            return Some(text.to_owned());
        }
        let mut bytes = self.0.strip_prefix('"')?.bytes();
        let mut text = Vec::with_capacity(bytes.len().min(1 << 14));
        loop {
            let byte = bytes.next()?;
            text.push(match byte {
                b'"' => break,
                b'\\' => bytes.next().filter(|escaped| matches!(escaped, b'"' | b'\\'))?,
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

    /// Checks that a text is read as serde reads it, or not at all. Returns whether it is read.
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
        for text in [r#""\"""#, r#""a\\\"ö\"""#] {
            assert!(!check::<String>(text, |json| json.text().map(str::to_owned)), "{text}");
            assert!(check::<String>(text, Compact::string), "{text}");
        }
        for text in ["\"", "\"\\\"", "\"\\", "\"a\n\"", "\"\\n\"", "\"\\u0041\"", "x", "\"\"\""] {
            assert!(!check::<String>(text, Compact::string), "{text}");
        }
    }
}
