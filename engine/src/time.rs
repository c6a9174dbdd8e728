//! How long to think.
//!
//! The only part of the engine besides the UCI session that reads the clock. A search is told of
//! time by a [`Timer`]; without limits of time it never asks, so its result cannot depend on it.

use std::time::{Duration, Instant};

/// The mover's clock as the `go` command gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left, in milliseconds.
    pub left_ms: u64,
    /// Time gained per move, in milliseconds.
    pub increment_ms: u64,
    /// Moves until time is added, if it ever is.
    pub moves_to_go: Option<u32>,
}

/// What limits the time of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeLimit {
    /// Nothing.
    #[default]
    None,
    /// A fixed time for this move, in milliseconds.
    Move(u64),
    /// The rest of the game must be played on this clock.
    Clock(Clock),
}

/// The time for one move: when to be content, and when to break off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// No new iteration begins after this, which the search may stretch or shrink; `None` if the
    /// time is there to be used up.
    pub soft: Option<Duration>,
    /// The search is abandoned after this.
    pub hard: Duration,
}

/// Moves the game is assumed to last when no time control says so.
const MOVES_LEFT: u64 = 26;

impl Budget {
    /// The budget for a limit; `overhead_ms` is lost between the engine and the arbiter's clock.
    pub fn new(limit: TimeLimit, overhead_ms: u64) -> Option<Budget> {
        match limit {
            TimeLimit::None => None,
            TimeLimit::Move(move_ms) => {
                let time = Duration::from_millis(move_ms.saturating_sub(overhead_ms).max(1));
                Some(Budget { soft: None, hard: time })
            }
            TimeLimit::Clock(clock) => Some(Budget::for_clock(clock, overhead_ms)),
        }
    }

    fn for_clock(clock: Clock, overhead_ms: u64) -> Budget {
        let usable_us = clock.left_ms.saturating_sub(overhead_ms).saturating_mul(1000);
        let increment_us = clock.increment_ms.saturating_mul(1000);
        let moves = clock.moves_to_go.map_or(MOVES_LEFT, |moves| u64::from(moves.clamp(1, 40)));
        let share = (usable_us / moves).saturating_add(increment_us / 4 * 3);
        // The last move before the control may use nearly everything, others never more than
        // a good part of what is left.
        let cap = if moves == 1 { usable_us / 10 * 9 } else { usable_us / 10 * 6 };
        let soft = (share / 4 * 3).min(cap);
        let hard = share.saturating_mul(3).min(cap);
        Budget { soft: Some(Duration::from_micros(soft)), hard: Duration::from_micros(hard) }
    }
}

/// A running move: when it began and what it may use.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    start: Instant,
    budget: Option<Budget>,
}

impl Timer {
    /// Starts now.
    pub fn start(budget: Option<Budget>) -> Timer {
        Timer { start: Instant::now(), budget }
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Is time worth saving for later moves?
    pub fn is_thrifty(&self) -> bool {
        self.budget.is_some_and(|budget| budget.soft.is_some())
    }

    /// Must the search break off?
    pub fn is_over(&self) -> bool {
        self.budget.is_some_and(|budget| self.elapsed() >= budget.hard)
    }

    /// Should no new iteration begin, the soft limit being stretched to `percent` of itself?
    pub fn is_enough(&self, percent: u32) -> bool {
        let soft = self.budget.and_then(|budget| budget.soft);
        soft.is_some_and(|soft| self.elapsed() >= soft * percent / 100)
    }
}

/// Nodes per second; the time is taken as at least a microsecond.
pub fn nodes_per_second(nodes: u64, elapsed: Duration) -> u64 {
    let microseconds = elapsed.as_micros().max(1);
    u64::try_from(u128::from(nodes) * 1_000_000 / microseconds).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(left_ms: u64, increment_ms: u64, moves_to_go: Option<u32>) -> Budget {
        Budget::for_clock(Clock { left_ms, increment_ms, moves_to_go }, 10)
    }

    #[test]
    fn the_clock_is_never_overdrawn() {
        for left_ms in [0, 1, 5, 11, 20, 100, 1_000, 60_000, u64::MAX] {
            for increment_ms in [0, 1, 10, 1_000, u64::MAX] {
                for moves in [None, Some(0), Some(1), Some(2), Some(40), Some(u32::MAX)] {
                    let budget = clock(left_ms, increment_ms, moves);
                    assert!(budget.soft.unwrap() <= budget.hard);
                    let usable = Duration::from_millis(left_ms.saturating_sub(10));
                    assert!(budget.hard <= usable, "{left_ms} {increment_ms} {moves:?}");
                }
            }
        }
    }

    #[test]
    fn a_game_on_the_clock_alone_is_spread_over_many_moves() {
        let soft = clock(60_000, 0, None).soft.unwrap();
        assert!(soft > Duration::from_millis(1_000) && soft < Duration::from_millis(3_000));
        assert!(clock(60_000, 600, None).soft.unwrap() > soft);
    }

    #[test]
    fn a_fixed_time_is_used_up_but_for_the_overhead() {
        let budget = Budget::new(TimeLimit::Move(100), 10).unwrap();
        assert_eq!(budget.hard, Duration::from_millis(90));
        assert_eq!(Budget::new(TimeLimit::Move(3), 10).unwrap().hard, Duration::from_millis(1));
        assert_eq!(Budget::new(TimeLimit::None, 10), None);
    }
}
