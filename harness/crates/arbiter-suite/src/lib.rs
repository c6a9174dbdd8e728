//! Suites of positions with known answers. [`perft`] tests the move generator of an engine, and
//! [`epd`] tests the search. [`mine`] finds positions for a suite in games.
//!
//! Only [`run_suite`] and [`SuiteEngines`] start engines. Suites come from many sources, so the
//! parsers accept everything that is unambiguous. The parsers report every ambiguous line. An
//! ambiguous line counts neither for nor against an engine.

pub mod epd;
pub mod mine;
pub mod perft;
mod runner;
mod samples;
mod start;

use arbiter_game::text::{MAX_TEXT, printable};
use arbiter_position::Start;

pub use runner::{Answers, SuiteEngines, SuiteError, Task, TaskError, run_suite};
pub use samples::{RECORD_BYTES, packed, samples};

/// Fault of a line in a suite.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LineFault {
    /// Number of the line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// Description of the fault.
    pub reason: String,
}

impl LineFault {
    /// Returns a fault in a line. `line` is the number of the line, counted from 1; `reason` may
    /// quote the line.
    pub fn new(line: usize, reason: &str) -> LineFault {
        // The reason may quote the line, and control characters from the line must not reach the
        // user's terminal.
        LineFault { line, reason: printable(reason, MAX_TEXT) }
    }
}

/// Result of parsing a suite.
#[derive(Debug)]
pub struct Suite<T> {
    /// Usable positions, in the order of the file.
    pub cases: Vec<T>,
    /// Lines or JSON cases that could not be used, each with the reason.
    pub unusable: Vec<LineFault>,
    /// Ignored parts of usable positions.
    pub corrected: Vec<LineFault>,
}

impl<T> Suite<T> {
    /// Collects parsed cases, each with its line number. `start` returns the position of a case.
    fn collect(
        cases: impl IntoIterator<Item = (usize, Result<T, String>)>,
        start: fn(&T) -> &Start,
    ) -> Suite<T> {
        let mut suite = Suite { cases: Vec::new(), unusable: Vec::new(), corrected: Vec::new() };
        for (line, case) in cases {
            match case {
                Ok(case) => {
                    let correction = start(&case).correction.as_ref();
                    suite.corrected.extend(correction.map(|what| LineFault::new(line, what)));
                    suite.cases.push(case);
                }
                Err(reason) => suite.unusable.push(LineFault::new(line, &reason)),
            }
        }
        suite
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_codes_in_reasons_are_replaced() {
        let unusable = LineFault::new(1, "got '\u{1b}[2J'");
        assert_eq!(unusable.reason, "got '\u{fffd}[2J'");
        assert_eq!(LineFault::new(1, &"x".repeat(9999)).reason.len(), MAX_TEXT);
    }
}
