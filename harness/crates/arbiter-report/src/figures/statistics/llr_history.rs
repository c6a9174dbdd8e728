//! History of LLR and Elo over the pairs of a run with two engines.

use arbiter_run::{PairTally, RunCounts};
use arbiter_stats::SprtStatus;
use arbiter_stats::elo::Estimate;

use crate::figures::strength::Strength;

/// Maximum number of stored points, excluding the last point. A chart cannot show more points.
const MAX_POINTS: usize = 512;

/// LLR and Elo after a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HistoryPoint {
    /// Number of counted games.
    pub games: u64,
    /// State of the stopping rule; `None` without a stopping rule.
    pub sprt_status: Option<SprtStatus>,
    /// Elo of the first engine; `None` while all pairs have the same result.
    pub elo: Option<Estimate>,
}

/// History of a run: evenly spaced points, and the point after the last pair.
#[derive(Debug, Clone, Default)]
pub struct LlrHistory {
    points: Vec<HistoryPoint>,
    counts: RunCounts,
    /// Number of pairs from one stored point to the next; 0 before the first pair.
    stride: u64,
    pairs: u64,
    last: Option<HistoryPoint>,
}

impl LlrHistory {
    /// Adds a counted pair, and the state of the stopping rule after this pair.
    pub fn count(&mut self, tally: &PairTally, sprt_status: Option<SprtStatus>) {
        self.counts.count(tally);
        self.pairs += 1;
        self.stride = self.stride.max(1);
        let is_stored = self.pairs.is_multiple_of(self.stride);
        // The computation of an estimate is slow, and most points are not stored, so this function
        // computes estimates only for stored points. `points` computes the estimate for the last
        // point.
        let elo = if is_stored { self.elo() } else { None };
        let point = HistoryPoint { games: self.counts.games(), sprt_status, elo };
        self.last = Some(point);
        if is_stored {
            self.points.push(point);
        }
        // Dropping every second point keeps the remaining points evenly spaced in runs of any
        // length.
        if self.points.len() > MAX_POINTS {
            self.points = self.points.iter().skip(1).step_by(2).copied().collect();
            self.stride *= 2;
        }
    }

    /// Returns the points, including the point after the last pair.
    pub fn points(&self) -> Vec<HistoryPoint> {
        let mut points = self.points.clone();
        let last = self.last.map(|last| HistoryPoint { elo: self.elo(), ..last });
        if let Some(last) = last.filter(|last| points.last().is_none_or(|m| m.games < last.games)) {
            points.push(last);
        }
        points
    }

    fn elo(&self) -> Option<Estimate> {
        let estimate = Strength::of(self.counts.main_encounter()).elo?;
        // If all pairs have the same result, the interval has no width and does not show the
        // uncertainty.
        (estimate.low != estimate.high).then_some(estimate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arbiter_game::outcome::Termination;
    use arbiter_run::GameTally;
    use arbiter_stats::GameResult;

    #[test]
    fn a_long_history_is_thinned_and_keeps_its_end() {
        let mut history = LlrHistory::default();
        for pair in 0..5_001 {
            let game = |result| GameTally {
                result,
                termination: Termination::Checkmate,
                fault: None,
                hash: None,
            };
            let second = if pair % 3 == 0 { GameResult::Win } else { GameResult::Draw };
            let second = Some(game(second));
            let tally = PairTally {
                pair,
                engines: [0, 1],
                first: game(GameResult::Draw),
                second,
                is_repeat: false,
            };
            history.count(&tally, None);
        }
        let points = history.points();
        assert!((MAX_POINTS / 2..=MAX_POINTS + 1).contains(&points.len()), "{}", points.len());
        assert_eq!(points.last().map(|point| point.games), Some(10_002));
        let steps: Vec<u64> = points.windows(2).map(|two| two[1].games - two[0].games).collect();
        let (last, even) = steps.split_last().expect("there are many points");
        assert!(even.iter().all(|step| *step == even[0]) && *last <= even[0], "{steps:?}");
        assert!(points.iter().skip(1).all(|point| point.elo.is_some()));
    }
}
