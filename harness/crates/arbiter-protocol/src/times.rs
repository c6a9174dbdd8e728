//! Conversions between times and integers, for `#[serde(with)]`.

use std::convert::Infallible;
use std::time::Duration;

use serde_with::serde_conv;

use crate::Deadlines;

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
