//! The chess clock: what a side may spend, and what it has left.
//!
//! Pure: it is told how long a move took and never reads a clock. Times are
//! exact to the nanosecond; only what an engine is *told* is cut to whole
//! milliseconds, because the protocol knows nothing finer.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

/// A time control: `base` for each period of `moves` moves (or for the whole
/// game), plus `increment` after every move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeControl {
    /// Moves per period; `None` gives the whole game one period.
    pub moves: Option<u32>,
    /// Time per period.
    pub base: Duration,
    /// Time added after each move of the side.
    pub increment: Duration,
}

/// What bounds one side's thinking. Several may hold at once; an engine is told all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// A clock for the game.
    pub clock: Option<TimeControl>,
    /// A fixed time for each move.
    pub movetime: Option<Duration>,
    /// Nodes for each move.
    pub nodes: Option<u64>,
    /// Plies of search for each move.
    pub depth: Option<u32>,
}

impl Limits {
    /// Whether a wall clock decides anything in the game. Without one, games of deterministic
    /// engines are reproducible.
    pub fn is_timed(&self) -> bool {
        self.clock.is_some() || self.movetime.is_some()
    }

    /// Whether nothing at all bounds the search.
    pub fn is_empty(&self) -> bool {
        *self == Limits::default()
    }
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        parts.extend(self.clock.map(|tc| tc.to_string()));
        parts.extend(self.movetime.map(|t| format!("{}/move", Seconds(t))));
        parts.extend(self.nodes.map(|n| format!("{n} nodes")));
        parts.extend(self.depth.map(|d| format!("depth {d}")));
        f.write_str(&parts.join(", "))
    }
}

/// One side's conditions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conditions {
    /// What bounds its thinking.
    pub limits: Limits,
    /// Overrun that is forgiven.
    pub margin: Duration,
}

/// A duration shown in seconds with as many decimals as it needs, at most nanoseconds.
struct Seconds(Duration);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = self.0.as_secs();
        let nanos = self.0.subsec_nanos();
        if nanos == 0 {
            return write!(f, "{whole}");
        }
        let decimals = format!("{nanos:09}");
        write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
    }
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        write!(f, "{}", Seconds(self.base))?;
        if !self.increment.is_zero() {
            write!(f, "+{}", Seconds(self.increment))?;
        }
        Ok(())
    }
}

/// Why a time could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum TimeError {
    /// The time control has not the form `[MOVES/]TIME[+INCREMENT]`.
    #[error(
        "time control '{0}' is not [MOVES/]SECONDS[+INCREMENT], for example 8+0.08, 40/60+0.6 or 1:30+1"
    )]
    Control(String),
    /// A number of seconds is malformed, negative or absurdly large.
    #[error("'{0}' is not a time in seconds between 0.001 and 10000000")]
    Seconds(String),
}

/// Reads a positive number of seconds such as `0.25`.
pub fn parse_seconds(text: &str) -> Result<Duration, TimeError> {
    non_negative_seconds(text)
        .filter(|d| *d >= Duration::from_millis(1))
        .ok_or_else(|| TimeError::Seconds(text.to_owned()))
}

fn non_negative_seconds(text: &str) -> Option<Duration> {
    // `f64::from_str` also takes "inf", "nan" and exponents; a clock should not.
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    (seconds <= 1e7).then(|| Duration::from_nanos((seconds * 1e9).round() as u64))
}

impl FromStr for TimeControl {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let fail = || TimeError::Control(text.to_owned());
        let (moves, rest) = match text.split_once('/') {
            Some((moves, rest)) => {
                let moves = moves.parse::<u32>().ok().filter(|m| *m > 0).ok_or_else(fail)?;
                (Some(moves), rest)
            }
            None => (None, text),
        };
        let (base, increment) = match rest.split_once('+') {
            Some((base, inc)) => (base, non_negative_seconds(inc).ok_or_else(fail)?),
            None => (rest, Duration::ZERO),
        };
        let base = match base.split_once(':') {
            Some((minutes, seconds)) => {
                let minutes = minutes.parse::<u32>().ok().filter(|m| *m < 100_000);
                let minutes = minutes.ok_or_else(fail)?;
                Duration::from_secs(60 * u64::from(minutes))
                    + non_negative_seconds(seconds).ok_or_else(fail)?
            }
            None => non_negative_seconds(base).ok_or_else(fail)?,
        };
        if base < Duration::from_millis(1) {
            return Err(fail());
        }
        Ok(TimeControl { moves, base, increment })
    }
}

