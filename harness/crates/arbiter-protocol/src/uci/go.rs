//! UCI command `go`.

use std::fmt;
use std::time::Duration;

use crate::times::millis;

/// Limits of a `go` command. Times are sent in milliseconds, rounded down; times left and fixed
/// times are sent as at least 1 ms.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Go {
    /// Time that White has left, and White's increment per move.
    pub white: Option<(Duration, Duration)>,
    /// Time that Black has left, and Black's increment per move.
    pub black: Option<(Duration, Duration)>,
    /// Number of moves until the next period of the side to move.
    pub moves_to_go: Option<u32>,
    /// Fixed time for this move.
    pub movetime: Option<Duration>,
    /// Maximum number of nodes for this move.
    pub nodes: Option<u64>,
    /// Maximum depth for this move, in plies.
    pub depth: Option<u32>,
    /// `true` if the engine ponders until the next command.
    pub ponder: bool,
}

impl Go {
    /// Subtracts `lost` from White's time left if `white` is `true`, otherwise from Black's time
    /// left.
    pub fn take_from(&mut self, white: bool, lost: Duration) {
        let clock = if white { &mut self.white } else { &mut self.black };
        if let Some((left, _)) = clock {
            *left = left.saturating_sub(lost);
        }
    }
}

impl fmt::Display for Go {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ponder { "go ponder" } else { "go" })?;
        // An engine with an empty clock still has to move, and some engines interpret zero as "no
        // clock".
        let ms = |time: Duration| millis(time).max(1);
        let left = |clock: Option<(Duration, Duration)>| clock.map(|(left, _)| ms(left));
        let increment = |clock: Option<(Duration, Duration)>| {
            clock.filter(|(_, inc)| !inc.is_zero()).map(|(_, inc)| millis(inc))
        };
        let numbers = [
            (" wtime ", left(self.white)),
            (" btime ", left(self.black)),
            (" winc ", increment(self.white)),
            (" binc ", increment(self.black)),
            (" movestogo ", self.moves_to_go.map(u64::from)),
            (" movetime ", self.movetime.map(ms)),
            (" nodes ", self.nodes),
            (" depth ", self.depth.map(u64::from)),
        ];
        for (word, number) in numbers {
            if let Some(number) = number {
                f.write_str(word)?;
                number.fmt(f)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_times_are_in_milliseconds() {
        let ms = Duration::from_millis;
        let check = |go: Go, line: &str| assert_eq!(go.to_string(), line);
        check(
            Go {
                white: Some((Duration::from_micros(999), ms(10))),
                black: Some((Duration::from_micros(2_999), ms(0))),
                moves_to_go: Some(40),
                ..Go::default()
            },
            "go wtime 1 btime 2 winc 10 movestogo 40",
        );
        check(
            Go { movetime: Some(ms(50)), nodes: Some(7), depth: Some(3), ..Go::default() },
            "go movetime 50 nodes 7 depth 3",
        );
    }
}
