//! Timeouts for answers.

use std::time::Duration;

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
        Deadlines {
            uciok: Duration::from_secs(10),
            readyok: Duration::from_secs(30),
            bestmove: Duration::from_secs(60),
            stop: Duration::from_secs(2),
        }
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
