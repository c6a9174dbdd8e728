//! Suites of positions with known answers: [`perft`] counts for the rules of an engine, [`epd`]
//! for its search.
//!
//! Everything but [`drive`] computes only. Suites come from everywhere, so the readers forgive
//! what can be understood without guessing, and name every line that cannot: a line that was not
//! understood counts neither for an engine nor against it.

pub mod drive;
pub mod epd;
mod fields;
pub mod perft;
pub mod start;

/// A line of a suite that says nothing that can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unusable {
    /// Number of the line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

/// The text of a suite: odd bytes become replacement characters, and a byte order mark goes.
pub fn decode(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}