/// How far a move went past the time its side had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Overrun(pub Duration);

/// One side's running clock.
#[derive(Debug, Clone)]
pub struct Clock {
    control: TimeControl,
    left: Duration,
    moves_left: Option<u32>,
}

impl Clock {
    /// A full clock at the start of a game.
    pub fn new(control: TimeControl) -> Clock {
        Clock { control, left: control.base, moves_left: control.moves }
    }

    /// Time left before the flag falls.
    pub fn left(&self) -> Duration {
        self.left
    }

    /// The increment per move.
    pub fn increment(&self) -> Duration {
        self.control.increment
    }

    /// Moves to the next period, if the control has periods.
    pub fn moves_left(&self) -> Option<u32> {
        self.moves_left
    }

    /// Charges one move. An overrun up to `margin` is forgiven and leaves an empty clock;
    /// a larger one is returned and the flag has fallen.
    pub fn charge(&mut self, elapsed: Duration, margin: Duration) -> Result<(), Overrun> {
        if elapsed > self.left + margin {
            return Err(Overrun(elapsed - self.left));
        }
        self.left = self.left.saturating_sub(elapsed) + self.control.increment;
        if let Some(moves) = &mut self.moves_left {
            *moves -= 1;
            if *moves == 0 {
                self.moves_left = self.control.moves;
                self.left += self.control.base;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn time_controls_are_read_and_shown() {
        let check = |text: &str, moves, base, increment, shown: &str| {
            let control: TimeControl = text.parse().unwrap();
            assert_eq!(control, TimeControl { moves, base, increment }, "{text}");
            assert_eq!(control.to_string(), shown);
        };
        check("8+0.08", None, MS(8_000), MS(80), "8+0.08");
        check("40/60+0.6", Some(40), MS(60_000), MS(600), "40/60+0.6");
        check("1:30+1", None, MS(90_000), MS(1_000), "90+1");
        check("0.1", None, MS(100), MS(0), "0.1");
        check("60/15:00", Some(60), MS(900_000), MS(0), "60/900");
    }

    #[test]
    fn malformed_time_controls_are_refused() {
        for text in ["", "x", "8+", "+1", "0", "0/8", "-1", "nan", "inf", "1e3", "8+0.1+1", "/8"] {
            assert_eq!(text.parse::<TimeControl>(), Err(TimeError::Control(text.into())), "{text}");
        }
        assert!(parse_seconds("0").is_err());
        assert!(parse_seconds("99999999999").is_err());
    }

    #[test]
    fn the_clock_is_charged_exactly() {
        let mut clock = Clock::new("1+0.01".parse().unwrap());
        clock.charge(Duration::from_micros(1_500), Duration::ZERO).unwrap();
        assert_eq!(clock.left(), Duration::from_micros(1_008_500));
    }

    #[test]
    fn the_flag_falls_only_past_the_margin() {
        let mut clock = Clock::new("1".parse().unwrap());
        assert_eq!(clock.charge(MS(1_011), MS(10)), Err(Overrun(MS(11))));
        clock.charge(MS(1_010), MS(10)).unwrap();
        assert_eq!(clock.left(), Duration::ZERO);
    }

    #[test]
    fn a_period_refills_the_clock() {
        let mut clock = Clock::new("2/10".parse().unwrap());
        clock.charge(MS(4_000), MS(0)).unwrap();
        assert_eq!((clock.left(), clock.moves_left()), (MS(6_000), Some(1)));
        clock.charge(MS(4_000), MS(0)).unwrap();
        assert_eq!((clock.left(), clock.moves_left()), (MS(12_000), Some(2)));
    }
}
