//! Time limits for one move, computed from the clock in the `go` command.
//!
//! The search reads the time only through a [`Timer`]. Without time limits, the search never reads
//! the time, so the result cannot depend on the time.

#![expect(clippy::disallowed_methods, reason = "the clock of the search")]

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// Clock of the side to move, as given by the `go` command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Remaining time, in milliseconds.
    pub left_ms: u64,
    /// Increment per move, in milliseconds.
    pub increment_ms: u64,
    /// Number of moves to the next time control; `None` for sudden death.
    pub moves_to_go: Option<u32>,
}

/// Time limit for a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimeLimit {
    /// No limit.
    #[default]
    None,
    /// Fixed time for this move, in milliseconds.
    Move(u64),
    /// A share of the remaining time on this clock.
    Clock(Clock),
}

/// Time budget for one move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Time after which no new iteration begins. The search may scale this limit. `None` for a
    /// fixed time, which is used in full.
    pub soft: Option<Duration>,
    /// Time after which the search stops.
    pub hard: Duration,
}

/// Number of moves among which the remaining time is divided in sudden death.
const MOVES_LEFT: u64 = 26;

/// Reserve that is kept on the clock, as a multiple of the move overhead. Without a reserve, a
/// delay on a busy machine could lose the game on time. In a test on a busy machine, 11 of 120
/// games at 0.2 s + 2 ms were lost on time without the reserve, and 5 of 120 games with the
/// reserve.
const RESERVE_OVERHEADS: u64 = 4;

impl Budget {
    /// Returns the budget for a limit; `None` if there is no limit. `overhead_ms` is the time, in
    /// milliseconds, that communication between engine and GUI takes for each move.
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
        let micros = |ms: u64| ms.saturating_mul(1000);
        let remaining = micros(clock.left_ms);
        let usable = remaining.saturating_sub(micros(overhead_ms));
        let increment = micros(clock.increment_ms) / 4 * 3;
        let moves = clock.moves_to_go.map_or(MOVES_LEFT, |moves| u64::from(moves.clamp(1, 40)));
        let share = (usable / moves).saturating_add(increment);
        // The last move before the time control may use 90 % of the usable time, other moves 60 %.
        let most = if moves == 1 { usable / 10 * 9 } else { usable / 10 * 6 };
        // Time is added at the time control, so the last moves before the time control need a
        // smaller reserve.
        let reserve = micros(overhead_ms).saturating_mul(RESERVE_OVERHEADS.min(moves + 1));
        // If only the reserve is left, the reserve is used, but more slowly than increments refill
        // the reserve.
        let least = (usable / 40).max(increment.min(usable) / 2);
        let cap = most.min(remaining.saturating_sub(reserve)).max(least);
        let soft = (share / 4 * 3).min(cap);
        let hard = share.saturating_mul(3).min(cap);
        Budget { soft: Some(Duration::from_micros(soft)), hard: Duration::from_micros(hard) }
    }
}

/// Start and budget of the thinking time for a move.
#[derive(Clone, Copy, Debug)]
pub struct Timer {
    start: Instant,
    budget: Option<Budget>,
    /// Number of nodes that count as 1 ms of the budget; `None` for real time.
    nodes_per_ms: Option<NonZeroU64>,
}

impl Timer {
    /// Returns a timer that starts now.
    pub fn start(budget: Option<Budget>) -> Timer {
        Timer { start: Instant::now(), budget, nodes_per_ms: None }
    }

    /// Returns the timer with a budget measured in nodes: `per_ms` nodes count as 1 ms, regardless
    /// of the real time. A search with one thread then gives the same result on any machine, even
    /// on a busy machine. If `per_ms` is 0, real time is measured.
    #[must_use]
    pub fn counting_nodes(self, per_ms: u64) -> Timer {
        Timer { nodes_per_ms: NonZeroU64::new(per_ms), ..self }
    }

    /// Returns whether the budget is measured in nodes.
    pub fn counts_nodes(&self) -> bool {
        self.nodes_per_ms.is_some()
    }

    /// Returns the real time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }

    /// Returns whether there is a soft limit.
    pub fn has_soft_limit(&self) -> bool {
        self.budget.is_some_and(|budget| budget.soft.is_some())
    }

    /// Returns whether the hard limit has passed after `nodes` nodes.
    pub fn hard_limit_reached(&self, nodes: u64) -> bool {
        self.budget.is_some_and(|budget| self.spent(nodes) >= budget.hard)
    }

