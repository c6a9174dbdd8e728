//! Chess clock: time controls, search limits and running clocks.
//!
//! The time of a move is an argument; this module never reads a clock. Times are exact to the
//! nanosecond; only times *sent* to an engine are truncated to milliseconds, the unit of UCI.

mod control;
mod running;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_with::{As, DisplayFromStr};

use crate::times::Nanos;

pub use control::{MAX_PERIODS, Period, TimeControl, parse_seconds};
pub use running::Clock;

/// Limits of one side's searches. Several limits may apply together; all limits are sent to the
/// engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Limits {
    /// Time control of the game.
    #[serde(rename = "tc", with = "As::<Option<DisplayFromStr>>")]
    pub clock: Option<TimeControl>,
    /// Fixed time for each move.
    #[serde(rename = "movetime_ns", with = "As::<Option<Nanos>>")]
    pub movetime: Option<Duration>,
    /// Maximum number of nodes for each move.
    pub nodes: Option<u64>,
    /// Maximum search depth for each move, in plies.
    pub depth: Option<u32>,
    /// Number of nodes that count as one millisecond. The clock then counts the nodes that the
    /// engine reports, and real time does not matter.
    pub nodestime: Option<u64>,
    /// `true` if an increment is also added before the first move.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub increment_first: bool,
}

impl Limits {
    /// Returns the clock at the start of a game; `None` without a time control.
    pub fn new_clock(&self) -> Option<Clock> {
        self.clock.map(|control| Clock::new(control, self.increment_first))
    }

    /// Returns whether real time affects the game. If `false`, games of deterministic engines are
    /// reproducible.
    pub fn is_timed(&self) -> bool {
        self.nodestime.is_none() && (self.clock.is_some() || self.movetime.is_some())
    }

    /// Returns the maximum time that a side may use for its first `moves` moves; `None` if real
    /// time does not matter. For an hourglass, returns the initial time.
    pub fn granted(&self, moves: u32) -> Option<Duration> {
        if !self.is_timed() {
            return None;
        }
        let by_move = self.movetime.map(|time| time.saturating_mul(moves));
        let by_clock = self.clock.map(|clock| clock.granted(moves));
        by_move.into_iter().chain(by_clock).min()
    }

    /// Returns whether there are no limits.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }

    /// Returns the limits with all times multiplied by a positive factor and rounded to 0.1 ms.
    pub fn scaled(&self, factor: f64) -> Limits {
        let clock = self.clock.map(|clock| clock.scaled(factor));
        let movetime = self.movetime.map(|time| control::scaled(time, factor));
        Limits { clock, movetime, ..*self }
    }

    /// Returns the clock time of a search: its real time or, with [`Limits::nodestime`], the time
    /// equivalent of the reported nodes (zero if the engine reports no node count).
    pub fn cost(&self, elapsed: Duration, nodes: Option<u64>) -> Duration {
        let Some(per_ms) = self.nodestime else { return elapsed };
        let nanos = u128::from(nodes.unwrap_or(0)) * 1_000_000 / u128::from(per_ms.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.clock.map(|tc| tc.to_string()));
        parts.extend(self.movetime.map(|t| format!("{} s/move", control::Seconds(t))));
        parts.extend(self.nodes.map(|n| format!("{n} nodes")));
        parts.extend(self.depth.map(|d| format!("depth {d}")));
        parts.extend(self.nodestime.map(|n| format!("{n} nodes a ms")));
        f.write_str(&parts.join(", "))
    }
}

/// Search limits, time margin and score convention of one side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// Limits of the side's searches.
    #[serde(flatten)]
    pub limits: Limits,
    /// Time by which a move may exceed the available time without a loss on time.
    #[serde(rename = "margin_ns", with = "Nanos")]
    pub margin: Duration,
    /// `true` if the engine reports scores from White's point of view, contrary to the protocol.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub white_pov: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodestime_converts_nodes_to_time() {
        let limits = Limits { nodestime: Some(600), ..Limits::default() };
        let real = Duration::from_secs(7);
        assert_eq!(limits.cost(real, Some(900)), Duration::from_micros(1_500));
        assert_eq!(limits.cost(real, None), Duration::ZERO);
        assert_eq!(limits.cost(real, Some(u64::MAX)).as_nanos(), u128::from(u64::MAX));
        assert_eq!(Limits::default().cost(real, Some(900)), real);
    }

    #[test]
    fn granted_time_includes_periods_and_increments() {
        let granted = |tc: &str, moves| {
            let clock = Some(tc.parse().unwrap());
            Limits { clock, ..Limits::default() }.granted(moves).unwrap().as_secs_f64()
        };
        assert_eq!(granted("8+0.5", 4), 10.0);
        assert_eq!(granted("40/60", 39), 60.0);
        assert_eq!(granted("40/60", 81), 180.0);
        assert_eq!(granted("40/60+0:20/30+0:5+1", 70), 95.0 + 10.0);
        assert_eq!(granted("hg/7", 30), 7.0);
        let second = Some(Duration::from_secs(1));
        let limits = Limits { movetime: second, nodes: Some(9), ..Limits::default() };
        assert_eq!(limits.granted(3), Some(Duration::from_secs(3)));
        assert_eq!(Limits { nodestime: Some(600), ..limits }.granted(3), None);
        assert_eq!(Limits { movetime: None, ..limits }.granted(3), None);
    }

    #[test]
    fn only_times_are_scaled() {
        let clock = Some("40/60+0.6:8+0.08".parse().unwrap());
        let limits = Limits { clock, nodes: Some(7), ..Limits::default() };
        assert_eq!(limits.scaled(1.5).to_string(), "40/90+0.9:12+0.12, 7 nodes");
        let limits = Limits { clock: Some("hg/60".parse().unwrap()), ..Limits::default() };
        assert_eq!(limits.scaled(0.33333).to_string(), "hg/19.9998");
        let movetime = Some(Duration::from_millis(1));
        let limits = Limits { movetime, ..Limits::default() };
        assert_eq!(limits.scaled(1e-9).to_string(), "0.001 s/move");
    }

    #[test]
    fn limits_are_shown_together() {
        let limits = Limits {
            clock: Some("8+0.08".parse().unwrap()),
            movetime: Some(Duration::from_millis(250)),
            nodes: Some(7),
            depth: Some(3),
            nodestime: Some(600),
            increment_first: false,
        };
        assert_eq!(limits.to_string(), "8+0.08, 0.25 s/move, 7 nodes, depth 3, 600 nodes a ms");
        assert!(!limits.is_timed(), "nodes decide");
    }
}
