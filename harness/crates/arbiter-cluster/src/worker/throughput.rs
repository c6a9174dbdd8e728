//! Recent throughput of a worker, in pairs.

use std::collections::VecDeque;
use std::time::Duration;

use tokio::time::Instant;

/// Length of the window that the samples cover.
const SPAN: Duration = Duration::from_secs(300);

/// Samples of the number of pairs played since the start of the worker, oldest first.
#[derive(Debug, Default)]
pub(super) struct Throughput(VecDeque<(Instant, u64)>);

impl Throughput {
    /// Adds a sample of the number of pairs played since the start, and removes samples older than
    /// the window.
    pub(super) fn record(&mut self, now: Instant, pairs: u64) {
        while self.0.front().is_some_and(|(at, _)| now - *at > SPAN) {
            self.0.pop_front();
        }
        self.0.push_back((now, pairs));
    }

    /// Returns the number of pairs in the window, and the length of the window in seconds; both
    /// numbers are 0 before the first sample.
    pub(super) fn recent(&self) -> (u64, u32) {
        let (Some((since, before)), Some((now, pairs))) = (self.0.front(), self.0.back()) else {
            return (0, 0);
        };
        (pairs - before, u32::try_from((*now - *since).as_secs()).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "any time will do")]

    use super::*;

    #[test]
    fn throughput_counts_recent_pairs_only() {
        let start = Instant::now();
        let mut throughput = Throughput::default();
        assert_eq!(throughput.recent(), (0, 0));
        for (second, pairs) in [(0, 0), (60, 4), (120, 5)] {
            throughput.record(start + Duration::from_secs(second), pairs);
        }
        assert_eq!(throughput.recent(), (5, 120));
        throughput.record(start + Duration::from_secs(350), 7);
        assert_eq!(throughput.recent(), (3, 290));
        for second in 0..1_000 {
            throughput.record(start + Duration::from_secs(400 + second), 8);
        }
        assert_eq!(throughput.recent(), (0, 300));
        assert!(throughput.0.len() <= 301);
    }
}
