//! Time controls, and their text form.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Maximum number of periods in a time control; FIDE tournaments use at most three.
pub const MAX_PERIODS: usize = 4;

/// Period of a time control: `base` for `moves` moves or for the rest of the game, and `increment`
/// after each move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// Number of moves of the period; `None` for the rest of the game.
    pub moves: Option<u32>,
    /// Time for the period.
    pub base: Duration,
    /// Time added after each move of the side.
    pub increment: Duration,
}

/// Time control of one side: one or more periods. All periods except the last have a number of
/// moves. If the last period also has a number of moves, this period is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeControl {
    list: [Period; MAX_PERIODS],
    last: usize,
    /// `true` for an hourglass clock: the base time of the only period is the initial time, and
    /// each side gains the time that its opponent uses.
    pub(super) is_hourglass: bool,
}

impl TimeControl {
    /// Creates a time control that is not an hourglass; `None` if the list is empty or has more
    /// than [`MAX_PERIODS`] periods, or if a period before the last has no number of moves.
    pub fn new(periods: &[Period]) -> Option<TimeControl> {
        let (last, others) = periods.split_last()?;
        if periods.len() > MAX_PERIODS || others.iter().any(|period| period.moves.is_none()) {
            return None;
        }
        let mut list = [*last; MAX_PERIODS];
        list[..periods.len()].copy_from_slice(periods);
        Some(TimeControl { list, last: periods.len() - 1, is_hourglass: false })
    }

    /// Returns the period with the index `index` (counted from 0); beyond the end of the list,
    /// returns the last period.
    pub fn get(&self, index: usize) -> Period {
        self.list[index.min(self.last)]
    }

    /// Returns the total time for the first `moves` moves: the base time of each period reached,
    /// and an increment for each move.
    pub(super) fn granted(&self, moves: u32) -> Duration {
        let mut total = Duration::ZERO;
        let mut remaining = moves;
        for index in 0.. {
            let period = self.get(index);
            let played = period.moves.map_or(remaining, |moves| remaining.min(moves));
            let gained = period.increment.saturating_mul(played);
            total = total.saturating_add(period.base).saturating_add(gained);
            remaining -= played;
            // A period of 0 moves would never end; parsing never creates such a period, but callers
            // can.
            if remaining == 0 || played == 0 {
                break;
            }
        }
        total
    }

    /// Returns all periods; an hourglass has one period, for the rest of the game.
    pub fn periods(&self) -> &[Period] {
        &self.list[..=self.last]
    }

    /// Returns the time control with all times multiplied by a positive factor and rounded to
    /// 0.1 ms.
    pub fn scaled(mut self, factor: f64) -> TimeControl {
        for period in &mut self.list {
            period.base = scaled(period.base, factor);
            // `scaled` returns at least a millisecond, so scaling a zero increment would add an
            // increment.
            if !period.increment.is_zero() {
                period.increment = scaled(period.increment, factor);
            }
        }
        self
    }
}

/// Multiplies a time by `factor` and rounds the product to 0.1 ms. The result is limited to the
/// range that can be parsed, 0.001 s to 10,000,000 s.
pub(super) fn scaled(time: Duration, factor: f64) -> Duration {
    let seconds = (time.as_secs_f64() * factor * 1e4).round() / 1e4;
    Duration::from_secs_f64(seconds.clamp(1e-3, 1e7))
}

/// Duration displayed in seconds, with as many decimals as necessary.
pub(super) struct Seconds(pub(super) Duration);

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

impl fmt::Display for Period {
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

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_hourglass {
            f.write_str("hg/")?;
        }
        for (index, period) in self.periods().iter().enumerate() {
            if index > 0 {
                let before = self.get(index - 1);
                // Without `+0`, the text would be parsed as minutes and seconds.
                let zero = before.increment.is_zero() && period.moves.is_none();
                f.write_str(if zero { "+0:" } else { ":" })?;
            }
            period.fmt(f)?;
        }
        Ok(())
    }
}

/// Parses a number of seconds such as `0.25`: digits and a point, from 0.001 to 10,000,000.
///
/// # Errors
///
/// Returns a description of the expected format.
pub fn parse_seconds(text: &str) -> Result<Duration, String> {
    let fail = || format!("'{text}' is not a time in seconds between 0.001 and 10000000");
    positive_seconds(text).ok_or_else(fail)
}

fn positive_seconds(text: &str) -> Option<Duration> {
    non_negative_seconds(text).filter(|d| *d >= Duration::from_millis(1))
}

fn non_negative_seconds(text: &str) -> Option<Duration> {
    // `f64::from_str` would also accept "inf", "nan" and exponents.
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
        return None;
    }
    let seconds: f64 = text.parse().ok()?;
    // With this limit, sums of times in nanoseconds stay far below the 64-bit maximum.
    (seconds <= 1e7).then(|| Duration::from_nanos((seconds * 1e9).round() as u64))
}

