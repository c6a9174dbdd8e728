//! The time that answers may take.

use std::time::Duration;

/// How long each kind of answer may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// From the start of the process to `uciok`.
    pub uciok: Duration,
    /// From `isready` to `readyok`; engines allocate and clear their hash tables here.
    pub readyok: Duration,
    /// From `go` to `bestmove` when no clock bounds the move.
    pub bestmove: Duration,
    /// From `stop` to `bestmove`.
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
    /// The same with the deadlines of the start, `uciok` and `readyok`, times `factor`, for
    /// machines or engines on which everything takes longer. The factor must be positive.
    pub fn with_start_scaled(self, factor: f64) -> Deadlines {
        let scaled = |limit: Duration| {
            Duration::try_from_secs_f64(limit.as_secs_f64() * factor).unwrap_or(limit)
        };
        Deadlines { uciok: scaled(self.uciok), readyok: scaled(self.readyok), ..self }
    }
}
