//! How long an engine took for its moves.

use std::time::Duration;

/// Upper ends of the buckets, in milliseconds; the last bucket has none.
const ENDS_MS: [u64; 16] =
    [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];

/// Buckets.
const COUNT: usize = ENDS_MS.len() + 1;

/// Moves by the time they took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MoveTimes([u64; COUNT]);

impl MoveTimes {
    /// Adds a move.
    pub(super) fn add(&mut self, time: Duration) {
        let bucket = ENDS_MS.iter().position(|end| time < Duration::from_millis(*end));
        self.0[bucket.unwrap_or(COUNT - 1)] += 1;
    }

    /// The moves of each bucket with the bucket's upper end in milliseconds; the last has none.
    pub fn iter(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        let ends = ENDS_MS.iter().copied().map(Some).chain([None]);
        ends.zip(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_belong_to_the_bucket_above() {
        let mut times = MoveTimes::default();
        for us in [0, 999, 1_000, 99_999, 100_000_000, 900_000_000] {
            times.add(Duration::from_micros(us));
        }
        let found: Vec<_> = times.iter().filter(|(_, moves)| *moves > 0).collect();
        assert_eq!(found, [(Some(1), 2), (Some(2), 1), (Some(100), 1), (None, 2)]);
    }
}
