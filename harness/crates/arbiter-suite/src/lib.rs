//! Suites of positions with known answers: [`perft`] tests the move generator of an engine, [`epd`]
//! tests its search.
//!
//! Only [`run_suite`] and [`SuiteEngines`] start engines. Suites come from many sources, so the
//! parsers accept everything that is unambiguous, and report every line that is not: such a line
//! counts neither for nor against an engine.

pub mod epd;
pub mod mine;
mod packed;
pub mod perft;
mod runner;
mod samples;
mod start;

use arbiter_game::outcome::printable;
use arbiter_game::text::MAX_TEXT;
use arbiter_position::Start;

pub use packed::{RECORD_BYTES, packed};
pub use runner::{Answers, SuiteEngines, SuiteError, Task, TaskError, run_suite};
pub use samples::samples;

/// Fault of a line in a suite.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
pub struct LineFault {
    /// Number of the line, from 1; in a JSON file, number of the case.
    pub line: usize,
    /// Description of the fault.
    pub reason: String,
}

impl LineFault {
    /// Returns the fault of a line with its number, from 1, and a reason, which may quote the line.
    pub fn new(line: usize, reason: &str) -> LineFault {
        // A reason may quote control characters of the line, which must not reach the user's
        // terminal.
        LineFault { line, reason: printable(reason, MAX_TEXT) }
    }

    /// Returns the note on the ignored part of a position, if there is one.
    fn corrected(line: usize, start: &Start) -> Option<LineFault> {
        start.correction.as_ref().map(|what| LineFault::new(line, what))
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
