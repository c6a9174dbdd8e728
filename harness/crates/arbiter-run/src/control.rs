//! User commands to a run in progress. This module does no I/O.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use arbiter_names::quantity;

/// Maximum number of concurrent games of a run.
pub const MAX_SLOTS: usize = 4096;

/// Command of a user to a run in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ControlCommand {
    /// Start no more pairs until `resume`; pairs in flight are completed.
    Pause,
    /// Resume starting new pairs after a pause.
    Resume,
    /// Complete the pairs in flight, then stop; the run can be resumed later.
    Drain,
    /// Act as on Ctrl-C: drain on the first interrupt, stop immediately on the second interrupt.
    #[serde(skip_deserializing)]
    Interrupt,
    /// Set the number of concurrent games.
    #[serde(skip)]
    Concurrency(usize),
    /// Change the number of concurrent games by this number.
    #[serde(skip)]
    MoreSlots(i32),
    /// Stop immediately and abandon the pairs in flight; a resumed run plays these pairs again.
    Stop,
    /// Report the state of the run.
    Status,
    /// Report the state of the run and the games in progress.
    Boards,
}

impl FromStr for ControlCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<ControlCommand, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let ["concurrency", number @ ..] = &words[..] {
            let slots = number.join(" ");
            let parsed = slots.parse().ok().filter(|slots| (1..=MAX_SLOTS).contains(slots));
            return parsed.map(ControlCommand::Concurrency).ok_or_else(|| {
                let slots = safe_excerpt(&slots);
                format!("concurrency needs a number from 1 to {MAX_SLOTS}, not '{slots}'")
            });
        }
        arbiter_names::from_name(text.trim()).map_err(|_| {
            format!(
                "unknown command '{}'; use pause, resume, drain, stop, concurrency N, status or boards",
                safe_excerpt(text.trim())
            )
        })
    }
}

impl fmt::Display for ControlCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlCommand::Concurrency(slots) => write!(f, "concurrency {slots}"),
            ControlCommand::MoreSlots(more) => write!(f, "concurrency {more:+}"),
            word => word.serialize(f),
        }
    }
}

/// Returns an excerpt of text from another process, escaped for a terminal.
fn safe_excerpt(text: &str) -> String {
    text.chars().take(40).flat_map(char::escape_debug).collect()
}

/// Pace at which a run starts pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Pace {
    /// A pair starts whenever a slot is free.
    Running,
    /// No pair starts until the user resumes the run.
    Paused,
    /// No further pair starts.
    Draining,
}

arbiter_names::named!(Pace);

/// Status of a run in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunStatus {
    /// Pace at which the run starts pairs.
    #[serde(rename = "state")]
    pub pace: Pace,
    /// Number of concurrent games.
    pub concurrency: usize,
    /// Number of pairs in flight.
    pub pairs_in_flight: usize,
    /// Number of counted pairs.
    pub pairs_counted: u64,
    /// Expected total number of pairs; a knockout may need more.
    pub pairs_expected: u64,
    /// Number of counted games.
    pub games: u64,
    /// Number of games that ended with an engine fault.
    pub faults: u64,
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: {} of {} pairs counted, {} in progress, {} in parallel, {}, {}",
            self.pace,
            self.pairs_counted,
            self.pairs_expected,
            self.pairs_in_flight,
            quantity(self.concurrency, "game"),
            quantity(self.games, "game"),
            quantity(self.faults, "fault")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_commands_parse_back() {
        for text in ["pause", "resume", "drain", "stop", "status", "boards", "concurrency 12"] {
            assert_eq!(text.parse::<ControlCommand>().unwrap().to_string(), text);
        }
        assert_eq!(" concurrency \t3\n".parse(), Ok(ControlCommand::Concurrency(3)));
    }

    #[test]
    fn errors_for_invalid_commands_list_valid_commands() {
        let check = |text: &str, expect: &str| {
            let error = text.parse::<ControlCommand>().unwrap_err().to_string();
            assert!(error.contains(expect) && !error.contains(char::is_control), "{error}");
        };
        check("", "unknown command ''; use pause");
        check("pause now", "unknown command 'pause now'");
        check("stop\u{7}\u{1b}[2J", "use pause");
        check("interrupt", "use pause");
        check("concurrency", "from 1 to 4096");
        check("concurrency 0", "not '0'");
        check("concurrency 4097", "not '4097'");
        check("concurrency two games", "not 'two games'");
    }
}
