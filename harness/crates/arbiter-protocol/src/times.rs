//! Timeouts for answers, and conversions between times and integers, for `#[serde(with)]`.

use std::convert::Infallible;
use std::time::Duration;

use serde_with::serde_conv;

/// Timeouts for the answers of an engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// Maximum time from the start of the process to `uciok`.
    pub uciok: Duration,
    /// Maximum time from `isready` to `readyok`. During this time, engines allocate and clear their
    /// transposition tables.
    pub readyok: Duration,
    /// Maximum time from `go` to `bestmove` if no clock limits the move.
    pub bestmove: Duration,
    /// Maximum time from `stop` to `bestmove`.
    pub stop: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        let [uciok, readyok, bestmove, stop] = [10, 30, 60, 2].map(Duration::from_secs);
        Deadlines { uciok, readyok, bestmove, stop }
    }
}

impl Deadlines {
    /// Returns a copy with `uciok` and `readyok` multiplied by `factor`, for slow machines or
    /// engines. The factor must be positive.
    pub fn with_start_scaled(self, factor: f64) -> Deadlines {
        let scaled = |limit: Duration| {
            // If the product overflows, the timeout is unchanged.
            Duration::try_from_secs_f64(limit.as_secs_f64() * factor).unwrap_or(limit)
        };
        Deadlines { uciok: scaled(self.uciok), readyok: scaled(self.readyok), ..self }
    }
}

/// Converts a time to nanoseconds, at most `u64::MAX`.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Converts a time to milliseconds, rounded down, at most `u64::MAX`.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

serde_conv!(
    /// Time in nanoseconds, as [`nanos`] returns it.
    pub Nanos,
    Duration,
    |time: &Duration| nanos(*time),
    |time| Ok::<_, Infallible>(Duration::from_nanos(time))
);

serde_conv!(
    /// Time in milliseconds, rounded down, at most `u64::MAX`.
    pub Millis,
    Duration,
    |time: &Duration| millis(*time),
    |time| Ok::<_, Infallible>(Duration::from_millis(time))
);

serde_conv!(
    /// Timeouts as a list of milliseconds: `uciok`, `readyok`, `bestmove`, `stop`.
    pub DeadlinesMs,
    Deadlines,
    |d: &Deadlines| [d.uciok, d.readyok, d.bestmove, d.stop].map(millis),
    |times: [u64; 4]| {
        let [uciok, readyok, bestmove, stop] = times.map(Duration::from_millis);
        Ok::<_, Infallible>(Deadlines { uciok, readyok, bestmove, stop })
    }
);
