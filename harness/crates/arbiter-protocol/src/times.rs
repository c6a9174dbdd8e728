//! Conversions of times to whole numbers, for `#[serde(with)]`.

use std::convert::Infallible;
use std::time::Duration;

use serde_with::serde_conv;

use crate::Deadlines;

/// Returns whole nanoseconds; as many as fit into 64 bits.
pub fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns whole milliseconds, rounded down; as many as fit into 64 bits.
pub(crate) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

serde_conv!(
    /// Time as [`nanos`].
    pub Nanos,
    Duration,
    |time: &Duration| nanos(*time),
    |time| Ok::<_, Infallible>(Duration::from_nanos(time))
);

serde_conv!(
    /// Time in whole milliseconds, rounded down; as many as fit into 64 bits.
    pub Millis,
    Duration,
    |time: &Duration| millis(*time),
    |time| Ok::<_, Infallible>(Duration::from_millis(time))
);

serde_conv!(
    /// Milliseconds to `uciok`, to `readyok`, to `bestmove` and from `stop` to `bestmove`.
    pub DeadlinesMs,
    Deadlines,
    |d: &Deadlines| [d.uciok, d.readyok, d.bestmove, d.stop].map(millis),
    |times: [u64; 4]| {
        let [uciok, readyok, bestmove, stop] = times.map(Duration::from_millis);
        Ok::<_, Infallible>(Deadlines { uciok, readyok, bestmove, stop })
    }
);
