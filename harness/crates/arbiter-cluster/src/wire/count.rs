//! A position whose leaves are to be counted. It is complete together with the description of its
//! run.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::text::printable;
use super::{WireError, invalid};
use arbiter_schema::Millis;
use arbiter_suite::Start;
use arbiter_suite::perft::{Count, NumberedCount, Patterns, PerftQuery};

/// Longest command or pattern, in bytes.
const MAX_TEXT: usize = 1_000;

/// Deepest count: nobody counts deeper.
const MAX_DEPTH: u32 = 64;

/// A count as it is sent.
#[derive(Serialize, Deserialize)]
pub(super) struct CountMessage {
    fen: String,
    chess960: bool,
    depth: u32,
    expected: u64,
    command: String,
    pattern: Option<String>,
    #[serde(rename = "limit_ms", with = "Millis")]
    limit: Duration,
}

impl CountMessage {
    pub(super) fn of(count: &Count) -> CountMessage {
        let Count { start, depth, expected, query } = count;
        CountMessage {
            fen: start.fen(),
            chess960: start.is_chess960(),
            depth: *depth,
            expected: *expected,
            command: query.command.clone(),
            pattern: query.patterns.total().map(str::to_owned),
            limit: query.limit,
        }
    }

    /// The count of this number.
    pub(super) fn into_counting(self, number: u64) -> Result<NumberedCount, WireError> {
        let pattern = self.pattern.as_deref();
        if self.command.len().max(pattern.map_or(0, str::len)) > MAX_TEXT {
            return Err(invalid("a command or pattern of more than a thousand bytes"));
        }
        if self.command.chars().any(char::is_control) {
            return Err(invalid("a command that is no line"));
        }
        if !(1..=MAX_DEPTH).contains(&self.depth) {
            return Err(invalid(format!("a count of depth {}", self.depth)));
        }
        let start = Start::read(&self.fen, self.chess960)
            .map_err(|error| invalid(format!("FEN: {error}")))?;
        let patterns = Patterns::new(pattern).map_err(|error| invalid(printable(&error)))?;
        let query = PerftQuery { command: self.command, patterns, limit: self.limit };
        let count = Count { start, depth: self.depth, expected: self.expected, query };
        Ok(NumberedCount { number, count })
    }
}