    /// Returns whether `percent` % of the soft limit has passed after `nodes` nodes.
    pub fn soft_limit_reached(&self, nodes: u64, percent: u32) -> bool {
        let soft = self.budget.and_then(|budget| budget.soft);
        soft.is_some_and(|soft| self.spent(nodes) >= soft * percent / 100)
    }

    /// Returns the part of the budget that is used after `nodes` nodes.
    fn spent(&self, nodes: u64) -> Duration {
        let Some(per_ms) = self.nodes_per_ms else { return self.elapsed() };
        Duration::from_micros(nodes.saturating_mul(1000) / per_ms)
    }
}

/// Returns the number of nodes per second. A time below 1 µs counts as 1 µs.
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
    fn without_a_time_control_the_clock_lasts_many_moves() {
        let soft = clock(60_000, 0, None).soft.unwrap();
        assert!(soft > Duration::from_millis(1_000) && soft < Duration::from_millis(3_000));
        assert!(clock(60_000, 600, None).soft.unwrap() > soft);
    }

    /// Plays 200 moves, each of which takes its hard limit plus 1 ms. Returns the minimum time on
    /// the clock before an increment, in milliseconds. Also returns the maximum share of the clock
    /// that one move used in excess of the increment.
    fn lowest_clock(left_ms: u64, increment_ms: u64, period: Option<u32>) -> (u64, f64) {
        let mut left_us = left_ms * 1000;
        let mut lowest = u64::MAX;
        let mut most = 0.0f64;
        for number in 0..200 {
            let moves_to_go = period.map(|moves| moves - number % moves);
            let budget = clock(left_us / 1000, increment_ms, moves_to_go);
            assert!(budget.soft.unwrap() > Duration::ZERO, "{left_us}");
            let used = budget.hard.as_micros() as u64 + 1000;
            let lost = used.saturating_sub(increment_ms * 1000);
            most = most.max(lost as f64 / left_us as f64);
            left_us = left_us.checked_sub(used).expect("the flag has fallen");
            lowest = lowest.min(left_us);
            left_us += increment_ms * 1000;
            if moves_to_go == Some(1) {
                left_us += left_ms * 1000;
            }
        }
        (lowest / 1000, most)
    }

    #[test]
    fn the_clock_reserve_is_kept() {
        // The reserve is 40 ms: four times the overhead of 10 ms.
        for (left_ms, increment_ms) in [(2_000, 20), (1_000, 10), (200, 2), (60_000, 600)] {
            let (lowest, most) = lowest_clock(left_ms, increment_ms, None);
            assert!(lowest >= 30, "{left_ms}+{increment_ms}: {lowest} ms");
            assert!(most <= 0.6, "{left_ms}+{increment_ms}: {most}");
        }
        // Before the time for the next period is added, two overheads remain.
        let (lowest, _) = lowest_clock(1_000, 0, Some(40));
        assert!(lowest >= 19, "{lowest} ms");
    }

    #[test]
    fn a_clock_below_the_reserve_recovers() {
        for (left_ms, increment_ms) in [(11, 20), (15, 10), (20, 2)] {
            let mut remaining = Duration::from_millis(left_ms);
            for _ in 0..200 {
                let budget = clock(remaining.as_millis() as u64, increment_ms, None);
                remaining = remaining.checked_sub(budget.hard).expect("the flag has fallen");
                assert!(remaining >= Duration::from_millis(10));
                remaining += Duration::from_millis(increment_ms);
            }
            assert!(remaining >= Duration::from_millis(40), "{remaining:?}");
        }
    }

    #[test]
    fn nodes_stand_for_time() {
        let budget =
            Budget { soft: Some(Duration::from_millis(20)), hard: Duration::from_millis(50) };
        let timer = Timer::start(Some(budget)).counting_nodes(600);
        assert!(!timer.soft_limit_reached(11_999, 100) && timer.soft_limit_reached(12_000, 100));
        assert!(!timer.soft_limit_reached(17_999, 150) && timer.soft_limit_reached(18_000, 150));
        assert!(!timer.hard_limit_reached(29_999) && timer.hard_limit_reached(30_000));
        assert!(!Timer::start(Some(budget)).counting_nodes(0).hard_limit_reached(u64::MAX));
    }

    #[test]
    fn a_fixed_time_is_used_except_for_the_overhead() {
        let budget = Budget::new(TimeLimit::Move(100), 10).unwrap();
        assert_eq!(budget.hard, Duration::from_millis(90));
        assert_eq!(Budget::new(TimeLimit::Move(3), 10).unwrap().hard, Duration::from_millis(1));
        assert_eq!(Budget::new(TimeLimit::None, 10), None);
    }
}