impl FromStr for TimeControl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fail = || {
            format!(
                "time control '{text}' is not [MOVES/]SECONDS[+INCREMENT], for example 8+0.08, \
                 40/60+0.6 or 1:30+1, several of these separated by ':', for example \
                 40/60:20/30, hg/SECONDS for an hourglass, or inf"
            )
        };
        if let Some(base) = text.strip_prefix("hg/") {
            let base = positive_seconds(base).ok_or_else(fail)?;
            let list = [Period { moves: None, base, increment: Duration::ZERO }; MAX_PERIODS];
            return Ok(TimeControl { list, last: 0, is_hourglass: true });
        }
        let periods: Option<Vec<Period>> = split_periods(text).iter().map(|p| period(p)).collect();
        let periods = periods.ok_or_else(fail)?;
        if periods.len() > MAX_PERIODS {
            return Err(format!("time control '{text}' has more than {MAX_PERIODS} periods"));
        }
        TimeControl::new(&periods).ok_or_else(fail)
    }
}

/// Splits a string at the colons between periods. A colon separates minutes from seconds if the
/// colon is followed by a number below 60 without a `/` (so not a number of moves), and if the part
/// of the period before the colon contains neither `+` nor another colon. Every other colon
/// separates two periods.
fn split_periods(text: &str) -> Vec<String> {
    let mut periods: Vec<String> = Vec::new();
    for piece in text.split(':') {
        let seconds = piece.split('+').next().unwrap_or_default();
        let is_seconds = seconds.parse::<f64>().is_ok_and(|seconds| seconds < 60.0);
        match periods.last_mut() {
            Some(minutes) if is_seconds && !minutes.contains(['+', ':']) => {
                minutes.push(':');
                minutes.push_str(piece);
            }
            _ => periods.push(piece.to_owned()),
        }
    }
    periods
}

fn period(text: &str) -> Option<Period> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(moves.parse::<u32>().ok().filter(|m| *m > 0)?), rest),
        None => (None, text),
    };
    let (base, increment) = match rest.split_once('+') {
        Some((base, increment)) => (base, non_negative_seconds(increment)?),
        None => (rest, Duration::ZERO),
    };
    let base = match base.split_once(':') {
        Some((minutes, seconds)) => {
            // This limit keeps times with minutes below the maximum as well.
            let minutes = minutes.parse::<u32>().ok().filter(|m| *m < 100_000)?;
            Duration::from_secs(60 * u64::from(minutes)) + non_negative_seconds(seconds)?
        }
        None => non_negative_seconds(base)?,
    };
    (base >= Duration::from_millis(1)).then_some(Period { moves, base, increment })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_millis;

    #[test]
    fn time_controls_are_parsed_and_displayed() {
        let check = |text: &str, moves, base, increment, shown: &str| {
            let control: TimeControl = text.parse().unwrap();
            assert_eq!(control.get(0), Period { moves, base, increment }, "{text}");
            assert_eq!(control.to_string(), shown);
        };
        check("8+0.08", None, MS(8_000), MS(80), "8+0.08");
        check("40/60+0.6", Some(40), MS(60_000), MS(600), "40/60+0.6");
        check("1:30+1", None, MS(90_000), MS(1_000), "90+1");
        check("0.1", None, MS(100), MS(0), "0.1");
        check("60/15:00", Some(60), MS(900_000), MS(0), "60/900");
        check("hg/30", None, MS(30_000), MS(0), "hg/30");
        check("40/60+0.5:20/30", Some(40), MS(60_000), MS(500), "40/60+0.5:20/30");
        check("40/2:00:20/1:00:15:00+5", Some(40), MS(120_000), MS(0), "40/120:20/60+0:900+5");
        check("40/7200:3600", Some(40), MS(7_200_000), MS(0), "40/7200+0:3600");
        let three = "40/60+0.5:20/30+0:1:00+2";
        check(three, Some(40), MS(60_000), MS(500), "40/60+0.5:20/30+0:60+2");
        check("40/60+0:30", Some(40), MS(60_000), MS(0), "40/60+0:30");
        check("40/60:30", Some(40), MS(3_630_000), MS(0), "40/3630");
    }

    #[test]
    fn malformed_time_controls_are_refused() {
        for text in [
            "",
            "x",
            "8+",
            "+1",
            "0",
            "0/8",
            "-1",
            "nan",
            "inf",
            "1e3",
            "8+0.1+1",
            "/8",
            "hg/0",
            "hg/",
            "8+1:20/30",
            "40/60:",
            ":8",
            "40/60::20/30",
            "40/60:20/",
            "1:nan",
        ] {
            let expect = format!("time control '{text}' is not [MOVES/]SECONDS");
            let error = text.parse::<TimeControl>().unwrap_err();
            assert!(error.starts_with(&expect), "{error}");
        }
        let many = "1/1+0:1/1+0:1/1+0:1/1+0:1/1";
        let expect = format!("time control '{many}' has more than 4 periods");
        assert_eq!(many.parse::<TimeControl>(), Err(expect));
        assert!(parse_seconds("0").is_err());
        assert!(parse_seconds("99999999999").is_err());
    }

    fn any_period() -> impl Strategy<Value = Period> {
        (1..200u32, 1..10_000_000u64, 0..100_000u64).prop_map(|(moves, base, increment)| Period {
            moves: Some(moves),
            base: MS(base),
            increment: MS(increment),
        })
    }

    proptest! {
        #[test]
        fn displayed_time_controls_round_trip(
            mut periods in prop::collection::vec(any_period(), 1..=MAX_PERIODS),
            sudden_death: bool,
        ) {
            if let Some(last) = periods.last_mut().filter(|_| sudden_death) {
                last.moves = None;
            }
            let control = TimeControl::new(&periods).unwrap();
            prop_assert_eq!(control.to_string().parse(), Ok(control));
        }
    }
}
