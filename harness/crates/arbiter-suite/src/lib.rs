//! Suites of positions with known answers: [`perft`] counts for the rules of an engine, [`epd`]
//! for its search.
//!
//! Everything but [`run_suite`] computes only. Suites come from everywhere, so the readers forgive
//! what can be understood without guessing, and name every line that cannot: a line that was not
//! understood counts neither for an engine nor against it.

pub mod epd;
mod fields;
pub mod mine;
mod packed;
pub mod perft;
mod runner;
mod samples;
mod start;

use arbiter_game::outcome::printable;
use arbiter_game::text::MAX_TEXT;

pub use packed::{RECORD_BYTES, packed};
pub use runner::{Answers, SuiteEngines, SuiteError, Task, TaskError, run_suite};
pub use samples::samples;
pub use start::{Start, fen};

/// A line of a suite that says nothing that can be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct Unusable {
    /// Number of the line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// What is wrong with it.
    pub reason: String,
}

impl Unusable {
    /// A line with its number, from 1, and what is wrong with it, which may quote the line.
    pub fn new(line: usize, reason: &str) -> Unusable {
        Unusable { line, reason: printable(reason, MAX_TEXT) }
    }
}

/// The text of a suite: odd bytes become replacement characters, and a byte order mark goes.
pub fn decode(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_says_to_a_terminal_is_not_passed_on() {
        let unusable = Unusable::new(1, "got '\u{1b}[2J'");
        assert_eq!(unusable.reason, "got '\u{fffd}[2J'");
        assert_eq!(Unusable::new(1, &"x".repeat(9999)).reason.len(), MAX_TEXT);
    }
}
