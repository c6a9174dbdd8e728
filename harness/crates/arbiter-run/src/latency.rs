//! Distributions of times that Arbiter measures, such as the response times of engines.

use std::collections::BTreeMap;
use std::ops::RangeBounds;
use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::PlayedPair;

/// Maximum time, in microseconds; longer times count as the maximum.
const MAX_US: u64 = 3_600_000_000;

/// Number of significant digits of times.
const DIGITS: u8 = 2;

/// Kind of measured time.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum LatencyKind {
    /// Time from the ready check before a game to the engine's reply.
    Ready,
    /// Time from `go` to the move, minus the time that the engine reported last: start and end of a
    /// search, pipes and scheduler.
    Move,
    /// Time from the end of the allowed time to the move, for each move with a fixed time (`st=`; 0
    /// for moves in time) and for each move that lost on time.
    Overrun,
    /// Thinking time of each game in which waiting was measured.
    Thinking,
    /// Time of each measured game for which the engine waited for a processor while its clock ran.
    Waiting,
}

impl LatencyKind {
    /// Kinds that measure the delay of an engine's replies.
    pub const ANSWERS: [LatencyKind; 3] =
        [LatencyKind::Ready, LatencyKind::Move, LatencyKind::Overrun];
}

arbiter_names::named!(LatencyKind);

/// Histogram of times, with two significant digits.
#[derive(Debug, Clone, PartialEq)]
pub struct LatencyDistribution(Histogram<u64>);

impl LatencyDistribution {
    fn new() -> LatencyDistribution {
        let histogram = Histogram::new_with_bounds(1, MAX_US, DIGITS);
        LatencyDistribution(histogram.expect("the bounds are constants that the crate allows"))
    }

    /// Adds a time of `us` microseconds that was measured `count` times.
    pub fn add(&mut self, us: u64, count: u64) {
        self.0.saturating_record_n(us.min(MAX_US), count);
    }

    /// Returns the number of measured times.
    pub fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the quantile `q`, 0 to 1, of the times, in microseconds.
    pub fn quantile_us(&self, q: f64) -> u64 {
        self.0.value_at_quantile(q).min(self.max_us())
    }

    /// Returns the longest time, in microseconds.
    pub fn max_us(&self) -> u64 {
        self.0.max()
    }

    /// Returns each distinct time, in microseconds, with its count.
    pub fn times(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value()))
    }

    /// Returns the number of measured times in each decade, up to the decade of the longest time:
    /// below 1 µs, 1 µs to 10 µs, 10 µs to 100 µs, and so on.
    pub fn decades(&self) -> Vec<u64> {
        let mut counts = Vec::new();
        for (us, count) in self.times() {
            let decade = us.checked_ilog10().map_or(0, |log| log as usize + 1);
            counts.resize(counts.len().max(decade + 1), 0);
            counts[decade] += count;
        }
        counts
    }
}

/// Latency distributions of all engines, by engine index and kind.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Latencies(BTreeMap<(usize, LatencyKind), LatencyDistribution>);

impl Latencies {
    /// Returns the distributions of a pair.
    pub fn of(played: &PlayedPair) -> Latencies {
        let mut latencies = Latencies::default();
        latencies.count(played);
        latencies
    }

    /// Adds the times of a pair.
    pub fn count(&mut self, played: &PlayedPair) {
        for game in played.games.iter() {
            for (engine, ready) in game.engines.into_iter().zip(game.ready) {
                if let Some(time) = ready {
                    self.add(engine, LatencyKind::Ready, micros(time), 1);
                }
            }
            for ((engine, waited), (_, search)) in
                game.engines.into_iter().zip(game.waited).zip(game.thinking_times())
            {
                if let Some(waited) = waited {
                    self.add(engine, LatencyKind::Thinking, micros(search), 1);
                    self.add(engine, LatencyKind::Waiting, micros(waited), 1);
                }
            }
            if let (Some(winner), Some(late)) = (game.outcome.result.winner(), game.late) {
                let loser = *game.engines.get(winner.other());
                self.add(loser, LatencyKind::Overrun, micros(late.over), 1);
            }
            let mut color = game.first_to_move();
            for played in &game.moves {
                let engine = *game.engines.get(color);
                let movetime = *game.movetime.get(color);
                color = !color;
                let Some(search) = &played.search else { continue };
                if let Some(latency) = search.latency() {
                    self.add(engine, LatencyKind::Move, micros(latency), 1);
                }
                if let Some(movetime) = movetime {
                    let overrun = search.elapsed.saturating_sub(movetime);
                    self.add(engine, LatencyKind::Overrun, micros(overrun), 1);
                }
            }
        }
    }

    /// Adds a time of `us` microseconds that was measured `count` times for an engine.
    pub fn add(&mut self, engine: usize, kind: LatencyKind, us: u64, count: u64) {
        self.0.entry((engine, kind)).or_insert_with(LatencyDistribution::new).add(us, count);
    }

    /// Returns the share of thinking time, 0 to 1, that the engines with the indices `engines`
    /// spent waiting for a processor; `None` if waiting was not measured.
    pub fn waiting_share(&self, engines: impl RangeBounds<usize>) -> Option<f64> {
        let sum = |wanted| -> u64 {
            let all = self.iter().filter(|(_, kind, _)| *kind == wanted);
            let selected = all.filter(|(engine, ..)| engines.contains(engine));
            let times = selected.flat_map(|(.., distribution)| distribution.times());
            times.map(|(us, count)| us * count).sum()
        };
        let thinking = sum(LatencyKind::Thinking);
        (thinking > 0).then(|| sum(LatencyKind::Waiting) as f64 / thinking as f64)
    }

    /// Returns all distributions, by engine and kind.
    pub fn iter(&self) -> impl Iterator<Item = (usize, LatencyKind, &LatencyDistribution)> {
        self.0.iter().map(|((engine, kind), distribution)| (*engine, *kind, distribution))
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_correct_to_two_digits() {
        let mut distribution = LatencyDistribution::new();
        (1..=1_000).for_each(|us| distribution.add(us, 1));
        assert_eq!(distribution.count(), 1_000);
        let close = |q: f64, expect: f64| {
            let found = distribution.quantile_us(q) as f64;
            assert!((found / expect - 1.0).abs() < 0.01, "{q}: {found}");
        };
        close(0.5, 500.0);
        close(0.9, 900.0);
        close(1.0, 1_000.0);
        assert_eq!(distribution.decades(), [0_u64, 9, 90, 900, 1]);
    }

    #[test]
    fn a_distribution_can_be_rebuilt_from_its_times() {
        let mut first = Latencies::default();
        for us in [0, 3, 77, 12_345, 999_999, 88_000_000_000] {
            first.add(1, LatencyKind::Move, us, 2);
        }
        let mut again = Latencies::default();
        for (engine, kind, distribution) in first.iter() {
            distribution.times().for_each(|(us, count)| again.add(engine, kind, us, count));
        }
        assert_eq!(format!("{:?}", times(&again)), format!("{:?}", times(&first)));
    }

    fn times(latencies: &Latencies) -> Vec<(u64, u64)> {
        latencies.iter().flat_map(|(_, _, distribution)| distribution.times()).collect()
    }
}
