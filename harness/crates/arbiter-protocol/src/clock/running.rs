//! Running clock of one side.

use std::time::Duration;

use super::control::{Period, TimeControl};

/// Running clock of one side.
#[derive(Debug, Clone)]
pub struct Clock {
    control: TimeControl,
    left: Duration,
    /// Index of the current period, counted from 0.
    period: usize,
    moves_left: Option<u32>,
}

impl Clock {
    /// Creates a clock for the start of a game; with `increment_first`, the increment is also added
    /// before the first move.
    pub(super) fn new(control: TimeControl, increment_first: bool) -> Clock {
        let Period { moves, base, increment } = control.get(0);
        let left = if increment_first { base.saturating_add(increment) } else { base };
        Clock { control, left, period: 0, moves_left: moves }
    }

    /// Returns the time left until the flag falls.
    pub fn left(&self) -> Duration {
        self.left
    }

    /// Returns the increment per move of the current period.
    pub fn increment(&self) -> Duration {
        self.control.get(self.period).increment
    }

    /// Returns the number of moves until the next period; `None` if the current period lasts for
    /// the rest of the game.
    pub fn moves_left(&self) -> Option<u32> {
        self.moves_left
    }

    /// Charges the time of one move and adds the increment. If the move exceeds the time left by at
    /// most `margin`, the clock counts as empty. Beyond the margin the flag falls, and the error is
    /// the excess over the time left. After the last move of a period, the time of the next period
    /// is added.
    pub fn charge(&mut self, elapsed: Duration, margin: Duration) -> Result<(), Duration> {
        if elapsed > self.left.saturating_add(margin) {
            return Err(elapsed - self.left);
        }
        // Time within the margin is not taken from later moves.
        self.left = self.left.saturating_sub(elapsed).saturating_add(self.increment());
        if let Some(moves) = &mut self.moves_left {
            *moves -= 1;
            if *moves == 0 {
                self.period += 1;
                let next = self.control.get(self.period);
                self.moves_left = next.moves;
                self.left = self.left.saturating_add(next.base);
            }
        }
        Ok(())
    }

    /// Adds the time that the opponent has used, if the clock is an hourglass.
    pub fn opponent_used(&mut self, elapsed: Duration) {
        if self.control.is_hourglass {
            self.left = self.left.saturating_add(elapsed);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn clock(control: &str) -> Clock {
        Clock::new(control.parse().unwrap(), false)
    }

    #[test]
    fn the_clock_is_charged_exactly() {
        let mut clock = clock("1+0.01");
        clock.charge(Duration::from_micros(1_500), Duration::ZERO).unwrap();
        assert_eq!(clock.left(), Duration::from_micros(1_008_500));
    }

    #[test]
    fn the_flag_falls_only_past_the_margin() {
        let mut clock = clock("1");
        assert_eq!(clock.charge(MS(1_011), MS(10)), Err(MS(11)));
        clock.charge(MS(1_010), MS(10)).unwrap();
        assert_eq!(clock.left(), Duration::ZERO);
    }

    #[test]
    fn a_period_refills_the_clock() {
        let mut clock = clock("2/10");
        clock.charge(MS(4_000), MS(0)).unwrap();
        assert_eq!((clock.left(), clock.moves_left()), (MS(6_000), Some(1)));
        clock.charge(MS(4_000), MS(0)).unwrap();
        assert_eq!((clock.left(), clock.moves_left()), (MS(12_000), Some(2)));
    }

    #[test]
    fn periods_follow_each_other_with_their_own_increments() {
        let mut clock = clock("2/10+1:1/5+0:3+0.5");
        let mut state = |elapsed| {
            clock.charge(MS(elapsed), MS(0)).unwrap();
            (clock.left(), clock.moves_left(), clock.increment())
        };
        assert_eq!(state(1_000), (MS(10_000), Some(1), MS(1_000)));
        assert_eq!(state(1_000), (MS(15_000), Some(1), MS(0)));
        assert_eq!(state(1_000), (MS(17_000), None, MS(500)));
        assert_eq!(state(1_000), (MS(16_500), None, MS(500)));
    }

    #[test]
    fn the_last_move_of_a_period_cannot_use_the_next_period() {
        let mut clock = clock("2/10:60");
        clock.charge(MS(9_000), MS(0)).unwrap();
        assert_eq!(clock.charge(MS(1_001), MS(0)), Err(MS(1)));
    }

    #[test]
    fn an_hourglass_gains_the_time_of_the_opponent() {
        let (mut ours, mut plain) = (clock("hg/10"), clock("10"));
        ours.charge(MS(3_000), MS(0)).unwrap();
        assert_eq!(ours.left(), MS(7_000));
        ours.opponent_used(MS(5_000));
        assert_eq!((ours.left(), ours.increment(), ours.moves_left()), (MS(12_000), MS(0), None));
        plain.opponent_used(MS(5_000));
        assert_eq!(plain.left(), MS(10_000));
    }

    fn any_control() -> impl Strategy<Value = String> {
        let period = (1..5u32, 1..50u32, 0..5u32);
        let sudden = (1..50u32, 0..5u32).prop_map(|(base, inc)| format!(":{}+{inc}", base + 60));
        (prop::collection::vec(period, 1..4), prop::option::of(sudden)).prop_map(|(list, end)| {
            let list: Vec<String> =
                list.iter().map(|(moves, base, inc)| format!("{moves}/{base}+{inc}")).collect();
            list.join(":") + &end.unwrap_or_default()
        })
    }

    proptest! {
        /// The time left is the granted time minus the used time, and the flag falls exactly when
        /// the time left would be negative.
        #[test]
        fn time_is_conserved(control in any_control(), moves in prop::collection::vec(0..20_000u64, 1..40)) {
            let periods: TimeControl = control.parse().unwrap();
            let mut clock = clock(&control);
            let (mut given, mut used) = (periods.get(0).base, Duration::ZERO);
            let (mut period, mut played) = (0, 0);
            for elapsed in moves.into_iter().map(MS) {
                let left = given - used;
                prop_assert_eq!(clock.left(), left);
                prop_assert_eq!(clock.moves_left(), periods.get(period).moves.map(|m| m - played));
                let before = clock.clone();
                let charged = clock.charge(elapsed, Duration::ZERO);
                if elapsed > left {
                    prop_assert_eq!(charged, Err(elapsed - left));
                    prop_assert_eq!(clock.left(), before.left());
                    break;
                }
                prop_assert_eq!(charged, Ok(()));
                used += elapsed;
                given += periods.get(period).increment;
                played += 1;
                if periods.get(period).moves == Some(played) {
                    (period, played) = (period + 1, 0);
                    given += periods.get(period).base;
                }
            }
        }

        /// The sum of the times left on two hourglass clocks is constant.
        #[test]
        fn two_hourglasses_share_a_fixed_sum(moves in prop::collection::vec(0..3_000u64, 1..60)) {
            let mut clocks = [clock("hg/20"), clock("hg/20")];
            for (ply, elapsed) in moves.into_iter().map(MS).enumerate() {
                let [one, other] = &mut clocks;
                let (mover, waiter) = if ply % 2 == 0 { (one, other) } else { (other, one) };
                if mover.charge(elapsed, Duration::ZERO).is_err() {
                    break;
                }
                waiter.opponent_used(elapsed);
                prop_assert_eq!(clocks[0].left() + clocks[1].left(), MS(40_000));
            }
        }
    }
}
